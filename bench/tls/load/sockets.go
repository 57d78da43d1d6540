package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"runtime"
)

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

// A message of a client, whose mask is all zero.
func message(payload []byte) []byte {
	return append([]byte{0x82, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
}

func (s *socket) echo(payload []byte) {
	if _, err := s.conn.Write(message(payload)); err != nil {
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

// WebSockets that have had an echo, and wait.
func idleSockets(count int) {
	kept := make([]*socket, count)
	for number := range kept {
		kept[number] = websocket()
		kept[number].echo([]byte("hello"))
	}
	wait()
	runtime.KeepAlive(kept)
}

const (
	streamsEach = 100
	data        = 0
	headers     = 1
	settings    = 4
	endHeaders  = 4
	ack         = 1
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	head := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return append(head, payload...)
}

// A request for a WebSocket (RFC 8441), its fields as they are.
func connect() []byte {
	var block []byte
	for _, text := range []string{":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":path", "/ws",
		":authority", "localhost", "sec-websocket-version", "13"} {
		if text[0] == ':' || text == "sec-websocket-version" {
			block = append(block, 0)
		}
		block = append(append(block, byte(len(text))), text...)
	}
	return block
}

// A connection of HTTP/2 with so many WebSockets, each of which has had an echo.
func carrier(streams int) *tls.Conn {
	conn, err := tls.Dial("tcp", address, config(nil, "h2"))
	if err != nil {
		fail(err)
	}
	out := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(settings, 0, 0, nil)...)
	for number := 0; number < streams; number++ {
		stream := uint32(2*number + 1)
		out = append(out, frame(headers, endHeaders, stream, connect())...)
		out = append(out, frame(data, 0, stream, message([]byte("hello")))...)
	}
	reader, echoes, head := bufio.NewReader(conn), 0, make([]byte, 9)
	if _, err := conn.Write(out); err != nil {
		fail(err)
	}
	for echoes < streams {
		if _, err := io.ReadFull(reader, head); err != nil {
			fail(err)
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(reader, payload); err != nil {
			fail(err)
		}
		switch {
		case head[3] == settings && head[4] != ack:
			conn.Write(frame(settings, ack, 0, nil))
		case head[3] == data && bytes.Equal(payload, []byte("\x82\x05hello")):
			echoes++
		case head[3] == data || head[3] == 3 || head[3] == 7:
			fail(fmt.Sprintf("frame %d: %q", head[3], payload))
		}
	}
	return conn
}

// The same on streams of HTTP/2, so many a connection.
func idleStreams(count int) {
	var kept []*tls.Conn
	for left := count; left > 0; left -= streamsEach {
		kept = append(kept, carrier(min(left, streamsEach)))
	}
	wait()
	runtime.KeepAlive(kept)
}
