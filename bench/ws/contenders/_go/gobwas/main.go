// usage: ws-gobwas PORT WORKERS. A goroutine for each connection, the package's high-level reader and writer.
package main

import (
	"log"
	"net"
	"os"
	"sync"

	"apus-bench/ws/pair"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

var (
	mutex sync.RWMutex
	conns = map[net.Conn]struct{}{}
)

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
	mutex.Lock()
	conns[conn] = struct{}{}
	mutex.Unlock()
	defer func() {
		mutex.Lock()
		delete(conns, conn)
		mutex.Unlock()
	}()
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
	mutex.RLock()
	defer mutex.RUnlock()
	for conn := range conns {
		// One that is gone ends in its own goroutine.
		_, _ = conn.Write(frame)
	}
}
