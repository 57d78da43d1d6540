"""The server's HTTP/2 and clients that others wrote, beside curl and Node (test_http2_server.py), Chromium and python3-h2
(test_websocket_http2.py): nghttp, and Go's net/http."""

import hashlib
import json
import os
import shutil
import subprocess
import unittest

from http2_peers import Http2Case, servers
from support import PATIENCE, needs

HANDLER = r"""
    match ($path) {
        '/upload' => $response->end(md5($request->rawContent())),
        '/big' => $response->end(str_repeat('0123456789', 200_000)),
        '/pieces' => (function () use ($response) {
            for ($i = 0; $i < 20; $i++) { $response->write(str_repeat('p', 5000)); Coroutine::sleep(0.002); }
            $response->trailer('X-Sum', 'abc');
            $response->end();
        })(),
        default => $response->end($request->server['server_protocol'] . ' ' . $path),
    };
"""
BODY = b"upload" * 100_000
GO = """
package main

import (
	"bytes"
	"crypto/md5"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

func main() {
	pem, _ := os.ReadFile(os.Args[2])
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	client := &http.Client{Transport: transport}
	told := map[string]string{}
	var lock sync.Mutex
	var all sync.WaitGroup
	ask := func(name, method, path string, body []byte) {
		defer all.Done()
		request, _ := http.NewRequest(method, os.Args[1]+path, bytes.NewReader(body))
		said := ""
		if answer, err := client.Do(request); err != nil {
			said = err.Error()
		} else {
			text, err := io.ReadAll(answer.Body)
			said = fmt.Sprintf("%s %d %x %s %v", answer.Proto, answer.StatusCode, md5.Sum(text), answer.Trailer.Get("X-Sum"), err)
		}
		lock.Lock()
		told[name] = said
		lock.Unlock()
	}
	for i := 0; i < 20; i++ {
		all.Add(1)
		go ask(fmt.Sprint(i), "GET", fmt.Sprint("/", i), nil)
	}
	all.Add(3)
	go ask("big", "GET", "/big", nil)
	go ask("pieces", "GET", "/pieces", nil)
	go ask("upload", "POST", "/upload", bytes.Repeat([]byte("upload"), 100000))
	all.Wait()
	json.NewEncoder(os.Stdout).Encode(told)
}
"""


def md5(data):
    return hashlib.md5(data).hexdigest()


class Nghttp(Http2Case):
    def nghttp(self, *arguments):
        line = [needs("nghttp"), "--no-verify-peer", "--timeout", str(int(PATIENCE)), *arguments]
        return subprocess.run(line, capture_output=True, check=True, timeout=PATIENCE).stdout

    def test_it_asks_by_every_way(self):
        server = self.http2(HANDLER)
        self.assertEqual(self.nghttp(server.url("/a")), b"HTTP/2 /a")
        self.assertEqual(self.nghttp("-u", server.url("/upgraded")), b"HTTP/2 /upgraded")
        self.assertEqual(self.nghttp("-m", "20", server.url("/many")), b"HTTP/2 /many" * 20)
        self.assertEqual(self.nghttp(server.url("/big")), b"0123456789" * 200_000)
        self.assertEqual(self.nghttp("-w", "10", "-W", "12", server.url("/pieces")), b"p" * 100_000)
        body = server.folder / "body"
        body.write_bytes(BODY)
        self.assertEqual(self.nghttp("-d", str(body), server.url("/upload")).decode(), md5(BODY))

    def test_a_head_in_several_frames(self):
        server = self.http2(HANDLER, settings={"http2_max_header_list_size": 65_536})
        self.assertEqual(self.nghttp("--continuation", server.url("/continued")), b"HTTP/2 /continued")

    def test_over_tls(self):
        server = self.http2(HANDLER, tls=True)
        self.assertEqual(self.nghttp("-m", "5", f"https://localhost:{server.port}/x"), b"HTTP/2 /x" * 5)


@unittest.skipUnless(shutil.which("go"), "needs go")
class Go(Http2Case):
    def test_many_at_once_over_one_connection(self):
        server = self.http2(HANDLER, tls=True)
        program = server.folder / "client.go"
        program.write_text(GO)
        line = [needs("go"), "run", str(program), f"https://localhost:{server.port}", str(servers.certificate()[0])]
        env = {"GOFLAGS": "-mod=mod", "GO111MODULE": "off", "HOME": str(server.folder), **os.environ}
        # The compiler takes its time where nothing of the library is compiled yet.
        ran = subprocess.run(line, capture_output=True, text=True, env=env, timeout=PATIENCE * 10)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        told = json.loads(ran.stdout)

        def said(body, trailer=""):
            return f"HTTP/2.0 200 {md5(body)} {trailer} <nil>"

        self.assertEqual([told[str(i)] for i in range(20)], [said(f"HTTP/2 /{i}".encode()) for i in range(20)])
        self.assertEqual(told["big"], said(b"0123456789" * 200_000))
        self.assertEqual(told["pieces"], said(b"p" * 100_000, "abc"))
        self.assertEqual(told["upload"], said(md5(BODY).encode()))
