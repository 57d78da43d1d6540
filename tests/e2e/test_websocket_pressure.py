"""Slow clients, many messages, dead peers: what is bounded, and what the program is told."""

import contextlib
import socket
import time

from support import rss, until
from websocket_cases import CLOSE, ECHO, PING, PONG, TELL_FD, TEXT, Crowd, WebSocketCase, websocket


class Slow(WebSocketCase):
    COLLECT = "$server->on('open', function ($server, $request) { $GLOBALS['fds'][] = $request->fd; }); $server->on('close', function ($server, $fd) { note('close', $fd); });" + ECHO

    def slow(self, server, count=1):
        """Clients that do not read, and their sessions."""
        held = [self.join(server, receive_buffer=8192) for _ in range(count)]
        fds = until("all are open", lambda: len(found := self.php(server, "return $GLOBALS['fds'] ?? [];")) >= count and found)
        return held, fds


class Many(Slow):
    # Their descriptors are more than the others' select() takes.
    alone = True

    def test_three_hundred_clients_that_never_read_do_not_grow_a_worker(self):
        limit, each = 24 << 20, 1 << 20
        for policy in ("wait", "drop", "close"):
            with self.subTest(policy):
                server = self.websockets(self.COLLECT, settings={"send_policy": policy, "buffer_output_size": each, "max_buffered_bytes": limit}, ini=["memory_limit=256M"])
                worker = self.worker(server)
                with Crowd(server.port) as crowd:
                    self.assertEqual(crowd.join(300, receive_buffer=8192), 300, crowd.failed)
                    until("all are open", lambda: len(self.php(server, "return $GLOBALS['fds'] ?? [];")) == 300)
                    before = rss(worker)
                    # 300 times 16 MB, in coroutines of their own: they wait with the policy "wait".
                    self.php(server, r"""
                        $GLOBALS['answers'] = ['true' => 0, 'false' => 0];
                        $data = str_repeat('x', 65536);
                        foreach ($GLOBALS['fds'] as $fd) {
                            go(function () use ($server, $fd, $data) {
                                for ($i = 0; $i < 256; $i++) {
                                    $GLOBALS['answers'][var_export($server->push($fd, $data), true)]++;
                                    if ($i % 16 === 0) { Coroutine::sleep(0); }
                                }
                                note('over', $fd);
                            });
                        }
                    """ + "return 1;")
                    if policy == "wait":
                        # Nobody reads: the counts stop, with all coroutines waiting.
                        counts = []
                        until("all wait", lambda: counts.append(self.php(server, "return $GLOBALS['answers']['true'];")) or counts[-6:] == [counts[-1]] * 6)
                        self.assertEqual(self.events(server, 0, ("over",)), [])
                        self.assertGreaterEqual(server.status()["totals"]["coroutines"], 300)
                    else:
                        self.events(server, 300, ("over",))
                    grown = rss(worker) - before
                    # 300 coroutines have stacks, too.
                    self.assertLess(grown, limit + (24 << 20), policy)
                    answers = self.php(server, "return $GLOBALS['answers'];")
                    self.assertGreater(answers["true"], 300)
                    if policy != "wait":
                        self.assertGreater(answers["false"], 1000)
                    # Others are served as if nothing was.
                    ws = self.join(server)
                    ws.say("still here")
                    self.assertEqual(ws.text(), "still here")
                    if policy == "close":
                        until("they were closed", lambda: len(self.events(server, 0, ("close",))) >= 300)
                # The crowd has left: every waiting push answers false.
                self.events(server, 300, ("over",))
                until("none is left", lambda: server.status()["totals"]["connections"] <= 2)
                self.assertEqual(self.php(server, "return Coroutine::stats()['coroutine_num'];"), 1)
                self.assertEqual(server.workers(), [worker])

    def test_pongs_that_nobody_reads_are_within_the_workers_limit_too(self):
        limit = 8 << 20
        server = self.websockets(ECHO, settings={"buffer_output_size": 2 << 20, "max_buffered_bytes": limit})
        worker = self.worker(server)
        pings = websocket.frame(PING, b"x" * 125) * 40000
        with Crowd(server.port) as crowd:
            self.assertEqual(crowd.join(200, receive_buffer=4096), 200, crowd.failed)
            before = rss(worker)
            for sock in crowd.sockets:
                sock.settimeout(0.05)
                # A server that stops reading, or closes, is right.
                with contextlib.suppress(OSError):
                    sock.sendall(pings)
            ws = self.join(server)
            ws.say("still here")
            self.assertEqual(ws.text(), "still here")
            self.assertLess(rss(worker) - before, limit + (16 << 20))
        self.assertEqual(server.workers(), [worker])


class Policies(Slow):
    def test_a_waiting_push_goes_on_when_the_client_reads(self):
        server = self.websockets(self.COLLECT, settings={"buffer_output_size": 65536})
        (ws,), (fd,) = self.slow(server)
        self.php(server, "go(function () use ($server, $fd) { $ok = 0; for ($i = 0; $i < 400; $i++) { $ok += $server->push($fd, str_pad((string) $i, 50000, '.')); } note('pushed', $ok); }); return 1;", fd=fd)
        self.assertEqual(self.events(server), [])
        for i in range(400):
            opcode, data = ws.message()
            self.assertEqual((opcode, len(data), data.split(b".")[0]), (TEXT, 50000, str(i).encode()))
        self.assertEqual(self.events(server, 1), [["pushed", 400]])

    def test_a_waiting_push_ends_when_the_client_goes(self):
        for how in ("close", "reset", "shutdown"):
            with self.subTest(how):
                server = self.websockets(self.COLLECT, settings={"buffer_output_size": 65536})
                (ws,), (fd,) = self.slow(server)
                self.php(server, "for ($c = 0; $c < 5; $c++) { go(function () use ($server, $fd) { $ok = true; for ($i = 0; $ok && $i < 10000; $i++) { $ok = $server->push($fd, str_repeat('x', 50000)); } note('pushed', $ok, $server->getLastError() !== 0); }); } return 1;", fd=fd)
                until("they wait", lambda: server.status()["totals"]["coroutines"] >= 5)
                if how == "reset":
                    ws.reset()
                elif how == "close":
                    ws.sock.close()
                else:
                    ws.sock.shutdown(socket.SHUT_RDWR)
                self.assertEqual(self.events(server, 5, ("pushed",)), [["pushed", False, True]] * 5)
                self.assertEqual(self.events(server, 1, ("close",)), [["close", fd]])

    def test_a_handler_that_waits_in_push_ends_when_the_client_goes_though_nothing_is_read(self):
        for concurrency in (1, 2):
            with self.subTest(concurrency):
                server = self.websockets("$server->on('close', fn () => note('close')); $server->on('message', function ($server, $frame) { $ok = true; for ($i = 0; $ok && $i < 10000; $i++) { $ok = $server->push($frame->fd, str_repeat('x', 50000)); } note('ended', $ok); });", settings={"buffer_output_size": 65536, "connection_concurrency": concurrency})
                ws = self.join(server, receive_buffer=8192)
                for _ in range(10):
                    ws.say("x")
                ws.exactly(10000)
                until("it waits", lambda: server.status()["totals"]["coroutines"] >= concurrency)
                ws.reset()
                ended = self.events(server, concurrency + 1)
                self.assertIn(["close"], ended)
                self.assertEqual([e for e in ended if e[0] == "ended"], [["ended", False]] * (len(ended) - 1))
                until("nothing is left", lambda: server.status()["totals"]["coroutines"] == 0)

    def test_pause_and_resume(self):
        server = self.websockets(self.COLLECT, settings={"websocket_ping_interval": 0.1, "websocket_ping_timeout": 0.2})
        (ws,), (fd,) = self.slow(server)
        self.assertTrue(self.php(server, "return $server->pause($fd);", fd=fd))
        ws.say("while paused")
        # Pings go unanswered for want of reading here: that is no death.
        self.php(server, "Coroutine::sleep(0.6); return 1;")
        self.assertEqual(self.php(server, "return [$server->isEstablished($fd), $server->resume($fd)];", fd=fd), [True, True])
        while (message := ws.frame())[0] == PING:
            ws.send(PONG, message[1])
        self.assertEqual(message[:2], (TEXT, b"while paused"))

    def test_a_waiting_push_is_cancelled_with_its_coroutine(self):
        server = self.websockets(self.COLLECT, settings={"buffer_output_size": 65536})
        (ws,), (fd,) = self.slow(server)
        cid = self.php(server, "return go(function () use ($server, $fd) { try { while ($server->push($fd, str_repeat('x', 50000))); note('answered'); } finally { note('finally'); } });", fd=fd)
        until("it waits", lambda: server.status()["totals"]["coroutines"] >= 1)
        self.assertTrue(self.php(server, "return Coroutine::cancel($cid);", cid=cid))
        self.assertIn(["finally"], self.events(server, 1))
        # The connection lives: what was accepted arrives whole.
        self.assertEqual(ws.message(), (TEXT, b"x" * 50000))

    def test_drop_says_so_and_later_messages_are_sent_again(self):
        server = self.websockets(self.COLLECT, settings={"send_policy": "drop", "buffer_output_size": 65536})
        (ws,), (fd,) = self.slow(server)
        out = self.php(server, r"""
            $seen = []; $error = 0;
            for ($i = 0; $i < 2000; $i++) {
                $answer = $server->tryPush($fd, str_pad((string) $i, 20000, '.'));
                $seen[$answer] = ($seen[$answer] ?? 0) + 1;
                if ($answer === Apus\PUSH_DROPPED) { $error = $server->getLastError(); break; }
            }
            return [$seen[Apus\PUSH_SENT] ?? 0, $seen[Apus\PUSH_BUFFERED] ?? 0, $seen[Apus\PUSH_DROPPED] ?? 0, $server->push($fd, 'dropped, too'), $error !== 0, $server->bufferedAmount($fd), $server->isEstablished($fd)];
        """, fd=fd)
        sent, buffered, dropped, pushed, error, amount, established = out
        self.assertGreater(sent, 0)
        self.assertGreater(buffered, 0)
        self.assertEqual((dropped, pushed, error, established), (1, False, True, True))
        self.assertTrue(20000 < amount <= 65536 + 20010, amount)
        for i in range(sent + buffered):
            self.assertEqual(ws.message()[1].split(b".")[0], str(i).encode())
        until("nothing waits", lambda: self.php(server, "return $server->bufferedAmount($fd);", fd=fd) == 0)
        self.assertTrue(self.php(server, "return $server->push($fd, 'again');", fd=fd))
        self.assertEqual(ws.text(), "again")

    def test_close_ends_the_slow_one(self):
        server = self.websockets(self.COLLECT, settings={"send_policy": "close", "buffer_output_size": 65536})
        (ws,), (fd,) = self.slow(server)
        out = self.php(server, "$i = 0; while ($server->push($fd, str_repeat('x', 20000)) && ++$i < 5000); return [$i, $server->isEstablished($fd), $server->push($fd, 'x')];", fd=fd)
        self.assertLess(out[0], 5000)
        self.assertEqual(out[1:], [False, False])
        self.assertEqual(self.events(server, 1), [["close", fd]])
        ws.rest()

    def test_events_tell_of_full_and_empty_buffers(self):
        code = self.COLLECT + "$server->on('bufferfull', function (...$with) { note('full', count($with), $with[1]); }); $server->on('bufferempty', function (...$with) { note('empty', count($with), $with[1], $with[0]->bufferedAmount($with[1])); });"
        server = self.websockets(code, settings={"send_policy": "drop", "buffer_output_size": 1 << 20, "buffer_high_watermark": 200000, "buffer_low_watermark": 50000})
        (ws,), (fd,) = self.slow(server)
        for turn in (1, 2):
            sent = self.php(server, r"$i = 0; while ($server->bufferedAmount($fd) < 300000) { $server->push($fd, str_repeat('x', 20000)); $i++; } return $i;", fd=fd)
            self.assertEqual(self.events(server, 2 * turn - 1)[-1], ["full", 2, fd])
            for _ in range(sent):
                ws.message()
            last = self.events(server, 2 * turn)[-1]
            self.assertEqual(last[:3], ["empty", 2, fd])
            self.assertLessEqual(last[3], 50000)
        self.assertEqual(len(self.events(server)), 4)


class Concurrency(WebSocketCase):
    CODE = "$server->on('message', function ($server, $frame) { note('in', $frame->data); Coroutine::sleep((10 - (int) $frame->data % 10) / 1000); note('out', $frame->data); $server->push($frame->fd, $frame->data); });"

    def test_one_at_a_time_keeps_the_order(self):
        server = self.websockets(self.CODE, settings={"connection_concurrency": 1})
        ws, other = self.join(server), self.join(server)
        for i in range(30):
            ws.say(str(i))
        # Another connection has its own turn.
        other.say("1000")
        self.assertEqual(other.text(), "1000")
        self.assertEqual([ws.text() for _ in range(30)], [str(i) for i in range(30)])
        mine = [e for e in self.events(server) if e[1] != "1000"]
        self.assertEqual(mine, [[kind, str(i)] for i in range(30) for kind in ("in", "out")])

    def test_messages_that_never_wait_stay_in_order_whatever_the_setting(self):
        server = self.websockets(ECHO)
        ws = self.join(server)
        ws.raw(b"".join(websocket.frame(TEXT, str(i).encode()) for i in range(5000)))
        self.assertEqual([ws.text() for _ in range(5000)], [str(i) for i in range(5000)])

    def test_many_at_once_and_no_more_than_the_setting(self):
        code = "$server->on('message', function ($server, $frame) { static $now = 0, $most = 0; $most = max($most, ++$now); $GLOBALS['most'] = $most; $GLOBALS['now'] = $now; while (!file_exists(__DIR__ . '/go')) { Coroutine::sleep(0.005); } $now--; $server->push($frame->fd, $frame->data); });"
        server = self.websockets(code, settings={"connection_concurrency": 8})
        ws = self.join(server)
        ws.raw(b"".join(websocket.frame(TEXT, str(i).encode()) for i in range(50)))
        until("eight are handled", lambda: self.php(server, "return $GLOBALS['now'] ?? 0;") == 8)
        (server.folder / "go").touch()
        self.assertEqual(sorted(int(ws.text()) for _ in range(50)), list(range(50)))
        self.assertEqual(self.php(server, "return $GLOBALS['most'];"), 8)

    def test_reading_stops_while_handlers_wait(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { while (!file_exists(__DIR__ . '/go')) { Coroutine::sleep(0.01); } $server->push($frame->fd, (string) strlen($frame->data)); });", settings={"connection_concurrency": 2})
        worker = self.worker(server)
        ws = self.join(server)
        before = rss(worker)
        data = websocket.frame(TEXT, b"x" * 100000)
        ws.sock.settimeout(0.5)
        sent, rest = 0, data
        try:
            while sent < 1000:
                ws.raw(rest)
                sent, rest = sent + 1, data
            self.fail("the server read 100 MB while nobody handled them")
        except TimeoutError:
            pass
        # sendall() does not tell how much of the last frame left: it is not counted, and the connection is done with.
        self.assertLess(rss(worker) - before, 8 << 20)
        (server.folder / "go").touch()
        ws.sock.settimeout(30)
        self.assertEqual([ws.text() for _ in range(sent)], ["100000"] * sent)

    def test_one_client_cannot_fill_the_programs_memory(self):
        """Large messages whose handlers wait: what one connection may make the program hold is bounded in bytes,
        too."""
        for settings in ({}, {"websocket_compression": True, "websocket_compression_level": 1}):
            with self.subTest(settings):
                server = self.websockets("$server->on('message', fn ($server, $frame) => $server->push($frame->fd, $frame->data . random_bytes(100000), 2));", settings=settings, ini=["memory_limit=128M"])
                worker = self.worker(server)
                ws = self.join(server, receive_buffer=4096, extensions="permessage-deflate")
                ws.sock.settimeout(1)
                large = bytes(8 << 20)
                data = websocket.frame(2, websocket.deflated(large), rsv=4) if settings else websocket.frame(2, large)
                with contextlib.suppress(OSError):
                    for _ in range(40):
                        ws.raw(data)
                sizes = []
                # Whatever the server does with them, it is done when its memory stands still.
                until(
                    "it is done",
                    lambda: server.workers() != [worker] or sizes.append(rss(worker)) or sizes[-8:] == [sizes[-1]] * 8,
                )
                other = self.join(server)
                other.say("still here")
                self.assertTrue(other.message()[1].startswith(b"still here"))
                self.assertEqual(server.workers(), [worker])
                self.assertNotIn("Allowed memory size", server.said())

    def test_pings_are_answered_while_handlers_wait(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { while (!file_exists(__DIR__ . '/go')) { Coroutine::sleep(0.01); } });", settings={"connection_concurrency": 4})
        ws = self.join(server)
        ws.say("x")
        ws.send(PING, b"p")
        self.assertEqual(ws.pong(), b"p")
        (server.folder / "go").touch()


class DeadPeers(WebSocketCase):
    CODE = "$server->on('open', fn ($server, $request) => note('open', $request->fd)); $server->on('close', fn ($server, $fd) => note('close', $fd));" + ECHO
    FAST = {"websocket_ping_interval": 0.2, "websocket_ping_timeout": 0.3}

    def test_silent_clients_are_pinged_and_those_that_answer_stay(self):
        server = self.websockets(self.CODE, settings=self.FAST)
        ws = self.join(server)
        for _ in range(4):
            opcode, payload, *_ = ws.frame()
            self.assertEqual(opcode, PING)
            ws.send(PONG, payload)
        ws.say("alive")
        self.assertIn((TEXT, b"alive"), [ws.frame()[:2] for _ in range(2)])
        self.assertEqual([e[0] for e in self.events(server)], ["open"])

    def test_a_dead_peer_is_removed_and_the_program_told(self):
        server = self.websockets(self.CODE, settings=self.FAST)
        dead, talking = self.join(server), self.join(server)

        def removed():
            # Anything that comes is a sign of life, not only a pong.
            talking.say("x")
            while talking.frame()[0] == PING:
                pass
            time.sleep(0.05)
            return self.events(server, 0, ("close",))
        # It reads nothing and says nothing, as a machine without power does.
        until("it is removed", removed)
        self.assertEqual(self.php(server, "return count(iterator_to_array($server->connections));"), 2)
        opens = [e[1] for e in self.events(server, 0, ("open",))]
        self.assertEqual(self.events(server, 1, ("close",)), [["close", opens[0]]])
        self.assertIn(PING, [dead.frame()[0]])
        dead.rest()

    def test_none_are_sent_when_switched_off(self):
        server = self.websockets(self.CODE, settings={"websocket_ping_interval": 0, "keepalive_timeout": 1})
        ws = self.join(server)
        ws.sock.settimeout(1.5)
        with self.assertRaises(TimeoutError):
            ws.frame()
        ws.sock.settimeout(30)
        ws.say("x")
        self.assertEqual(ws.text(), "x")

    def test_a_client_that_does_not_answer_the_close_frame(self):
        server = self.websockets(self.CODE, settings={"websocket_close_timeout": 0.3})
        ws = self.join(server)
        fd = self.events(server, 1)[0][1]
        self.php(server, "return $server->disconnect($fd, 4000);", fd=fd)
        opcode, payload = ws.message()
        self.assertEqual((opcode, websocket.code_of(payload)), (CLOSE, (4000, "")))
        self.assertEqual(ws.rest(), b"")
        self.assertEqual(self.events(server, 2)[1], ["close", fd])

    def test_a_client_that_takes_forever_to_read_is_let_go(self):
        server = self.websockets(self.CODE, settings={"send_timeout": 0.5, "buffer_output_size": 65536, "websocket_ping_interval": 0})
        ws = self.join(server, receive_buffer=4096)
        fd = self.events(server, 1)[0][1]
        self.php(server, "go(function () use ($server, $fd) { while ($server->push($fd, str_repeat('x', 60000))); note('ended'); }); return 1;", fd=fd)
        self.assertEqual(sorted(e[0] for e in self.events(server, 3)), ["close", "ended", "open"])
