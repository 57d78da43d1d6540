"""Clients of HTTP/2 that mean harm: the worker lives, does not grow, and serves others beside them.

Each attack goes on for APUS_ATTACK_SECONDS (1 unless set) over several connections, each of them opened again when the
server has closed it. As with TLS (test_tls_attacks.py) the time that honest requests take is judged from 5 seconds on.
"""

import contextlib
import itertools
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from apart import from_clients, go_last
from http2_peers import Http2Case
from support import PATIENCE, halt, rss, until
from test_tls_attacks import JUDGED_FROM, PAUSE, SECONDS, SLOWER, UNNOTICED

CONNECTIONS = 6
GROWTH = 32 << 20
# An honest client, in a process of its own: the attackers' threads would keep it waiting. Each request goes over a
# connection that is kept, one in two hundred over a new one.
HONEST = """
import http.client, statistics, sys, time
port, end, pause = int(sys.argv[1]), time.monotonic() + float(sys.argv[2]), float(sys.argv[3])
times, client = [], None
while time.monotonic() < end or len(times) < 20:
    begun = time.monotonic()
    if len(times) % 200 == 0:
        client = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    client.request('GET', '/')
    assert client.getresponse().read() == b'ok'
    times.append(time.monotonic() - begun)
    time.sleep(pause)
print(len(times), statistics.quantiles(times, n=100)[98])
"""
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
MAGIC = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, payload=b"", flags=0, stream=0):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    """A string of HPACK, as it is; shorter than 127 bytes."""
    return bytes([len(value)]) + value


def head(path=b"/", method=b"\x82", more=b""):
    return method + b"\x86\x04" + text(path) + b"\x41" + text(b"a") + more


def request(stream, path=b"/", end=True, more=b""):
    return frame(HEADERS, head(path, more=more), END_HEADERS | (END_STREAM if end else 0), stream)


def ids():
    return itertools.count(1, 2)


class Attacker:
    """A connection, with its preface sent."""

    def __init__(self, server, settings=b"", buffer=None):
        self.sock = socket.socket()
        if buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(("127.0.0.1", server.port))
        self.sock.sendall(MAGIC + frame(SETTINGS, settings) + frame(SETTINGS, flags=1))
        self.sock.setblocking(False)

    def send(self, data, going):
        """Sends all, and throws away what comes; whether the connection lives."""
        while data and going():
            if not self.read():
                return False
            try:
                data = data[self.sock.send(data) :]
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                return False
        return True

    def read(self):
        with contextlib.suppress(BlockingIOError):
            try:
                return bool(self.sock.recv(65_536))
            except ConnectionError:
                return False
        return True


class Attacks(Http2Case):
    HANDLER = "$response->end($path === '/big' ? str_repeat('x', 3_000_000) : 'ok');"

    def honest(self, server, seconds):
        line = [sys.executable, "-c", HONEST, str(server.port), str(seconds), str(PAUSE)]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def measured(self, process):
        """How many requests, and how long the slowest hundredth took."""
        count, p99 = process.communicate(timeout=SECONDS + PATIENCE)[0].split()
        self.assertEqual(process.returncode, 0)
        return int(count), float(p99)

    def attack(self, rounds, *, settings=b"", reads=True, buffer=None, server=None, closes=False):
        """Has `rounds(number)` give what each connection sends, piece by piece. Gives how many were closed; with
        `closes` it goes on until one is."""
        server = self.http2(self.HANDLER, settings=server or {})
        [worker] = server.workers()
        for _ in range(20):
            self.assertEqual(server.get("/").body, b"ok")
        with from_clients([worker]):
            return self.stands(server, worker, rounds, settings, reads, buffer, closes)

    def stands(self, server, worker, rounds, settings, reads, buffer, closes):
        judged = SECONDS >= JUDGED_FROM
        quiet = self.measured(self.honest(server, min(SECONDS, 10) / 2))[1] if judged else 0
        before = rss(worker)
        end = time.monotonic() + SECONDS
        closed = [0] * CONNECTIONS

        def going():
            now = time.monotonic()
            return now < end or (closes and not any(closed) and now < end + PATIENCE)

        def run(number):
            go_last()
            while going():
                attacker = Attacker(server, settings, buffer)
                with attacker.sock:
                    for piece in rounds():
                        if not going():
                            return
                        if not reads:
                            with contextlib.suppress(BlockingIOError, ConnectionError):
                                attacker.sock.send(piece)
                        elif not attacker.send(piece, going):
                            closed[number] += 1
                            break
                    else:
                        while going() and (not reads or attacker.read()):
                            time.sleep(0.01)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        served, took = self.measured(self.honest(server, SECONDS))
        for thread in threads:
            thread.join(PATIENCE * 2)
        self.assertEqual(server.get("/").body, b"ok")
        self.assertEqual(server.workers(), [worker], server.said())
        self.assertLess(rss(worker) - before, GROWTH)
        if judged:
            shown = f"{sum(closed)} closed; {served} honest requests, p99 {took * 1000:.1f} ms, {quiet * 1000:.1f} before"
            print(f"{shown}; +{(rss(worker) - before) >> 20} MiB", file=sys.stderr)
            self.assertLessEqual(took, max(SLOWER * quiet, UNNOTICED), shown)
        return sum(closed)

    def test_rapid_reset(self):
        def rounds():
            for stream in ids():
                forty = range(stream * 40 + 1, stream * 40 + 81, 2)
                yield b"".join(request(s) + frame(RESET, struct.pack(">I", 8), stream=s) for s in forty)

        self.assertGreater(self.attack(rounds, closes=True), 0)

    def test_made_you_reset(self):
        def rounds():
            for stream in ids():
                yield request(stream) + frame(WINDOW, bytes(4), stream=stream)

        self.assertGreater(self.attack(rounds, closes=True), 0)

    def test_continuations_without_end(self):
        def rounds():
            yield frame(HEADERS, head(), END_STREAM, 1)
            while True:
                yield frame(CONTINUATION, b"\x00" + text(b"x") + text(b"y" * 100), stream=1)

        self.assertGreater(self.attack(rounds, closes=True), 0)

    def test_empty_continuations_without_end(self):
        def rounds():
            yield frame(HEADERS, head(), END_STREAM, 1)
            while True:
                yield frame(CONTINUATION, stream=1) * 10

        self.assertGreater(self.attack(rounds, closes=True), 0)

    def test_fields_that_refer_to_a_large_one(self):
        def rounds():
            yield request(1, more=b"\x40" + text(b"x") + text(b"y" * 120))
            for stream in itertools.count(3, 2):
                yield request(stream, more=b"\xbe" * 4000)

        self.attack(rounds)

    def test_floods_of_control_frames(self):
        for flood in (
            frame(PING, bytes(8)),
            frame(SETTINGS, struct.pack(">HI", 3, 100)),
            frame(SETTINGS),
            frame(WINDOW, struct.pack(">I", 1)),
            frame(PRIORITY, struct.pack(">IB", 0, 1), stream=1),
            frame(0x10, struct.pack(">I", 1) + b"u=1"),
        ):
            for reads in (True, False):
                with self.subTest(flood=flood, reads=reads):
                    self.attack(lambda flood=flood: itertools.repeat(flood * 200), reads=reads)

    def test_empty_data_without_end(self):
        def rounds():
            yield request(1, end=False)
            while True:
                yield frame(DATA, stream=1) * 100

        self.assertGreater(self.attack(rounds, closes=True), 0)

    def test_answers_that_nobody_reads(self):
        def rounds():
            yield b"".join(request(stream, b"/big") for stream in range(1, 257, 2))

        self.attack(rounds, reads=False, buffer=4096, settings=struct.pack(">HI", 4, 0x7FFFFFFF))

    def test_windows_that_stay_shut(self):
        def rounds():
            yield b"".join(request(stream, b"/big") for stream in range(1, 257, 2))

        self.attack(rounds, settings=struct.pack(">HI", 4, 0))

    def test_windows_that_open_by_a_byte(self):
        def rounds():
            yield b"".join(request(stream, b"/big") for stream in range(1, 257, 2))
            while True:
                yield b"".join(frame(WINDOW, struct.pack(">I", 1), stream=stream) for stream in range(1, 257, 2))

        self.attack(rounds, settings=struct.pack(">HI", 4, 0))

    def test_heads_and_bodies_that_do_not_come(self):
        def rounds():
            yield b"".join(request(stream, end=False) for stream in range(1, 257, 2))
            yield frame(DATA, b"x" * 1000, stream=1)[:-1]

        self.attack(rounds)

    def test_bodies_that_do_not_end(self):
        def rounds():
            for stream in ids():
                yield request(stream, end=False) + b"".join(frame(DATA, bytes(16_000), stream=stream) for _ in range(4))

        self.attack(rounds, server={"max_incoming_bytes": 8 << 20})

    def test_bodies_that_nobody_wants_are_thrown_away(self):
        def rounds():
            for stream in ids():
                yield request(stream, end=False) + b"".join(frame(DATA, bytes(16_000), stream=stream) for _ in range(4))

        self.attack(rounds, server={"stream_request_body": True})


class Turns(Http2Case):
    def test_what_came_in_time_is_read_before_deadlines_are_looked_at(self):
        busy = "if ($path === '/busy') { touch($folder . '/busy'); $end = hrtime(true) + 1e9; while (hrtime(true) < $end); }"
        server = self.http2(busy + "$response->end('ok');", settings={"header_timeout": 0.3})
        with server.connect() as other, socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
            client.sendall(MAGIC + frame(SETTINGS))
            answers = client.makefile("rb")

            def kind():
                begin = answers.read(9)
                answers.read(int.from_bytes(begin[:3], "big"))
                return begin[3]

            self.assertEqual(kind(), SETTINGS)
            # The time for the acknowledgement, which comes meanwhile, passes while the worker is busy.
            other.send(b"GET /busy HTTP/1.1\r\nHost: a\r\n\r\n")
            until("it is busy", (server.folder / "busy").exists)
            client.sendall(frame(SETTINGS, flags=1) + request(1))
            kinds = iter(kind, None)
            self.assertEqual(next(found for found in kinds if found in (HEADERS, GOAWAY)), HEADERS)

    def before_another(self, handler, many):
        """Paths of the requests that are begun before another connection's, where both wait as the worker looks."""
        server = self.http2(f"$GLOBALS['order'][] = $path; {handler} $response->end(implode(' ', $GLOBALS['order']));")
        [worker] = server.workers()
        with server.connect() as other, socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
            self.assertEqual(other.request("GET", "/first").body, b"/first")
            # Both wait in the kernel when the worker looks.
            halt(worker)
            client.sendall(many)
            other.send(b"GET /other HTTP/1.1\r\nHost: a\r\n\r\n")
            os.kill(worker, signal.SIGCONT)
            return other.answer().body.decode().split()

    def test_who_sends_much_at_once_does_not_keep_others_waiting(self):
        streams = b"".join(request(stream, b"/many") for stream in range(1, 201, 2))
        before = self.before_another("", MAGIC + frame(SETTINGS) + streams)
        self.assertEqual(before[-1], "/other")

    def test_who_asks_for_work_that_takes_long_does_not_keep_others_waiting(self):
        handler = "if ($path === '/many') { $end = hrtime(true) + 5e6; while (hrtime(true) < $end); }"
        streams = MAGIC + frame(SETTINGS) + b"".join(request(stream, b"/many") for stream in range(1, 61, 2))
        for many in (streams, b"GET /many HTTP/1.1\r\nHost: a\r\n\r\n" * 30):
            with self.subTest(many=many[:16]):
                before = self.before_another(handler, many)
                self.assertEqual(before[-1], "/other")
                self.assertLess(before.count("/many"), 5)
