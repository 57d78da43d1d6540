// usage: ws-gobwas PORT WORKERS. A goroutine for each connection, the package's high-level reader and writer.
package main

import (
	"log"
	"net"
	"os"

	"apus-bench/ws/pair"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

var conns pair.Conns[net.Conn]

func main() {
	listener, relay := pair.Listen(os.Args[1], os.Args[2], broadcast)
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn, relay)
	}
}

func serve(conn net.Conn, relay *pair.Relay) {
	defer conn.Close()
	if _, err := ws.Upgrade(conn); err != nil {
		return
	}
	defer conns.Add(conn)()
	for {
		message, op, err := wsutil.ReadClientData(conn)
		if err != nil {
			return
		}
		if op == ws.OpText && pair.IsBroadcast(message) {
			broadcast(message)
			relay.Tell(message, -1)
			continue
		}
		if wsutil.WriteServerMessage(conn, op, message) != nil {
			return
		}
	}
}

// broadcast encodes once and writes to each connection.
func broadcast(text []byte) {
	frame := ws.MustCompileFrame(ws.NewTextFrame(text))
	conns.Each(func(conn net.Conn) {
		// One that is gone ends in its own goroutine.
		_, _ = conn.Write(frame)
	})
}
