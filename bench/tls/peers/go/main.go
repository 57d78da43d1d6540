// The contender Go: main CERT KEY.
package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/coder/websocket"
)

func echo(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for {
		kind, message, err := conn.Read(r.Context())
		if err != nil || conn.Write(r.Context(), kind, message) != nil {
			return
		}
	}
}

func main() {
	large := bytes.Repeat([]byte("x"), 1<<20)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ws" {
			echo(w, r)
			return
		}
		if r.URL.Path == "/large" {
			w.Write(large)
			return
		}
		w.Write([]byte("hello"))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	panic(http.ServeTLS(listener, handler, os.Args[1], os.Args[2]))
}
