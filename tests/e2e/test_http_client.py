"""Apus\\Coroutine\\Http\\Client against servers that answer as real ones do, and as they should not."""

import gzip
import socket
import threading
import time
import unittest
import zlib

from http_client_peers import ClientCase, answers

# "brotli " 200 times.
BROTLI = bytes.fromhex("1b7705f88d54b5bf061193a393696c6f615b247025fb00")


def echo(conn, method, target, fields, body):
    conn.answer(f"{method} {target} {fields.get('cookie', '')} {body.decode('latin-1')}".encode())


class Requests(ClientCase):
    def test_what_is_sent_and_what_comes(self):
        seen = []

        def handle(conn, method, target, fields, body):
            seen.append((method, target, fields, body))
            conn.answer(b"body", fields=[("X-One", "1"), ("X-Two", "a"), ("x-two", "b"), ("Set-Cookie", "sid=a+b%20c/=; Path=/"), ("Set-Cookie", "gone=; Max-Age=0")])

        peer = self.peer(answers(handle))
        out = self.run_php(
            """
            $c = client(['timeout' => 5]);
            $c->setHeaders(['User-Agent' => 'apus', 'X-List' => ['1', '2'], 'X-None' => null, 'X-Int' => 7]);
            $c->setCookies(['k' => 'v w', 'gone' => 'x']);
            $c->setBasicAuth('user', 'pa:ss');
            $out[] = [$c->get('/a b?c=d#e'), $c->statusCode, $c->errCode, $c->body, $c->connected, $c->headers, $c->set_cookie_headers, $c->cookies];
            $out[] = [$c->getStatusCode(), $c->getBody(), $c->getHeaders() === $c->headers, $c->getCookies() === $c->cookies];
            $c->get('/again');
            $c->post('/form', ['a' => 1, 'b' => ['c' => 'd e']]);
            $c->setMethod('PATCH');
            $c->setData('raw');
            $c->execute('/patch');
            $c->get('/');
            $out[] = explode("\\r\\n", $c->getHeaderOut())[0];
            """,
            peer.port,
        )
        ok, status, code, body, connected, headers, lines, cookies = out[0]
        self.assertEqual((ok, status, code, body, connected), (True, 200, 0, "body", True))
        self.assertEqual((headers["x-one"], headers["x-two"]), ("1", ["a", "b"]))
        self.assertEqual(lines, ["sid=a+b%20c/=; Path=/", "gone=; Max-Age=0"])
        self.assertEqual(cookies, {"k": "v w", "sid": "a+b c/="})
        self.assertEqual(out[1], [200, "body", True, True])
        method, target, fields, _ = seen[0]
        self.assertEqual((method, target), ("GET", "/a%20b?c=d"))
        self.assertEqual((fields["host"], fields["user-agent"], fields["x-int"]), (f"127.0.0.1:{peer.port}", "apus", "7"))
        self.assertEqual((fields["authorization"], fields["cookie"]), ("Basic dXNlcjpwYTpzcw==", "k=v%20w; gone=x"))
        self.assertNotIn("x-none", fields)
        # A cookie goes back as the server wrote it.
        self.assertEqual(seen[1][2]["cookie"], "k=v%20w; sid=a+b%20c/=")
        self.assertEqual((seen[2][0], seen[2][3]), ("POST", b"a=1&b%5Bc%5D=d+e"))
        self.assertEqual(seen[2][2]["content-type"], "application/x-www-form-urlencoded")
        self.assertEqual((seen[3][0], seen[3][3]), ("PATCH", b"raw"))
        self.assertEqual((seen[4][0], seen[4][3]), ("GET", b"raw"))
        self.assertEqual(out[2], "GET / HTTP/1.1")
        self.assertEqual(peer.count, 1)

    def test_a_form_with_files_is_streamed(self):
        got = {}

        def handle(conn, method, target, fields, body):
            got[target] = (fields, body)
            conn.answer(b"ok")

        peer = self.peer(answers(handle))
        path = self.folder() / "big.bin"
        content = bytes(range(256)) * 4096 * 3
        path.write_bytes(content)
        out = self.run_php(
            """
            $c = client();
            $c->setMethod('POST');
            $c->setData(['field' => 'value', 'deep' => ['x' => '1']]);
            $c->addFile(FILE, 'file');
            $c->addFile(FILE, 'part', 'text/x-part', 'quo"te', 256, 4);
            $c->addData('in memory', 'data');
            $out[] = $c->execute('/upload');
            $out[] = $c->uploadFiles;
            $out[] = thrown(fn() => $c->addFile('/nonexistent', 'x'));
            $out[] = thrown(fn() => $c->addFile(FILE, 'x', length: 1 << 40));
            $c->addFile(FILE, 'file');
            file_put_contents(FILE, 'shorter');
            $out[] = [$c->execute('/short'), $c->statusCode, $c->connected];
            $out[] = $c->errMsg;
            """,
            peer.port,
            file=str(path),
        )
        fields, body = got["/upload"]
        boundary = fields["content-type"].split("boundary=")[1].encode()
        parts = body.split(b"--" + boundary)
        self.assertEqual([len(parts), parts[0], parts[-1]], [7, b"", b"--\r\n"])
        self.assertIn(b'name="field"\r\n\r\nvalue\r\n', parts[1])
        self.assertIn(b'name="deep[x]"\r\n\r\n1\r\n', parts[2])
        self.assertEqual(parts[3].split(b"\r\n\r\n", 1)[1], content + b"\r\n")
        self.assertIn(b'name="file"; filename="big.bin"\r\nContent-Type: application/octet-stream', parts[3])
        self.assertEqual(parts[4], b'\r\nContent-Disposition: form-data; name="part"; filename="quo%22te"\r\nContent-Type: text/x-part\r\n\r\n\x00\x01\x02\x03\r\n')
        self.assertIn(b"in memory", parts[5])
        self.assertEqual(out[:2], [True, None])
        self.assertIn("cannot be uploaded", out[2])
        self.assertIn("lie outside", out[3])
        self.assertEqual(out[4], [False, -4, False])
        self.assertIn("shorter than the part", out[5])

    def test_every_framing_of_a_body(self):
        texts = {
            "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n",
            "/head": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Encoding: gzip\r\n\r\n",
            "/204": b"HTTP/1.1 204 No Content\r\n\r\n",
            "/304": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
            "/continue": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "/empty": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "/close": b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
        }

        def handle(conn, method, target, fields, body):
            conn.send(texts[target])
            return target == "/close"

        peer = self.peer(answers(handle))
        out = self.run_php(
            """
            $c = client();
            foreach (['/chunked', '/204', '/304', '/continue', '/empty'] as $path) {
                $c->get($path);
                $out[] = [$c->statusCode, $c->body, $c->connected, $c->headers['x-sum'] ?? null];
            }
            $c->setMethod('HEAD');
            $c->execute('/head');
            $out[] = [$c->statusCode, $c->body, $c->connected, $c->headers['content-length']];
            $c->get('/close');
            $out[] = [$c->statusCode, $c->body, $c->connected, null];
            """,
            peer.port,
        )
        self.assertEqual(
            out,
            [
                [200, "hello world", True, "11"],
                [204, "", True, None],
                [304, "", True, None],
                [200, "ok", True, None],
                [200, "", True, None],
                [200, "", True, "1000"],
                [200, "until the end", False, None],
            ],
        )
        self.assertEqual(peer.count, 1)

    def test_broken_answers_are_refused(self):
        texts = {
            "/short": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
            "/nothing": b"",
            "/cut-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            "/bad-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n",
            "/not-http": b"220 smtp.test ESMTP\r\n\r\n",
            "/two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "/huge-head": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70000 + b"\r\n\r\n",
            "/many-fields": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 300 + b"\r\n",
            "/switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        }

        def handle(conn, method, target, fields, body):
            conn.send(texts[target])
            return True

        peer = self.peer(answers(handle))
        out = self.run_php(
            "foreach (json_decode(PATHS) as $p) { $c = client(); $out[$p] = [$c->get($p), $c->statusCode, $c->errCode, $c->connected, $c->body]; }",
            peer.port,
            paths=__import__("json").dumps(list(texts)),
        )
        reset, protocol = [False, -3, 104, False, ""], [False, -3, 7102, False, ""]
        for path in texts:
            with self.subTest(path):
                self.assertEqual(out[path], reset if path in ("/short", "/nothing", "/cut-chunk") else protocol)

    def test_compressed_bodies_and_bombs(self):
        plain = b"words and words " * 100
        raw = zlib.compressobj(wbits=-15)
        bodies = {
            "/gzip": ("gzip", gzip.compress(plain)),
            "/members": ("gzip", gzip.compress(plain[:800]) + gzip.compress(plain[800:])),
            "/zlib": ("deflate", zlib.compress(plain)),
            "/raw": ("deflate", raw.compress(plain) + raw.flush()),
            "/br": ("br", BROTLI),
            "/unknown": ("x-rot13", plain),
            "/cut": ("gzip", gzip.compress(plain)[:-10]),
            "/garbage": ("gzip", b"\x1f\x8b" + b"x" * 100),
            "/bomb": ("gzip", gzip.compress(bytes(20 << 20))),
            "/large": ("identity", bytes(3 << 20)),
        }

        def handle(conn, method, target, fields, body):
            coding, data = bodies[target]
            conn.answer(data, fields=[("Content-Encoding", coding), ("X-Accept", fields.get("accept-encoding", ""))])

        peer = self.peer(answers(handle))
        out = self.run_php(
            """
            foreach (['/gzip', '/members', '/zlib', '/raw', '/br', '/unknown'] as $path) {
                $c = client();
                $out[$path] = $c->get($path) ? $c->body : $c->errMsg;
            }
            foreach (['/cut', '/garbage', '/bomb'] as $path) {
                $c = client(['package_max_length' => '4M']);
                $out[$path] = [$c->get($path), $c->statusCode, $c->errCode, $c->connected];
            }
            $out['memory'] = memory_get_peak_usage() < 32 << 20;
            $c = client(['package_max_length' => '2M']);
            $out['/large'] = [$c->get('/large'), $c->statusCode, $c->errCode, $c->connected];
            $c = client(['body_decompression' => false, 'http_compression' => false]);
            $c->get('/gzip');
            $out['as it is'] = [bin2hex(substr($c->body, 0, 2)), $c->headers['x-accept']];
            """,
            peer.port,
        )
        for path in ("/gzip", "/members", "/zlib", "/raw", "/unknown"):
            self.assertEqual(out[path], plain.decode(), path)
        self.assertEqual(out["/br"], "brotli " * 200)
        self.assertEqual(out["/cut"], [False, -3, 7102, False])
        self.assertEqual(out["/garbage"], [False, -3, 7102, False])
        self.assertEqual(out["/bomb"], [False, -3, 90, False])
        self.assertEqual(out["/large"], [False, -3, 90, False])
        self.assertTrue(out["memory"])
        self.assertEqual(out["as it is"], ["1f8b", ""])


class Connections(ClientCase):
    def test_a_connection_is_kept_or_not(self):
        peer = self.peer(answers(lambda conn, *rest: echo(conn, *rest)))
        self.run_php("$c = client(); for ($i = 0; $i < 5; $i++) { $c->get('/'); }", peer.port)
        self.assertEqual(peer.count, 1)
        out = self.run_php("$c = client(); $c->setHeaders(['Connection' => 'close']); $c->get('/'); $out[] = $c->connected;", peer.port)
        self.assertEqual((peer.count, out), (2, [False]))
        out = self.run_php("$c = client(['keep_alive' => false]); for ($i = 0; $i < 3; $i++) { $c->get('/'); $out[] = $c->connected; }", peer.port)
        self.assertEqual((peer.count, out), (5, [False] * 3))

    def test_a_connection_that_the_server_has_closed_is_replaced(self):
        closed = threading.Event()

        def handle(conn):
            _, _, fields = conn.head()
            conn.body(fields)
            conn.answer(str(conn.number).encode())
            if conn.number < 3:
                conn.close()
                closed.set()
            else:
                conn.gone()

        peer = self.peer(handle)
        out = self.run_php("$c = client(); for ($i = 0; $i < 3; $i++) { $out[] = [$c->post('/', 'data'), $c->body]; Coroutine::sleep(0.05); }", peer.port)
        self.assertEqual(out, [[True, "1"], [True, "2"], [True, "3"]])

    def test_a_request_that_may_have_been_acted_on_is_not_sent_twice(self):
        heard = []

        def handle(conn):
            conn.head()
            conn.answer(b"first")
            # The second request of a connection is read, and left without an answer.
            head = conn.head()
            if head:
                heard.append(head[0])
                conn.body(head[2])

        peer = self.peer(handle)
        out = self.run_php(
            """
            $c = client();
            $c->get('/');
            $out[] = [$c->get('/'), $c->statusCode];
            $c = client();
            $c->get('/');
            $out[] = [$c->post('/', 'data'), $c->statusCode, $c->errCode];
            $c->get('/');
            """,
            peer.port,
        )
        # GET is sent again over a new connection, POST is not.
        self.assertEqual(out, [[True, 200], [False, -3, 104]])
        self.assertEqual(heard, ["GET", "POST"])

    def test_time_outs(self):
        def handle(conn, method, target, fields, body):
            if target == "/drip":
                conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                for _ in range(1000):
                    conn.send(b"x")
                    time.sleep(0.02)
            elif target == "/stall":
                conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
            conn.gone()
            return True

        peer = self.peer(answers(handle))
        # Accepted by the kernel, and never answered: a TLS handshake that does not end.
        mute = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(mute.close)
        out = self.run_php(
            """
            foreach (['/silent', '/drip'] as $path) {
                $c = client(['timeout' => 0.2]);
                $out[] = [$c->get($path), $c->statusCode, $c->errCode, $c->connected];
            }
            foreach (['/silent', '/stall'] as $path) {
                $c = client(['read_timeout' => 0.2]);
                $out[] = [$c->get($path), $c->statusCode, $c->errCode, $c->connected];
            }
            $c = client(['connect_timeout' => 0.2], MUTE, true);
            $out[] = [$c->get('/'), $c->statusCode, $c->errCode, $c->connected];
            """,
            peer.port,
            mute=mute.getsockname()[1],
        )
        self.assertEqual(out, [[False, -2, 110, False]] * 4 + [[False, -1, 110, False]])

    def test_a_slow_upload_is_no_silence(self):
        def handle(conn):
            _, _, fields = conn.head()
            for _ in range(30):
                conn.file.read(1_000_000)
                time.sleep(0.1)
            conn.answer(fields["content-length"].encode())
            conn.gone()

        peer = self.peer(handle)
        out = self.run_php("$c = client(['read_timeout' => 2]); $out[] = [$c->post('/', str_repeat('x', 30_000_000)), $c->body, $c->errMsg];", peer.port)
        self.assertEqual(out, [[True, "30000000", ""]])

    def test_no_connection(self):
        free = socket.create_server(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        out = self.run_php(
            """
            $c = client();
            $out[] = [$c->get('/'), $c->statusCode, $c->errCode];
            $c = new Client('no-such-host.invalid', 80);
            $out[] = [$c->get('/'), $c->statusCode, $c->errCode, $c->getpeername(), $c->getPeerCert()];
            $c = new Client('unix:/nonexistent/socket');
            $out[] = [$c->get('/'), $c->statusCode, $c->errCode];
            """,
            port,
        )
        self.assertEqual(out, [[False, -1, 111], [False, -1, 711, False, False], [False, -1, 2]])

    def test_a_cancelled_request_closes_its_connection(self):
        gone = threading.Semaphore(0)

        def handle(conn):
            conn.head()
            conn.gone()
            gone.release()

        peer = self.peer(handle)
        out = self.run_php(
            """
            foreach ([false, true] as $throw) {
                $done = new SplQueue;
                $c = client();
                $cid = go(function () use ($c, &$out) {
                    $out[] = thrown(function () use ($c, &$out) { $out[] = [$c->get('/'), $c->statusCode, $c->errCode, $c->connected]; });
                });
                Coroutine::sleep(0.05);
                Coroutine::cancel($cid, $throw);
                Coroutine::join([$cid]);
                $out[] = $c->connected;
            }
            $c = client();
            $cid = go(function () use ($c, &$out) { $out[] = [$c->get('/'), $c->statusCode, $c->errCode]; });
            Coroutine::sleep(0.05);
            $out[] = $c->close();
            Coroutine::join([$cid]);
            """,
            peer.port,
        )
        self.assertEqual(out[:3], [[False, -3, 125, False], None, False])
        self.assertIn("CanceledException", out[3])
        self.assertEqual(out[4:], [False, True, [False, -3, 104]])
        for _ in range(3):
            self.assertTrue(gone.acquire(timeout=30))

    def test_two_coroutines_at_one_client_are_told_of_each_other(self):
        go_on = threading.Event()

        def handle(conn, *rest):
            go_on.wait(30)
            echo(conn, *rest)

        peer = self.peer(answers(handle))
        threading.Timer(0.3, go_on.set).start()
        out = self.run_php(
            """
            $c = client();
            $cid = go(fn() => $out[] = null);
            go(function () use ($c, &$out) { $out['first'] = [$c->get('/one'), $c->body]; });
            $out['second'] = thrown(fn() => $c->get('/two'));
            $out['third'] = thrown(fn() => $c->upgrade('/'));
            """,
            peer.port,
        )
        self.assertIn("ConflictException: coroutine 1 calls Apus\\Coroutine\\Http\\Client::get() on a client that coroutine 3 uses in", out["second"])
        self.assertIn("ConflictException", out["third"])
        self.assertEqual(out["first"], [True, "GET /one  "])
        self.assertEqual(peer.count, 1)

    def test_a_hundred_slow_requests_at_once(self):
        def handle(conn, *rest):
            time.sleep(0.1)
            echo(conn, *rest)

        peer = self.peer(answers(handle))
        begin = time.monotonic()
        out = self.run_php("for ($i = 0; $i < 100; $i++) { go(function () use (&$out, $i) { $c = client(); $out[$i] = $c->get(\"/$i\") ? $c->body : $c->errMsg; }); }", peer.port)
        self.assertEqual(
            {int(k): v for k, v in (out.items() if isinstance(out, dict) else enumerate(out))},
            {i: f"GET /{i}  " for i in range(100)},
        )
        # One after the other would take 10 s.
        self.assertLess(time.monotonic() - begin, 6)

    def test_deferred(self):
        peer = self.peer(answers(lambda conn, *rest: echo(conn, *rest)))
        out = self.run_php(
            """
            $clients = [];
            for ($i = 0; $i < 3; $i++) {
                $clients[] = $c = client();
                $out[] = [$c->setDefer(), $c->getDefer(), $c->get("/$i"), $c->statusCode];
            }
            $out[] = thrown(fn() => $clients[0]->get('/more'));
            foreach ($clients as $c) {
                $out[] = [$c->recv(), $c->statusCode, $c->body, $c->connected];
            }
            $out[] = thrown(fn() => $clients[0]->recv());
            """,
            peer.port,
        )
        self.assertEqual(out[:3], [[True, True, True, 0]] * 3)
        self.assertIn("recv() first", out[3])
        self.assertEqual(out[4:7], [[True, 200, f"GET /{i}  ", True] for i in range(3)])
        self.assertIn("no WebSocket", out[7])


if __name__ == "__main__":
    unittest.main()
