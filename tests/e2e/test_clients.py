"""Clients that are slow, that leave, or that send without end."""

import os
import select
import socket
import struct
import time

from support import PATIENCE, Case, rss, until


class Leaving(Case):
    HANDLER = """
    if ($path === '/seen') { $response->end(@file_get_contents("$folder/seen") ?: ''); return; }
    $note = fn (string $text) => file_put_contents("$folder/seen", $text, FILE_APPEND);
    $note('begun ');
    if ($path === '/poll') {
        while (!$request->isAborted()) { Coroutine::sleep(0.002); }
        $note('aborted ' . json_encode([$response->isWritable(), $response->end('nobody'), $response->write('x')]));
        return;
    }
    if ($path === '/write') {
        while ($response->write(str_repeat('x', 10_000))) { Coroutine::sleep(0.001); }
        $note('write failed');
        return;
    }
    try {
        Coroutine::sleep(600);
        $note('woke');
    } catch (Coroutine\\CanceledException $e) {
        $note('cancelled ');
    } finally {
        $note('finally');
    }
    """

    def leave(self, server, path, how):
        client = server.connect()
        client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        seen = lambda: server.get("/seen").body.decode()
        until("the handler runs", lambda: "begun" in seen())
        if how == "reset":
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sock.close()
        return seen

    def test_is_aborted(self):
        for how in ("close", "reset"):
            with self.subTest(how):
                server = self.serve(self.HANDLER)
                seen = self.leave(server, "/poll", how)
                until("isAborted()", lambda: "aborted" in seen())

    def test_write_fails_when_the_client_is_gone(self):
        server = self.serve(self.HANDLER)
        seen = self.leave(server, "/write", "reset")
        until("write() is false", lambda: "write failed" in seen())

    def test_cancel_on_disconnect(self):
        server = self.serve(self.HANDLER, settings={"cancel_on_disconnect": True})
        seen = self.leave(server, "/cancel", "close")
        self.assertEqual(until("finally runs", lambda: "finally" in seen() and seen()), "begun cancelled finally")

    def test_without_it_the_handler_goes_on(self):
        server = self.serve(self.HANDLER.replace("600", "0.2"))
        seen = self.leave(server, "/go-on", "close")
        self.assertEqual(until("it ends", lambda: "finally" in seen() and seen()), "begun wokefinally")


class Dripping(Case):
    def test_a_dripping_head_loses(self):
        server = self.serve(settings={"header_timeout": 1})
        with server.connect() as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n")
            begin, answered = time.monotonic(), False
            # A byte every 0.1 s would please an idle timer for ever.
            while not answered and time.monotonic() - begin < PATIENCE:
                client.send(b"X")
                answered = bool(select.select([client.sock], [], [], 0.1)[0])
            self.assertEqual(client.answer().status, 408)
            self.assertLess(time.monotonic() - begin, 10)

    def test_a_dripping_body_loses(self):
        for streaming in (False, True):
            with self.subTest(streaming=streaming):
                server = self.serve("$request->rawContent(); $response->end('ok');", settings={"body_timeout": 1, "body_min_rate": 1000, "stream_request_body": streaming})
                with server.connect() as client:
                    client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
                    begin, answered = time.monotonic(), False
                    while not answered and time.monotonic() - begin < PATIENCE:
                        client.send(b"X")
                        answered = bool(select.select([client.sock], [], [], 0.1)[0])
                    self.assertLess(time.monotonic() - begin, 10)
                    self.assertIn(client.answer().status, (408, 500) if streaming else (408,))
                self.assertEqual(server.get("/").status, 200)

    def test_an_idle_connection_that_never_speaks_is_closed(self):
        server = self.serve(settings={"keepalive_timeout": 1, "header_timeout": 1})
        with server.connect() as client:
            client.rest()

    def test_many_slow_heads_do_not_hinder_others(self):
        server = self.serve(settings={"header_timeout": 30})
        slow = [server.connect() for _ in range(500)]
        for client in slow:
            client.send(b"GET / HTTP/1.1\r\nHost")
        begin = time.monotonic()
        for _ in range(100):
            self.assertEqual(server.get("/").status, 200)
        self.assertLess(time.monotonic() - begin, 10)
        for client in slow:
            client.send(b": a\r\n\r\n")
        self.assertEqual([client.answer().body for client in slow], [b"ok"] * 500)


class SlowReaders(Case):
    def test_write_waits_and_memory_stays_bounded(self):
        server = self.serve("""
        if ($path === '/written') { $response->end(@file_get_contents("$folder/written") ?: '0'); return; }
        for ($i = 1; $i <= 2000; $i++) {
            if (!$response->write(str_repeat('x', 100_000))) { break; }
            file_put_contents("$folder/written", (string) $i);
        }
        $response->end();""", settings={"buffer_output_size": "256K"})
        worker = server.workers()[0]
        with server.connect() as client:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            before = rss(worker)
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            written = lambda: int(server.get("/written").body)
            # It stops when the kernel's buffers and ours are full, far from 200 MB.
            last = [0, 0]

            def still():
                now = written()
                last[1] = last[1] + 1 if now == last[0] and now > 0 else 0
                last[0] = now
                time.sleep(0.02)
                return last[1] > 15
            until("the writer waits", still)
            self.assertLess(last[0], 300)
            self.assertLess(rss(worker) - before, 8 << 20)
            self.assertEqual(len(client.answer().body), 200_000_000)

    def test_end_with_a_large_body_for_many_slow_readers(self):
        server = self.serve("$response->end(str_repeat('x', 1_000_000));")
        worker = server.workers()[0]
        clients = [server.connect() for _ in range(100)]
        for client in clients:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(server.get("/").status, 200)
        self.assertLess(rss(worker), 250 << 20)
        self.assertEqual({len(client.answer().body) for client in clients}, {1_000_000})

    def test_a_client_that_reads_nothing_is_cut_after_send_timeout(self):
        server = self.serve("""
        if ($path === '/seen') { $response->end((string) @file_get_contents("$folder/seen")); return; }
        while ($response->write(str_repeat('x', 100_000)));
        file_put_contents("$folder/seen", 'cut');""", settings={"send_timeout": 1, "buffer_output_size": "64K"})
        with server.connect() as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            until("the writer is told", lambda: server.get("/seen").body == b"cut")

    def test_sendfile_to_a_slow_reader(self):
        server = self.serve("$response->sendfile(\"$folder/big\");")
        with open(server.folder / "big", "wb") as big:
            big.truncate(64 << 20)
        worker = server.workers()[0]
        before = rss(worker)
        with server.connect() as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            status, _, fields = client.head()
            self.assertEqual((status, fields["content-length"]), (200, str(64 << 20)))
            left = (64 << 20) - len(client.buffer)
            while left:
                left -= len(client.sock.recv(1 << 20))
            self.assertLess(rss(worker) - before, 4 << 20)


class Upload(Case):
    alone = True

    def test_a_huge_body_streams_in_constant_memory(self):
        size = (5 << 30) if os.environ.get("APUS_E2E_BIG") == "1" else int(os.environ.get("APUS_E2E_UPLOAD", 1 << 30))
        server = self.serve("""
        $bytes = 0; $edge = '';
        while (($part = $request->read(1 << 20)) !== '') { $bytes += strlen($part); $edge = substr($edge . $part, -4); }
        $response->end(json_encode(['bytes' => $bytes, 'edge' => $edge, 'php' => memory_get_peak_usage()]));
        """, settings={"stream_request_body": True, "package_max_length": "16G"}, ini=["memory_limit=16M"])
        worker = server.workers()[0]
        before = rss(worker)
        with server.connect() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode())
            block, left = b"x" * (1 << 20), size - 4
            while left:
                client.send(block[:left])
                left -= min(left, len(block))
            grown = rss(worker) - before
            client.send(b"done")
            answer = client.answer().json()
        self.assertEqual((answer["bytes"], answer["edge"]), (size, "done"))
        self.assertLess(answer["php"], 8 << 20)
        self.assertLess(grown, 8 << 20)

    def test_a_multipart_file_goes_to_disk(self):
        size = 256 << 20
        server = self.serve("""
        $file = $request->files['f'];
        $response->end(json_encode(['size' => $file['size'], 'error' => $file['error'], 'disk' => filesize($file['tmp_name'])]));
        """, settings={"package_max_length": "1G", "upload_max_filesize": "1G"})
        worker = server.workers()[0]
        before = rss(worker)
        start = b'--B\r\nContent-Disposition: form-data; name="f"; filename="big"\r\n\r\n'
        end = b"\r\n--B--\r\n"
        with server.connect() as client:
            client.send(f"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: {len(start) + size + len(end)}\r\n\r\n".encode() + start)
            block = b"x" * (1 << 20)
            for _ in range(size >> 20):
                client.send(block)
            grown = rss(worker) - before
            client.send(end)
            self.assertEqual(client.answer().json(), {"size": size, "error": 0, "disk": size})
        self.assertLess(grown, 8 << 20)
