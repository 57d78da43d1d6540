"""What clients send takes bounded memory of a worker, and the system has it back afterwards."""

import contextlib
import hashlib
import os
import signal
import socket
import unittest

from support import Server, rss, until

MIB = 1 << 20
BOUND = 16 * MIB
CONNECTIONS = 120
EACH = 2 * MIB

# Besides: the honest body, mapped and as PHP's copy, and buffers.
ALLOWED = BOUND + 24 * MIB

ECHO = """
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
        self.assertEqual(server.get("/").status, 200)
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


class Killed(unittest.TestCase):
    """What a worker leaves in the directory of uploads."""

    HEAD = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: {}\r\n\r\n"
    PART = b"--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nhalf of it"
    END = b" and the rest\r\n--B--\r\n"

    def setUp(self):
        handler = "$response->end(file_get_contents($request->files['f']['tmp_name'] ?? 'none'));"
        self.server = Server(handler, before="mkdir(\"$folder/tmp\"); $server->set(['upload_tmp_dir' => \"$folder/tmp\"]);")
        self.enterContext(self.server)
        self.worker = self.server.workers()[0]

    def files(self):
        """Names of uploaded files; a lock file beside them is none."""
        return sorted(path.name for path in (self.server.folder / "tmp").iterdir() if path.suffix != ".lock")

    def begin(self):
        """An upload of which half has come."""
        client = self.server.connect()
        self.addCleanup(client.sock.close)
        client.send(self.HEAD.format(len(self.PART) + len(self.END)).encode() + self.PART)
        return client

    def test_temporary_files_of_a_killed_worker_are_removed(self):
        for _ in range(3):
            self.begin()
        until("the files", lambda: len(self.files()) == 3)
        os.kill(self.worker, signal.SIGKILL)
        until("another worker", lambda: self.server.workers() not in ([], [self.worker]))
        until("they are removed", lambda: not list((self.server.folder / "tmp").iterdir()))

    def test_those_of_a_worker_that_lives_are_left_to_it(self):
        client = self.begin()
        until("the file", lambda: len(self.files()) == 1)
        self.server.kill(signal.SIGUSR1)
        # The new worker has looked when it serves; the old one finishes what it has begun.
        until("the new worker", lambda: len(set(self.server.workers()) - {self.worker}) == 1 and self.server.get("/").status == 200)
        self.assertEqual(len(self.files()), 1)
        client.send(self.END)
        self.assertEqual(client.answer().body, b"half of it and the rest")
        until("it is removed", lambda: not list((self.server.folder / "tmp").iterdir()))
