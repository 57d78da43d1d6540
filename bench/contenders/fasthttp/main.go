// Go fasthttp, as its README recommends it: one handler, a switch on the path.
// usage: fasthttp PORT DIRECTORY
package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/valyala/fasthttp"
)

type item struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

type site struct{ dir string }

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: fasthttp PORT DIRECTORY")
	}
	server := &fasthttp.Server{
		Handler:            site{os.Args[2]}.handle,
		MaxRequestBodySize: 8 << 20,
	}
	log.Fatal(server.ListenAndServe("127.0.0.1:" + os.Args[1]))
}

func (s site) handle(ctx *fasthttp.RequestCtx) {
	var err error
	switch string(ctx.Method()) + " " + string(ctx.Path()) {
	case "GET /":
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("Hello, World!")
	case "GET /json":
		err = list(ctx)
	case "POST /upload":
		err = s.upload(ctx)
	case "POST /echo":
		err = s.echo(ctx)
	default:
		ctx.Error("Not Found", fasthttp.StatusNotFound)
	}
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
	}
}

// list is W6 stage 1: built anew for each request, as the others do.
func list(ctx *fasthttp.RequestCtx) error {
	items := make([]item, 100)
	for i := range items {
		items[i] = item{i, "item " + strconv.Itoa(i), i%2 == 0}
	}
	body, err := json.Marshal(items)
	ctx.SetContentType("application/json")
	ctx.SetBody(body)
	return err
}

// upload is W6 stage 2: keep the body under a new UUID, then delete it.
func (s site) upload(ctx *fasthttp.RequestCtx) error {
	uuid := uuid4()
	path := filepath.Join(s.dir, uuid)
	if err := os.WriteFile(path, ctx.PostBody(), 0o600); err != nil {
		return err
	}
	ctx.SetContentType("text/plain")
	ctx.SetBodyString(uuid)
	return os.Remove(path)
}

// echo is W6 stage 3: keep the body, read it back, delete it.
func (s site) echo(ctx *fasthttp.RequestCtx) error {
	path := filepath.Join(s.dir, uuid4())
	if err := os.WriteFile(path, ctx.PostBody(), 0o600); err != nil {
		return err
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	ctx.SetContentType("application/octet-stream")
	ctx.Response.SetBodyRaw(body)
	return os.Remove(path)
}

// uuid4 follows RFC 9562 section 5.4.
func uuid4() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
