"""HTTP/1.1 through the whole stack: sockets, parser, PHP handlers (RFC 9110, RFC 9112)."""

import socket
import struct
import time

from support import Case

ECHO = """
if ($path === '/sleep') {
    Coroutine::sleep((float) ($request->get['s'] ?? 0.05));
}
$response->header('X-Number', $request->get['n'] ?? '');
$response->end($request->getMethod() . ' ' . $path . ' ' . strlen((string) $request->rawContent()));
"""
HEAD = b"GET / HTTP/1.1\r\nHost: test\r\n"


def statuses(data):
    """Status codes of the answers in a stream."""
    return [int(part[:3]) for part in data.split(b"HTTP/1.1 ")[1:]]


class KeepAlive(Case):
    def test_many_requests_on_one_connection(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            for n in range(200):
                answer = client.request(path=f"/a?n={n}")
                self.assertEqual((answer.status, answer.headers["x-number"], answer.body), (200, str(n), b"GET /a 0"))
                self.assertNotIn("connection", answer.headers)

    def test_connection_close_is_honoured(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            self.assertEqual(client.request(close=True).headers["connection"], "close")
            self.assertTrue(client.closed())

    def test_http_1_0(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            client.send(b"GET / HTTP/1.0\r\n\r\n")
            self.assertEqual(client.answer().headers["connection"], "close")
            self.assertTrue(client.closed())
        with server.connect() as client:
            for _ in range(3):
                client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                self.assertEqual(client.answer().headers["connection"], "keep-alive")

    def test_keepalive_requests_and_timeout(self):
        server = self.serve(ECHO, settings={"keepalive_requests": 2, "keepalive_timeout": 1})
        with server.connect() as client:
            self.assertNotIn("connection", client.request().headers)
            self.assertEqual(client.request().headers["connection"], "close")
            self.assertTrue(client.closed())
        with server.connect() as client:
            client.request()
            begin = time.monotonic()
            self.assertTrue(client.closed())
            self.assertLess(time.monotonic() - begin, 10)


class Pipelining(Case):
    def test_answers_keep_the_order_of_requests(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            # The slowest comes first.
            for n, s in enumerate((0.2, 0.1, 0, 0.05, 0)):
                client.send(f"GET /sleep?n={n}&s={s} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
            self.assertEqual([client.answer().headers["x-number"] for _ in range(5)], list("01234"))

    def test_more_than_is_read_ahead(self):
        server = self.serve(ECHO, settings={"max_pipelined": 4})
        with server.connect() as client:
            client.send(b"".join(f"GET /?n={n} HTTP/1.1\r\nHost: test\r\n\r\n".encode() for n in range(1000)))
            self.assertEqual([client.answer().headers["x-number"] for _ in range(1000)], [str(n) for n in range(1000)])

    def test_bodies_between_requests(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            client.send((HEAD.replace(b"GET", b"POST") + b"Content-Length: 5\r\n\r\nhello" + HEAD.replace(b"GET", b"PUT") + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + HEAD + b"\r\n"))
            self.assertEqual([client.answer().body for _ in range(3)], [b"POST / 5", b"PUT / 3", b"GET / 0"])

    def test_requests_after_close_are_not_answered(self):
        server = self.serve(ECHO)
        self.assertEqual(statuses(server.raw(HEAD + b"Connection: close\r\n\r\n" + HEAD + b"\r\n")), [200])

    def test_one_byte_at_a_time(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in b"POST /a?n=7 HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc":
                client.send(bytes((byte,)))
            self.assertEqual(client.answer().body, b"POST /a 3")


class Bodies(Case):
    def test_head_tells_the_length_and_sends_no_body(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            answer = client.request("HEAD", "/x")
            self.assertEqual((answer.status, answer.headers["content-length"], answer.body), (200, "9", b""))
            self.assertEqual(client.request(path="/y").body, b"GET /y 0")

    def test_chunked_upload(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            client.send(b"POST /up HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
            for size in (1, 16, 4096, 70000):
                client.send(f"{size:x};note=yes\r\n".encode() + b"x" * size + b"\r\n")
            client.send(b"0\r\nX-Trailer: 1\r\n\r\n")
            self.assertEqual(client.answer().body, b"POST /up 74113")

    def test_100_continue(self):
        server = self.serve(ECHO, settings={"package_max_length": 100})
        with server.connect() as client:
            client.send(b"POST / HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
            self.assertEqual(client.answer().status, 100)
            client.send(b"body")
            self.assertEqual(client.answer().body, b"POST / 4")
        # A body that will be refused is not asked for.
        answers = server.raw(b"POST / HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n")
        self.assertEqual(statuses(answers), [413])

    def test_100_continue_in_streaming_mode_waits_for_read(self):
        handler = "if ($path === '/no') { $response->status(403); $response->end('no'); return; } $response->end($request->read());"
        server = self.serve(handler, settings={"stream_request_body": True})
        head = "POST {} HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        with server.connect() as client:
            client.send(head.format("/yes").encode())
            self.assertEqual(client.answer().status, 100)
            client.send(b"body")
            self.assertEqual(client.answer().body, b"body")
        with server.connect() as client:
            client.send(head.format("/no").encode())
            self.assertEqual(client.answer().status, 403)

    def test_an_unread_body_does_not_become_a_request(self):
        server = self.serve("$response->end('early');", settings={"stream_request_body": True})
        inner = b"GET /smuggled HTTP/1.1\r\nHost: test\r\n\r\n"
        with server.connect() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: {len(inner)}\r\n\r\n".encode() + inner + HEAD + b"Connection: close\r\n\r\n")
            self.assertEqual(statuses(client.rest()), [200, 200])


class Refusals(Case):
    """One server for all: a refusal must not touch other connections."""

    LIMITS = {"package_max_length": "1K", "max_header_size": "2K", "max_headers": 20, "header_timeout": 1, "body_timeout": 1, "body_min_rate": 1000}

    def expect(self, wanted, *requests):
        server = self.serve(ECHO, settings=self.LIMITS)
        bad = []
        for request in requests:
            data = server.raw(request)
            if statuses(data) != [wanted] or b"Connection: close" not in data:
                bad.append((request[:120], data[:200]))
        self.assertEqual(bad, [])
        self.assertEqual(server.get("/").status, 200)

    def test_400(self):
        self.expect(400, b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", b"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", b"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nbad name: x\r\n\r\n", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br\r\n\r\n")

    def test_408_for_a_head_that_does_not_end(self):
        self.expect(408, b"GET / HTTP/1.1\r\nHost: a\r\n")

    def test_408_for_a_body_that_does_not_end(self):
        self.expect(408, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")

    def test_411(self):
        self.expect(411, b"POST / HTTP/1.0\r\n\r\nhello", b"PUT / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nhello")

    def test_413(self):
        chunks = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + b"200\r\n" + b"x" * 512 + b"\r\n201\r\n" + b"x" * 513 + b"\r\n0\r\n\r\n"
        self.expect(413, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n", chunks)

    def test_414(self):
        self.expect(414, b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")

    def test_431(self):
        self.expect(431, HEAD + b"X: " + b"a" * 3000 + b"\r\n\r\n", HEAD + b"".join(b"X%d: y\r\n" % n for n in range(30)) + b"\r\n")

    def test_417(self):
        self.expect(417, HEAD + b"Expect: the-unexpected\r\n\r\n")

    def test_501(self):
        self.expect(501, b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n")

    def test_505(self):
        self.expect(505, b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", b"GET / HTTP/3.7\r\nHost: a\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    def test_the_limits_themselves_are_allowed(self):
        server = self.serve(ECHO, settings=self.LIMITS)
        self.assertEqual(server.raw(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1024\r\n\r\n" + b"x" * 1024)[-11:], b"POST / 1024")
        self.assertEqual(statuses(server.raw(HEAD + b"Connection: close\r\n" + b"".join(b"X%d: y\r\n" % n for n in range(18)) + b"\r\n")), [200])


class Smuggling(Case):
    """What RFC 9112 lists as ways to hide a request: refused, the connection closed, nothing behind it answered."""

    NEXT = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    def test_nothing_passes(self):
        post = b"POST / HTTP/1.1\r\nHost: a\r\n"
        body = b"0\r\n\r\n"
        cases = {
            "both lengths": post + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
            "both lengths, other order": post + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + body,
            "two lengths": post + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            "two equal lengths": post + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
            "a list of lengths": post + b"Content-Length: 5, 5\r\n\r\nhello",
            "a signed length": post + b"Content-Length: +5\r\n\r\nhello",
            "a negative length": post + b"Content-Length: -5\r\n\r\nhello",
            "a hexadecimal length": post + b"Content-Length: 0x5\r\n\r\nhello",
            "a length with a space": post + b"Content-Length: 1 5\r\n\r\nhello",
            "an empty length": post + b"Content-Length: \r\n\r\nhello",
            "a huge length": post + b"Content-Length: 99999999999999999999\r\n\r\nhello",
            "a folded field": post + b"X: a\r\n b\r\n\r\n",
            "a folded coding": post + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + body,
            "a space before the colon": post + b"Transfer-Encoding : chunked\r\n\r\n" + body,
            "a tab before the colon": post + b"Content-Length\t: 5\r\n\r\nhello",
            "a space before the first field": b"POST / HTTP/1.1\r\n Host: a\r\nContent-Length: 5\r\n\r\nhello",
            "a field without colon": post + b"Content-Length 5\r\n\r\nhello",
            "an empty field name": post + b": 5\r\n\r\nhello",
            "a bare CR in a value": post + b"X: a\rTransfer-Encoding: chunked\r\n\r\n" + body,
            "a bare LF after a field": post + b"X: a\nTransfer-Encoding: chunked\r\n\r\n" + body,
            "a bare LF after the request line": b"GET / HTTP/1.1\nHost: a\r\n\r\n",
            "LF only": b"GET / HTTP/1.1\nHost: a\n\n",
            "NUL in a value": post + b"X: a\0b\r\n\r\n",
            "chunked twice": post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
            "chunked, chunked": post + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + body,
            "chunked not last": post + b"Transfer-Encoding: chunked, identity\r\n\r\n" + body,
            "xchunked": post + b"Transfer-Encoding: xchunked\r\n\r\n" + body,
            "chunked with a vertical tab": post + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + body,
            "quoted chunked": post + b"Transfer-Encoding: \"chunked\"\r\n\r\n" + body,
            "chunked in 1.0": b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
            "two spaces in the request line": b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
            "a tab in the request line": b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
            "a third word": b"GET / x HTTP/1.1\r\nHost: a\r\n\r\n",
            "a version of its own": b"GET / HTTP/1.10\r\nHost: a\r\n\r\n",
            "lower-case http": b"GET / http/1.1\r\nHost: a\r\n\r\n",
            "absolute and other host": b"GET http://b/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        }
        chunked = post + b"Transfer-Encoding: chunked\r\n\r\n"
        for name, chunks in {
            "no chunk size": b"\r\nhello\r\n0\r\n\r\n",
            "a chunk size that is no number": b"5z\r\nhello\r\n0\r\n\r\n",
            "0x before a chunk size": b"0x5\r\nhello\r\n0\r\n\r\n",
            "a signed chunk size": b"+5\r\nhello\r\n0\r\n\r\n",
            "a negative chunk size": b"-1\r\nhello\r\n0\r\n\r\n",
            "an overflowing chunk size": b"10000000000000005\r\nhello\r\n0\r\n\r\n",
            "a space before a chunk size": b" 5\r\nhello\r\n0\r\n\r\n",
            "a bare LF after a chunk size": b"5\nhello\r\n0\r\n\r\n",
            "a bare LF after a chunk": b"5\r\nhello\n0\r\n\r\n",
            "a chunk longer than its size": b"5\r\nhello!\r\n0\r\n\r\n",
            "a bare CR in an extension": b"5;a\rb\r\nhello\r\n0\r\n\r\n",
            "a bare LF in an extension": b"5;a\nb\r\nhello\r\n0\r\n\r\n",
            "a folded trailer": b"0\r\nX: a\r\n b\r\n\r\n",
        }.items():
            cases[name] = chunked + chunks
        server = self.serve("if ($path === '/smuggled') { file_put_contents(\"$folder/smuggled\", '!', FILE_APPEND); } $response->end('through');")
        passed = []
        for name, request in cases.items():
            data = server.raw(request + self.NEXT)
            if statuses(data) not in ([400], [501], [505], [413]) or (server.folder / "smuggled").exists():
                passed.append((name, data[:160]))
                (server.folder / "smuggled").unlink(missing_ok=True)
        self.assertEqual(passed, [])
        self.assertEqual(server.get("/").status, 200)


class Gone(Case):
    def test_a_reset_in_the_middle_leaves_the_worker_well(self):
        server = self.serve(ECHO)
        for cut in (b"G", HEAD, HEAD + b"\r\n", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab"):
            client = server.connect()
            client.send(cut)
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sock.close()
        self.assertEqual(server.get("/").status, 200)

    def test_a_half_closed_client_is_answered(self):
        server = self.serve(ECHO)
        with server.connect() as client:
            client.send(b"GET /sleep HTTP/1.1\r\nHost: a\r\n\r\n")
            client.sock.shutdown(socket.SHUT_WR)
            self.assertEqual(statuses(client.rest()), [200])
