"""Connections come, stay and go: with their worker, without a word, in thousands."""

import contextlib
import json
import os
import random
import resource
import signal
import socket
import threading
import unittest

from support import PATIENCE, rss, until
from websocket_cases import (
    CLOSE,
    CONTINUATION,
    ECHO,
    NOTED,
    PING,
    TELL_FD,
    TEXT,
    Crowd,
    WebSocket,
    WebSocketCase,
    websocket,
)

# Connections of one crowd: each takes a descriptor here and one in the server.
CROWD = 5000


def many_files(count):
    """Lets this process and the servers it starts have that many descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < count:
        raise unittest.SkipTest(f"needs {count} descriptors, {hard} are allowed")
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


class Endings(WebSocketCase):
    def closes(self, server, count=1):
        return self.events(server, count, ("close",))

    def test_however_a_client_leaves_the_program_hears_it_once(self):
        server = self.websockets(NOTED)
        ways = {
            "closed socket": lambda ws: ws.sock.close(),
            "half-closed": lambda ws: (ws.sock.shutdown(socket.SHUT_WR), ws.rest()),
            "reset": lambda ws: ws.reset(),
            "reset within a frame": lambda ws: (ws.raw(websocket.frame(TEXT, b"x" * 1000)[:300]), ws.reset()),
            "closed within a frame": lambda ws: (ws.raw(websocket.frame(TEXT, b"x" * 1000)[:300]), ws.sock.close()),
            "closed within a head": lambda ws: (ws.raw(b"\x81"), ws.sock.close()),
            "closed within a message": lambda ws: (ws.send(TEXT, b"x", fin=False), ws.sock.close()),
            "close frame, then reset": lambda ws: (ws.raw(websocket.closing(1000)), ws.reset()),
            "half-closed behind a close frame": lambda ws: (ws.raw(websocket.closing(1000)), ws.sock.shutdown(socket.SHUT_WR), ws.rest()),
        }
        for number, (name, leave) in enumerate(ways.items(), 1):
            with self.subTest(name):
                leave(self.join(server))
                self.assertEqual(len(self.closes(server, number)), number)
        until("none is left", lambda: server.status()["totals"]["connections"] <= 1)
        events = self.events(server)
        self.assertEqual([e for e in events if e[0] == "message"], [])
        self.assertEqual(sorted(e[1] for e in events if e[0] == "open"), sorted(e[1] for e in events if e[0] == "close"))

    def test_what_was_said_before_a_half_close_is_answered(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { Coroutine::sleep(0.05); note($server->push($frame->fd, $frame->data)); });")
        ws = self.join(server)
        ws.say("last words")
        ws.sock.shutdown(socket.SHUT_WR)
        # The answer, or at least an end in order; the handler is not left hanging.
        ws.rest()
        self.events(server, 1)

    def test_a_handler_that_outlives_its_connection(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { $server->push($frame->fd, 'begun'); Coroutine::sleep(0.05); note($server->push($frame->fd, 'late'), $server->isEstablished($frame->fd), $server->exist($frame->fd)); }); $server->on('close', fn () => note('close'));")
        ws = self.join(server)
        ws.say("x")
        self.assertEqual(ws.text(), "begun")
        ws.reset()
        self.assertEqual(sorted(map(str, self.events(server, 2))), sorted(map(str, [["close"], [False, False, False]])))


class Workers(WebSocketCase):
    def test_stop_says_going_away_to_everyone(self):
        server = self.websockets(ECHO, settings={"worker_num": 2})
        held = [self.join(server) for _ in range(20)]
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual([ws.closed()[0] for ws in held], [1001] * 20)
        self.assertEqual(server.wait(), 0)

    def test_stop_does_not_wait_long_for_clients_that_do_not_answer(self):
        server = self.websockets(ECHO, settings={"websocket_close_timeout": 0.3, "max_wait_time": 20})
        held = [self.join(server) for _ in range(5)]
        self.assertEqual(server.stop(), 0)
        for ws in held:
            self.assertEqual(ws.message()[0], CLOSE)

    def test_stop_does_not_wait_for_a_client_that_does_not_read(self):
        server = self.websockets(TELL_FD + ECHO, settings={"max_wait_time": 8, "websocket_close_timeout": 0.5, "send_policy": "drop"})
        ws = self.join(server, receive_buffer=4096)
        stuck = self.php(server, "while ($server->push($fd, str_repeat('x', 50000))); return $server->bufferedAmount($fd) > 0;", fd=self.fd(ws))
        self.assertTrue(stuck)
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("killed", server.log() + server.said())

    def test_reload_says_going_away_and_clients_come_back_to_new_code(self):
        server = self.websockets(ECHO + TELL_FD.replace("(string) $request->fd", "(string) getmypid()"), settings={"worker_num": 2})
        old = set(server.workers())
        held, before = [], set()

        def more():
            held.append(self.join(server))
            before.add(int(held[-1].text()))
            return len(held) >= 30 and before == old

        # One that nobody is connected to may hear of the reload after the others have told their clients to come back.
        until("both workers have clients", more)
        for ws in held:
            ws.say("said before the reload")
        server.kill(signal.SIGUSR1)
        for ws in held:
            # What was said is answered before the end.
            self.assertEqual(ws.text(), "said before the reload")
            self.assertEqual(ws.closed()[0], 1001)
        again = [self.join(server) for _ in range(30)]
        after = {int(ws.text()) for ws in again}
        self.assertFalse(after & old)
        for ws in again:
            ws.say("x")
            self.assertEqual(ws.text(), "x")
        until("the old workers are gone", lambda: len(server.workers()) == 2 and not set(server.workers()) & old)

    def test_handlers_finish_before_their_worker_leaves(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { $server->push($frame->fd, 'begun'); Coroutine::sleep(0.3); file_put_contents(__DIR__ . '/done', 'yes'); });", settings={"websocket_close_timeout": 0.3})
        ws = self.join(server)
        ws.say("x")
        self.assertEqual(ws.text(), "begun")
        self.assertEqual(server.stop(), 0)
        self.assertEqual((server.folder / "done").read_text(), "yes")

    def test_a_handler_that_pushes_for_ever_learns_that_it_is_over(self):
        """A subscription: its handler runs until the connection ends, which a stop has to bring about in time."""
        server = self.websockets("$server->on('message', function ($server, $frame) { while ($server->push($frame->fd, 'tick')) { Coroutine::sleep(0.02); } file_put_contents(__DIR__ . '/over', 'yes'); });", settings={"max_wait_time": 6})
        ws = self.join(server)
        ws.say("subscribe")
        self.assertEqual(ws.text(), "tick")
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(ws.closed()[0], 1001)
        self.assertEqual(server.wait(), 0)
        self.assertEqual((server.folder / "over").read_text(), "yes")

    def test_no_connection_is_refused_during_reloads(self):
        server = self.websockets(ECHO, settings={"worker_num": 2})
        echoed = 0
        for turn in range(5):
            server.kill(signal.SIGUSR1)
            for i in range(40):
                try:
                    with WebSocket.connect(server.port) as ws:
                        ws.say("x")
                        if ws.message() == (TEXT, b"x"):
                            echoed += 1
                        # Otherwise it was told to go away: what a reload is.
                except websocket.Refused as refused:
                    self.fail(f"{refused}")
        self.assertGreater(echoed, 100)

    def test_a_killed_worker_takes_only_its_own(self):
        code = TELL_FD.replace("(string) $request->fd", "json_encode([getmypid(), $request->fd])") + ECHO + "$server->on('close', function ($server, $fd, $worker) { file_put_contents(__DIR__ . '/closed', \"$fd $worker\\n\", FILE_APPEND); });"
        server = self.websockets(code, settings={"worker_num": 2})
        held = [self.join(server) for _ in range(40)]
        at = [json.loads(ws.text()) for ws in held]
        victim = at[0][0]
        lost = sorted(fd for pid, fd in at if pid == victim)
        self.assertTrue(0 < len(lost) < 40)
        os.kill(victim, signal.SIGKILL)
        for ws, (pid, _) in zip(held, at):
            if pid == victim:
                self.assertEqual(ws.rest(), b"")
            else:
                ws.say("alive")
                self.assertEqual(ws.text(), "alive")
        until("a successor", lambda: victim not in server.workers() and len(server.workers()) == 2)
        # Its connections are reported closed by another.
        closed = server.folder / "closed"
        until(
            "they are reported",
            lambda: closed.exists()
            and sorted(int(line.split()[0]) for line in closed.read_text().splitlines()) == lost,
        )
        ws = self.join(server)
        ws.text()
        ws.say("x")
        self.assertEqual(ws.text(), "x")


class Load(WebSocketCase):
    alone = True

    @contextlib.contextmanager
    def talking(self, server, count):
        """Clients that talk until the block ends: a function that waits until they said more, and how their connections
        ended."""
        echoed, ends, over = [0] * count, [], threading.Event()

        def talk(number):
            while not over.is_set():
                try:
                    with WebSocket.connect(server.port) as ws:
                        while not over.is_set():
                            text = f"{number} {echoed[number]}"
                            ws.say(text)
                            opcode, data = ws.message()
                            if opcode == CLOSE:
                                ends.append(websocket.code_of(data)[0])
                                # Answered; what was said last is said again by the next connection.
                                ws.raw(websocket.frame(CLOSE, data[:2]))
                                ws.rest()
                                break
                            if data.decode() != text:
                                ends.append(f"{data!r} in place of {text}")
                            echoed[number] += 1
                except Exception as error:
                    ends.append(repr(error))
        threads = [threading.Thread(target=talk, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()

        def they_talk():
            before = sum(echoed)
            until("they talk", lambda: sum(echoed) > before + 500)

        try:
            yield they_talk, ends
        finally:
            over.set()
        for thread in threads:
            thread.join()

    def test_reloads_under_load_lose_nothing(self):
        server = self.websockets(ECHO, settings={"worker_num": 2})
        with self.talking(server, 16) as (they_talk, ends):
            for turn in range(10):
                they_talk()
                self.assertTrue(server.control("reload wait")["ok"])
        # Every end was announced: no refusal, no reset, no silence.
        self.assertEqual(set(ends), {1001})
        self.assertGreaterEqual(len(ends), 16)
        self.assertEqual(server.stop(), 0)

    def test_kills_under_load_end_only_the_killed_ones_connections(self):
        server = self.websockets(ECHO, settings={"worker_num": 2})
        with self.talking(server, 16) as (they_talk, ends):
            for turn in range(5):
                they_talk()
                victim = server.workers()[0]
                os.kill(victim, signal.SIGKILL)
                until("a successor", lambda: victim not in server.workers() and len(server.workers()) == 2)
        self.assertLessEqual(len(ends), 5 * 16)
        self.assertFalse(
            [end for end in ends if "EOF" not in str(end) and "Reset" not in str(end) and "BrokenPipe" not in str(end)],
            ends,
        )


class Crowds(WebSocketCase):
    alone = True

    def test_five_thousand_at_once(self):
        many_files(2 * CROWD + 500)
        server = self.websockets(ECHO, settings={"worker_num": 2, "backlog": 8192})
        with Crowd(server.port) as crowd:
            self.assertEqual(crowd.join(CROWD), CROWD, crowd.failed[:5])
            crowd.send_all(websocket.frame(TEXT, b"hello"))
            self.assertEqual(set(crowd.hear_all(7)), {b"\x81\x05hello"})
            until("all are counted", lambda: server.status()["totals"]["connections"] == CROWD)

    def test_nothing_is_left_of_ten_thousand(self):
        many_files(CROWD + 500)
        server = self.websockets("$server->on('open', function ($server, $request) { $GLOBALS['open'] = ($GLOBALS['open'] ?? 0) + 1; }); $server->on('close', function ($server, $fd) { $GLOBALS['closed'] = ($GLOBALS['closed'] ?? 0) + 1; });" + ECHO)
        worker = self.worker(server)
        look = "gc_collect_cycles(); return [memory_get_usage(), Coroutine::stats()['coroutine_num'], $GLOBALS['open'] ?? 0, $GLOBALS['closed'] ?? 0, count(iterator_to_array($server->connections))];"
        descriptors = lambda: len(os.listdir(f"/proc/{worker}/fd"))

        def round_of(count):
            with Crowd(server.port) as crowd:
                self.assertEqual(crowd.join(count), count, crowd.failed[:5])
                crowd.send_all(websocket.frame(TEXT, b"hello"))
                self.assertEqual(set(crowd.hear_all(7)), {b"\x81\x05hello"})
                third = count // 3
                for sock in crowd.sockets[:third]:
                    sock.sendall(websocket.closing(1000))
                for sock in crowd.sockets[third : 2 * third]:
                    WebSocket(sock).reset()
                del crowd.sockets[third : 2 * third]
            until("all are gone", lambda: server.status()["totals"]["connections"] <= 1)
        # Memory pools are as large as they will ever be.
        round_of(2000)
        before, files = self.php(server, look), descriptors()
        for _ in range(5):
            round_of(2000)
        after = until("the last closes are told", lambda: (now := self.php(server, look))[3] == 12000 and now)
        self.assertEqual(after[1:], [1, 12000, 12000, 1])
        self.assertLess(after[0] - before[0], 50_000)
        self.assertLessEqual(descriptors() - files, 1)

    def test_connections_that_come_and_go_at_once(self):
        server = self.websockets(NOTED)
        worker = self.worker(server)
        for _ in range(500):
            with server.connect() as client:
                client.send(websocket.request("/") + websocket.frame(TEXT, b"x"))
                WebSocket(client.sock).reset()
        until("none is left", lambda: server.status()["totals"]["connections"] <= 1)

        def counts():
            kinds = [kind for kind, *_ in self.events(server)]
            return kinds.count("open"), kinds.count("close")
        # Each that was opened is closed, and no other.
        until("the last close is told", lambda: (now := counts())[0] == now[1] > 0)
        self.assertEqual(server.workers(), [worker])


class Fuzz(WebSocketCase):
    """Seeded: APUS_FUZZ_SEED repeats a run, APUS_FUZZ_FRAMES says how long it is."""

    def garbage(self, chance):
        opcode = chance.choice((0, 1, 1, 2, 2, 8, 9, 10, chance.randrange(16)))
        payload = chance.randbytes(chance.choice((0, 1, 5, 125, 126, 127, 1000, chance.randrange(70000))))
        if chance.random() < 0.4:
            payload = "aä€🐦".encode() * (len(payload) // 10)
        if chance.random() < 0.2:
            payload = websocket.deflated(payload)
        if opcode >= 8 and chance.random() < 0.9:
            payload = payload[:125]
        options = {
            "fin": chance.random() < 0.7,
            "rsv": 4 if chance.random() < 0.2 else chance.choice((0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 7)),
        }
        if chance.random() < 0.03:
            options["mask"] = None
        if chance.random() < 0.03:
            options["length"] = chance.choice((0, 1, 200, 65536, 1 << 31, (1 << 63) - 1))
        data = websocket.frame(opcode, payload, **options)
        if chance.random() < 0.05:
            data = data[: chance.randrange(len(data) + 1)]
        if chance.random() < 0.05:
            data = bytearray(data)
            data[chance.randrange(len(data)) if data else 0 : 0] = chance.randbytes(3)
        return bytes(data)

    def drain(self, ws):
        """What the server says, as it comes; it may be anything but a broken frame."""
        ws.sock.settimeout(0)
        try:
            while True:
                ws.more()
        except (BlockingIOError, OSError, EOFError):
            pass
        finally:
            ws.sock.settimeout(PATIENCE)

    def test_random_frames_never_break_a_worker(self):
        seed = int(os.environ.get("APUS_FUZZ_SEED", random.randrange(1 << 32)))
        frames = int(os.environ.get("APUS_FUZZ_FRAMES", 20000))
        chance = random.Random(seed)
        server = self.websockets(ECHO + "$server->on('close', fn () => null);", settings={"websocket_compression": True, "websocket_context_takeover": seed % 2 == 0, "package_max_length": 200000, "websocket_compression_threshold": 10, "websocket_close_timeout": 0.2})
        worker, witness, said = self.worker(server), self.join(server), 0
        before = None
        while said < frames:
            with WebSocket.connect(server.port, extensions=chance.choice((None, "permessage-deflate", "permessage-deflate; server_max_window_bits=9"))) as ws:
                try:
                    for _ in range(chance.randrange(1, 40)):
                        data = self.garbage(chance)
                        said += 1
                        while data:
                            cut = len(data) if chance.random() < 0.7 else chance.randrange(1, len(data) + 1)
                            ws.raw(data[:cut])
                            data = data[cut:]
                        self.drain(ws)
                except OSError:
                    pass
                if chance.random() < 0.3:
                    ws.reset()
            if said // 5000 != (said - 40) // 5000:
                witness.send(PING, b"there?")
                self.assertEqual(witness.pong(), b"there?", f"seed {seed}")
                before = before or rss(worker)
        self.assertEqual(server.workers(), [worker], f"seed {seed}: {server.said()[-2000:]}")
        self.assertNotIn("panic", server.said(), f"seed {seed}")
        until("none is left", lambda: server.status()["totals"]["connections"] <= 2)
        self.assertLess(rss(worker) - before, 24 << 20, f"seed {seed}")
        self.assertEqual(self.php(server, "return Coroutine::stats()['coroutine_num'];"), 1)
        witness.send(TEXT, b"a", fin=False)
        witness.send(CONTINUATION, b"b")
        self.assertEqual(witness.text(), "ab")
