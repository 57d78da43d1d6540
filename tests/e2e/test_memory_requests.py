"""What clients send takes bounded memory of a worker, and the system has it back afterwards."""

import contextlib
import hashlib
import os
import socket
import unittest

from support import Server, rss, until

MIB = 1 << 20
BOUND = 16 * MIB
CONNECTIONS = 120
EACH = 2 * MIB

# What the reader of a memory map takes besides, the kernel's buffers, PHP.
ALLOWED = BOUND + 24 * MIB

ECHO = """
    if ($path === '/incoming') { $response->end('ok'); return; }
    $response->end(md5($request->rawContent() ?: ($request->post['f'] ?? '')));
"""


def announced(kind):
    """The head of a request that is never complete."""
    head = "POST / HTTP/1.1\r\nHost: x\r\n"
    if kind == "length":
        return f"{head}Content-Length: {8 * MIB}\r\n\r\n"
    if kind == "chunked":
        return f"{head}Transfer-Encoding: chunked\r\n\r\n{8 * MIB:x}\r\n"
    return f"{head}Content-Type: multipart/form-data; boundary=B\r\nContent-Length: {8 * MIB}\r\n\r\n--B\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n"


class Dripping(unittest.TestCase):
    # It counts resident memory.
    alone = True

    def server(self, **settings):
        settings = {"max_incoming_bytes": BOUND, "max_form_memory": 8 * MIB, "body_timeout": 60, **settings}
        server = Server(ECHO, settings=settings, before="mkdir(\"$folder/tmp\"); $server->set(['upload_tmp_dir' => \"$folder/tmp\"]);")
        self.enterContext(server)
        return server

    def drip(self, server, kind, stack, worker):
        """Connections that sent much and end nothing; what the worker grew by at most."""
        before, read = rss(worker), self.read(server)
        grown = 0
        part = b"x" * EACH
        for _ in range(CONNECTIONS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            # Else the kernel keeps what the worker has not read.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 10)
            client.sendall(announced(kind).encode() + part)
            grown = max(grown, rss(worker) - before)
        # What lies in the kernel's buffers is not the worker's yet.
        until("all is read", lambda: self.read(server) - read >= CONNECTIONS * EACH)
        return max(grown, rss(worker) - before)

    @staticmethod
    def read(server):
        return server.status()["totals"]["bytes_in"]

    def test_a_worker_stays_small_answers_meanwhile_and_gives_the_memory_back(self):
        server = self.server()
        worker = server.workers()[0]
        self.assertEqual(server.get("/incoming").status, 200)
        begin = rss(worker)
        for kind in ("length", "chunked", "field"):
            with self.subTest(kind), contextlib.ExitStack() as stack:
                grown = self.drip(server, kind, stack, worker)
                self.assertLess(grown, ALLOWED)
                # Somebody honest with a large body is served, out of a file.
                with server.connect() as client:
                    body = os.urandom(3 * MIB)
                    client.send(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                    self.assertEqual(client.answer().body.decode(), hashlib.md5(body).hexdigest())
                self.assertLess(rss(worker) - begin, ALLOWED)
            until("all have left", lambda: server.status()["totals"]["connections"] == 0)
            until("the memory is back", lambda: rss(worker) - begin < 12 * MIB)
        self.assertEqual(server.workers(), [worker])
        self.assertEqual(list((server.folder / "tmp").rglob("*")), [])
