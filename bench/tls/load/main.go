// Load for servers with TLS: load CASE COUNT PORT CERT. Does CASE so often, as many at once as the case says, checks
// each answer, and prints the seconds that it took. With "idle" it keeps its connections until its input ends.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var (
	address string
	roots   = x509.NewCertPool()
)

func fail(what any) {
	fmt.Fprintln(os.Stderr, what)
	os.Exit(1)
}

func config(cache tls.ClientSessionCache, protocols ...string) *tls.Config {
	return &tls.Config{RootCAs: roots, ServerName: "localhost", ClientSessionCache: cache, NextProtos: protocols}
}

// Runs work so often on so many goroutines; work gets the number of its goroutine.
func spread(count, width int, work func(int)) {
	var left = int64(count)
	var all sync.WaitGroup
	for number := 0; number < width; number++ {
		all.Add(1)
		go func(number int) {
			defer all.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				work(number)
			}
		}(number)
	}
	all.Wait()
}

// One request on a connection of its own; whether its session was resumed.
func once(config *tls.Config) bool {
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		fail(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 200 {
		fail(fmt.Sprint("no answer: ", err))
	}
	io.Copy(io.Discard, answer.Body)
	return conn.ConnectionState().DidResume
}

func full(count int) {
	plain := config(nil)
	spread(count, 8, func(int) { once(plain) })
}

func resumed(count int) {
	caches := make([]*tls.Config, 8)
	for number := range caches {
		caches[number] = config(tls.NewLRUClientSessionCache(1))
		once(caches[number])
	}
	spread(count, 8, func(number int) {
		if !once(caches[number]) {
			fail("a session was not resumed")
		}
	})
}

// Requests on 16 connections, or on one with so many streams.
func requests(count int, path string, size, streams int, scheme string) {
	width := 16
	transport := &http.Transport{MaxConnsPerHost: width, MaxIdleConnsPerHost: width, TLSClientConfig: config(nil)}
	if streams > 0 {
		width = streams
		transport = &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: config(nil, "h2")}
	}
	// What is measured is the same bytes of all: of the servers some compress what a client takes compressed.
	transport.DisableCompression = true
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	client := &http.Client{Transport: transport}
	ask := func(int) {
		answer, err := client.Get(scheme + "://localhost" + path)
		if err != nil {
			fail(err)
		}
		got, err := io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != 200 || int(got) != size || (streams > 0) != (answer.ProtoMajor == 2) {
			fail(fmt.Sprint(answer.Proto, " ", answer.Status, ", ", got, " bytes: ", err))
		}
	}
	ask(0)
	spread(count, width, ask)
}

// A WebSocket that asks for an echo, one after the other.
type socket struct {
	conn   *tls.Conn
	reader *bufio.Reader
}

func websocket() *socket {
	conn, err := tls.Dial("tcp", address, config(nil))
	if err != nil {
		fail(err)
	}
	fmt.Fprint(conn, "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil || answer.StatusCode != 101 {
		fail("no WebSocket")
	}
	return &socket{conn, reader}
}

func (s *socket) echo(payload []byte) {
	frame := append([]byte{0x82, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
	if _, err := s.conn.Write(frame); err != nil {
		fail(err)
	}
	got := make([]byte, 2+len(payload))
	if _, err := io.ReadFull(s.reader, got); err != nil || !bytes.Equal(got[2:], payload) {
		fail("another echo")
	}
}

func echoes(count int) {
	sockets := make([]*socket, 16)
	for number := range sockets {
		sockets[number] = websocket()
	}
	payload := make([]byte, 64)
	binary.BigEndian.PutUint64(payload, 42)
	spread(count, len(sockets), func(number int) { sockets[number].echo(payload) })
}

// Connections that have shaken hands and had an answer, and wait.
func idle(count int, secure bool) {
	kept := make([]net.Conn, 0, count)
	for len(kept) < count {
		conn, err := net.Dial("tcp", address)
		if err == nil && secure {
			conn = tls.Client(conn, config(nil))
		}
		if err != nil {
			fail(err)
		}
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 200 {
			fail("no answer")
		}
		kept = append(kept, conn)
	}
	fmt.Println("open")
	io.Copy(io.Discard, os.Stdin)
}

func main() {
	name, port, cert := os.Args[1], os.Args[3], os.Args[4]
	count, _ := strconv.Atoi(os.Args[2])
	address = "127.0.0.1:" + port
	pem, err := os.ReadFile(cert)
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		fail("no certificate")
	}
	begun := time.Now()
	switch name {
	case "full":
		full(count)
	case "resumed":
		resumed(count)
	case "http1":
		requests(count, "/", 5, 0, "https")
	case "plain":
		requests(count, "/", 5, 0, "http")
	case "large":
		requests(count, "/large", 1<<20, 0, "https")
	case "h2-1":
		requests(count, "/", 5, 1, "https")
	case "h2-32":
		requests(count, "/", 5, 32, "https")
	case "h2-100":
		requests(count, "/", 5, 100, "https")
	case "wss":
		echoes(count)
	case "idle":
		idle(count, true)
	case "idle-plain":
		idle(count, false)
	default:
		fail("no such case")
	}
	fmt.Println(time.Since(begun).Seconds())
}
