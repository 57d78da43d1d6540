// Load for servers with TLS: load CASE COUNT PORT CERT. Does CASE so often, as many at once as the case says, checks
// each answer, and prints the seconds that it took. Where the case begins with "idle" it keeps its connections until its
// input ends. (Requests of few bytes, over HTTP/1.1 and HTTP/2, are h2load's.)
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
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

// Requests for an answer of so many bytes, on 16 connections.
func requests(count int, path string, size int) {
	width := 16
	transport := &http.Transport{MaxConnsPerHost: width, MaxIdleConnsPerHost: width, TLSClientConfig: config(nil)}
	// What is measured is the same bytes of all: of the servers some compress what a client takes compressed.
	transport.DisableCompression = true
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	client := &http.Client{Transport: transport}
	ask := func(int) {
		answer, err := client.Get("https://localhost" + path)
		if err != nil {
			fail(err)
		}
		got, err := io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != 200 || int(got) != size {
			fail(fmt.Sprint(answer.Proto, " ", answer.Status, ", ", got, " bytes: ", err))
		}
	}
	ask(0)
	spread(count, width, ask)
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
	wait()
	runtime.KeepAlive(kept)
}

// What is open stays so until the input ends.
func wait() {
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
	case "large":
		requests(count, "/large", 1<<20)
	case "wss":
		echoes(count)
	case "idle":
		idle(count, true)
	case "idle-plain":
		idle(count, false)
	case "idle-wss":
		idleSockets(count)
	case "idle-ws-h2":
		idleStreams(count)
	default:
		fail("no such case")
	}
	fmt.Println(time.Since(begun).Seconds())
}
