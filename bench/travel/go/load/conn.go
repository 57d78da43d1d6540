package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"syscall"
	"time"

	"apus-bench/travel/ammo"
)

// conn has one request at a time.
type conn struct {
	fd  int
	out []byte
	// What was read of the answer.
	in   []byte
	shot *ammo.Shot
	// When the request was due, and when it was begun.
	due, begun time.Duration
	// Not all of the request is written; epoll tells when more can be.
	awaitsRoom bool
}

// answer is what was read; its body is good until the connection is used again.
type answer struct {
	status          int
	isJSON, hasConn bool
	closes          bool
	body            []byte
}

func dial(peer *syscall.SockaddrInet4) (*conn, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	if err == nil {
		err = syscall.Connect(fd, peer)
	}
	if err != nil && err != syscall.EINPROGRESS {
		syscall.Close(fd)
		return nil, err
	}
	return &conn{fd: fd}, nil
}

func (c *conn) start(shot *ammo.Shot, due, now time.Duration) {
	c.shot, c.out, c.in, c.due, c.begun = shot, shot.Raw, c.in[:0], due, now
}

// step writes what can be written, or reads what is there; whether the answer is whole.
func (c *conn) step() (answer, bool, error) {
	if len(c.out) > 0 {
		return answer{}, false, c.write()
	}
	for {
		if cap(c.in)-len(c.in) < 4096 {
			c.in = append(make([]byte, 0, 2*cap(c.in)+8192), c.in...)
		}
		count, err := syscall.Read(c.fd, c.in[len(c.in):cap(c.in)])
		if err == syscall.EAGAIN {
			return answer{}, false, nil
		}
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return answer{}, false, err
		}
		if count == 0 {
			return answer{}, false, io.ErrUnexpectedEOF
		}
		c.in = c.in[:len(c.in)+count]
		if got, whole, err := parse(c.in); whole || err != nil {
			return got, whole, err
		}
	}
}

// write stops when the socket would block. The answer is not there yet: the next step reads it.
func (c *conn) write() error {
	for len(c.out) > 0 {
		count, err := syscall.Write(c.fd, c.out)
		if err == syscall.EAGAIN || err == syscall.ENOTCONN {
			return nil
		}
		if err != nil && err != syscall.EINTR {
			return err
		}
		c.out = c.out[max(count, 0):]
	}
	return nil
}

// parse reads an answer of which all bytes may not be there.
func parse(data []byte) (answer, bool, error) {
	head, body, found := bytes.Cut(data, []byte("\r\n\r\n"))
	if !found {
		return answer{}, false, nil
	}
	line, fields, _ := bytes.Cut(head, []byte("\r\n"))
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return answer{}, false, fmt.Errorf("status line %q", line)
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return answer{}, false, err
	}
	got, length := answer{status: status}, -1
	for len(fields) > 0 {
		line, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return got, false, err
			}
		case bytes.EqualFold(name, []byte("Content-Type")):
			got.isJSON = bytes.HasPrefix(value, []byte("application/json"))
		case bytes.EqualFold(name, []byte("Connection")):
			got.hasConn = true
			got.closes = bytes.EqualFold(value, []byte("close"))
		}
	}
	if length < 0 || len(body) > length {
		return got, false, errors.New("no Content-Length, or more than it says")
	}
	got.body = body
	return got, len(body) == length, nil
}

// judge names what is wrong with an answer; empty where it is right. Bytes that were found to be right are kept, so that
// they are compared as JSON once.
func judge(shot *ammo.Shot, got answer) string {
	switch {
	case got.status != shot.Status:
		return "wrong status"
	case !got.isJSON || !got.hasConn:
		return "header field missing"
	case shot.Status != 200 || bytes.Equal(got.body, shot.JSON):
		return ""
	case !same(got.body, shot.JSON):
		return "wrong answer"
	}
	shot.JSON = bytes.Clone(got.body)
	return ""
}

// same compares two JSON values, in which the order of members is free.
func same(a, b []byte) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}
