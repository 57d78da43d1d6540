// usage: ws-coder PORT WORKERS. On net/http, as the package's own examples are.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"apus-bench/ws/pair"

	"github.com/coder/websocket"
)

var conns pair.Conns[*websocket.Conn]

func main() {
	listener, relay := pair.Listen(os.Args[1], os.Args[2], broadcast)
	handler := http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		conn, err := websocket.Accept(response, request, nil)
		if err == nil {
			serve(conn, relay)
		}
	})
	log.Fatal(http.Serve(listener, handler))
}

func serve(conn *websocket.Conn, relay *pair.Relay) {
	defer conn.CloseNow()
	defer conns.Add(conn)()
	ctx := context.Background()
	for {
		kind, message, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageText && pair.IsBroadcast(message) {
			broadcast(message)
			relay.Tell(message, -1)
			continue
		}
		if conn.Write(ctx, kind, message) != nil {
			return
		}
	}
}

func broadcast(text []byte) {
	conns.Each(func(conn *websocket.Conn) {
		// One that is gone ends in its own goroutine.
		_ = conn.Write(context.Background(), websocket.MessageText, text)
	})
}
