// The travel service on fasthttp, data in memory.
// usage: serve PORT DIRECTORY
package main

import (
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"time"

	"github.com/valyala/bytebufferpool"
	"github.com/valyala/fasthttp"

	"apus-bench/travel/travel"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: serve PORT DIRECTORY")
	}
	began := time.Now()
	store, err := travel.Load(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	// What the loading has left behind goes back to the system.
	debug.FreeOSMemory()
	fmt.Printf("loaded in %.2f s\n", time.Since(began).Seconds())
	server := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { handle(store, ctx) }}
	log.Fatal(server.ListenAndServe("127.0.0.1:" + os.Args[1]))
}

func handle(store *travel.Store, ctx *fasthttp.RequestCtx) {
	buffer := bytebufferpool.Get()
	status := 0
	status, buffer.B = store.Handle(buffer.B, ctx.Method(), ctx.URI().PathOriginal(), ctx.QueryArgs(), ctx.PostBody())
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBody(buffer.B)
	bytebufferpool.Put(buffer)
	if ctx.Request.ConnectionClose() {
		ctx.SetConnectionClose()
	} else {
		ctx.Response.Header.Set("Connection", "keep-alive")
	}
}
