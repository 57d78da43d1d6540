// usage: ws-coder PORT WORKERS. On net/http, as the package's own examples are.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"sync"

	"apus-bench/ws/pair"

	"github.com/coder/websocket"
)

var (
	mutex sync.RWMutex
	conns = map[*websocket.Conn]struct{}{}
)

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
	mutex.Lock()
	conns[conn] = struct{}{}
	mutex.Unlock()
	defer func() {
		mutex.Lock()
		delete(conns, conn)
		mutex.Unlock()
	}()
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
	mutex.RLock()
	defer mutex.RUnlock()
	for conn := range conns {
		// One that is gone ends in its own goroutine.
		_ = conn.Write(context.Background(), websocket.MessageText, text)
	}
}
