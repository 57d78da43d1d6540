"""Apus\\WebSocket\\Server: its events, in order and with their arguments, and its methods."""

from support import until
from websocket_cases import (
    BINARY,
    CLOSE,
    CONTINUATION,
    ECHO,
    NOTED,
    PING,
    PONG,
    TELL_FD,
    TEXT,
    WebSocketCase,
    websocket,
)

class Events(WebSocketCase):
    def test_http_and_websocket_share_a_port(self):
        server = self.websockets()
        self.assertEqual(server.get("/").body, b"http")
        ws = self.join(server)
        ws.say("one")
        self.assertEqual(server.get("/").body, b"http")
        ws.send(BINARY, b"\xff\x00")
        self.assertEqual(ws.message(), (TEXT, b"one"))
        self.assertEqual(ws.message(), (BINARY, b"\xff\x00"))
        with server.connect() as client:
            # A kept connection that was plain before becomes a WebSocket.
            self.assertEqual(client.request().body, b"http")
            again = websocket.WebSocket(client.sock)
            again.raw(websocket.request("/later"))
            again.greeted("dGhlIHNhbXBsZSBub25jZQ==", None, None)
            again.say("two")
            self.assertEqual(again.text(), "two")
            self.assertEqual(again.close(1000), (1000, ""))

    def test_events_come_in_order_with_their_arguments(self):
        code = r"""
        $server->on('open', function (...$with) {
            [$server, $request] = $with;
            note('open', count($with), get_class($server), get_class($request), $request->fd, $request->server['request_uri'], $request->get, $request->header['x-a'], $request->cookie, Coroutine::getCid() > 0);
        });
        $server->on('message', function (...$with) {
            [$server, $frame] = $with;
            note('message', count($with), get_class($frame), $frame->fd, $frame->data, $frame->opcode, $frame->flags, $frame->finish, Coroutine::getCid() > 0);
        });
        $server->on('close', function (...$with) {
            note('close', count($with), $with[1], $with[2], $with[0]->exist($with[1]), $with[0]->isEstablished($with[1]), Coroutine::getCid() > 0);
        });
        $server->on('disconnect', function (...$with) { note('disconnect', count($with)); });
        """
        server = self.websockets(code)
        ws = self.join(server, "/chat?user=7&x[]=1", headers={"X-A": "b", "Cookie": "c=d"})
        ws.say("text")
        ws.send(BINARY, b"bytes")
        self.assertEqual(ws.close(3001, "bye"), (3001, ""))
        events = self.events(server, 4, ("open", "message", "close"))
        fd = events[0][4]
        self.assertGreater(fd, 0)
        self.assertEqual(events[0], ["open", 2, "Apus\\WebSocket\\Server", "Apus\\Http\\Request", fd, "/chat", {"user": "7", "x": ["1"]}, "b", {"c": "d"}, True])
        self.assertEqual(events[1], ["message", 2, "Apus\\WebSocket\\Frame", fd, "text", TEXT, 1, True, True])
        self.assertEqual(events[2], ["message", 2, "Apus\\WebSocket\\Frame", fd, "bytes", BINARY, 1, True, True])
        self.assertEqual(events[3], ["close", 3, fd, 0, False, False, True])

    def test_disconnect_is_of_plain_connections_and_close_of_websockets(self):
        server = self.websockets(NOTED + "$server->on('disconnect', function (...$with) { note('disconnect', count($with), is_int($with[1])); });")
        server.get("/")
        self.events(server, 1, ("disconnect",))
        ws = self.join(server)
        ws.close()
        closed = self.events(server, 2, ("open", "close"))
        self.assertEqual([kind for kind, *_ in closed], ["open", "close"])
        self.assertEqual(closed[0][1], closed[1][1])
        self.assertTrue(all(event == ["disconnect", 2, True] for event in self.events(server, 2, ("disconnect",))))

    def test_a_server_without_open_and_close_events(self):
        server = self.websockets(ECHO)
        ws = self.join(server)
        ws.say("x")
        self.assertEqual(ws.text(), "x")
        self.assertEqual(ws.close(), (1000, ""))

    def test_exceptions_in_events_are_logged_and_the_connection_stays(self):
        server = self.websockets("$server->on('open', fn () => throw new LogicException('in open')); $server->on('message', fn ($server, $frame) => $frame->data === 'throw' ? throw new LogicException('in message') : $server->push($frame->fd, $frame->data)); $server->on('close', function ($server, $fd) { note('close'); throw new LogicException('in close'); });")
        worker = self.worker(server)
        ws = self.join(server)
        ws.say("throw")
        ws.say("after")
        self.assertEqual(ws.text(), "after")
        ws.close()
        self.events(server, 1, ("close",))
        for where in ("in open", "in message", "in close"):
            self.assertIn(where, server.said())
        self.assertEqual(server.workers(), [worker])

    def test_a_fatal_error_ends_its_worker_and_another_takes_over(self):
        code = "$server->on('message', fn ($server, $frame) => $server->push($frame->fd, $frame->data === 'die' ? str_repeat('x', 1 << 40) : $frame->data));" + "$server->on('close', fn () => note('close'));"
        server = self.websockets(code, settings={"max_wait_time": 2})
        first = self.worker(server)
        other, ws = self.join(server), self.join(server)
        ws.say("die")
        # Their worker leaves, which they are told.
        self.assertIn(other.closed()[0], (1001, 1011))
        self.assertIn(ws.closed()[0], (1001, 1011))
        until("another worker", lambda: server.workers() and first not in server.workers())
        again = self.join(server)
        again.say("x")
        self.assertEqual(again.text(), "x")
        self.assertIn("Allowed memory size", server.said())

    def test_open_comes_before_the_first_message_of_a_hasty_client(self):
        server = self.websockets("$server->on('open', function ($server, $request) { note('open', $request->fd); Coroutine::sleep(0.02); note('opened', $request->fd); }); $server->on('message', function ($server, $frame) { note('message', $frame->fd, $frame->data); $server->push($frame->fd, 'heard'); });")
        ws = self.join(server, before=websocket.frame(TEXT, b"hasty") + websocket.frame(TEXT, b"again"))
        self.assertEqual([ws.text(), ws.text()], ["heard", "heard"])
        events = self.events(server, 4)
        self.assertEqual(events[0][0], "open")
        self.assertEqual([e[2] for e in events if e[0] == "message"], ["hasty", "again"])


    def test_what_events_may_do_to_their_own_connection(self):
        code = r"""
        $server->on('open', function ($server, $request) {
            $fd = $request->fd;
            note('open', match ($request->server['request_uri']) {
                '/disconnect' => $server->disconnect($fd, 4001, 'not you'),
                '/close' => $server->close($fd),
                '/reset' => $server->close($fd, true),
                '/push' => $server->push($fd, 'welcome'),
                '/many' => array_sum(array_map(fn ($i) => (int) $server->push($fd, "$i"), range(1, 1000))),
            });
        });
        $server->on('message', function ($server, $frame) { note('message', $frame->data, $server->disconnect($frame->fd, 4002), $server->push($frame->fd, 'late')); });
        $server->on('close', function ($server, $fd) { note('close', $server->push($fd, 'x'), $server->disconnect($fd), $server->close($fd)); });
        """
        server = self.websockets(code)
        early = websocket.frame(TEXT, b"early")
        self.assertEqual(self.join(server, "/disconnect", before=early).closed(), (4001, "not you"))
        self.join(server, "/close", before=early).rest()
        self.join(server, "/reset", before=early).rest()
        events = self.events(server, 6)
        # What was said to a connection that its own open event ended is not heard.
        self.assertEqual(sorted(map(str, events)), sorted(map(str, [["open", True], ["close", False, False, False]] * 3)))
        ws = self.join(server, "/many")
        self.assertEqual([ws.text() for _ in range(1000)], [str(i) for i in range(1, 1001)])
        ws = self.join(server, "/push", before=early + early)
        self.assertEqual(ws.text(), "welcome")
        self.assertEqual(ws.closed()[0], 4002)
        self.assertEqual([e for e in self.events(server, 10) if e[0] == "message"], [["message", "early", True, False]])


class Pushing(WebSocketCase):
    def test_push_answers_and_what_arrives(self):
        server = self.websockets(TELL_FD + ECHO)
        ws = self.join(server)
        fd = self.fd(ws)
        out = self.php(server, r"""
            $frame = new Frame; $frame->data = 'frame'; $frame->opcode = Apus\WEBSOCKET_OPCODE_BINARY;
            return [$server->push($fd, 'text'), $server->push($fd, "\xff", Apus\WEBSOCKET_OPCODE_BINARY), $server->push($fd, $frame),
                $server->push($fd, ''), $server->push($fd, 'first ', 1, 0), $server->push($fd, 'second', 0, 1), $server->tryPush($fd, 'tried') === Apus\PUSH_SENT,
                $server->ping($fd, 'there?'), $server->push($fd, 'p', Apus\WEBSOCKET_OPCODE_PONG), $server->getLastError()];
        """, fd=fd)
        self.assertEqual(out, [True] * 9 + [0])
        self.assertEqual([ws.message() for _ in range(4)], [(TEXT, b"text"), (BINARY, b"\xff"), (BINARY, b"frame"), (TEXT, b"")])
        self.assertEqual(
            [ws.frame() for _ in range(5)],
            [
                (TEXT, b"first ", False, False),
                (CONTINUATION, b"second", True, False),
                (TEXT, b"tried", True, False),
                (PING, b"there?", True, False),
                (PONG, b"p", True, False),
            ],
        )

    def test_lengths_at_their_limits(self):
        server = self.websockets(TELL_FD + ECHO)
        ws = self.join(server)
        fd = self.fd(ws)
        for size in (0, 1, 125, 126, 127, 65535, 65536, 65537, 1 << 20):
            with self.subTest(size=size):
                data = bytes(i * 7 & 255 for i in range(min(size, 256))) * (size // 256 + 1)
                ws.send(BINARY, data[:size])
                self.assertEqual(ws.message(), (BINARY, data[:size]))
                self.assertTrue(self.php(server, "return $server->push($fd, str_repeat('x', $size));", fd=fd, size=size))
                self.assertEqual(ws.message(), (TEXT, b"x" * size))

    def test_what_is_no_websocket_gets_nothing(self):
        server = self.websockets(TELL_FD + ECHO)
        ws = self.join(server)
        gone = self.fd(ws)
        ws.close()
        ws.sock.close()
        until("it is gone", lambda: server.status()["totals"]["connections"] <= 1)
        out = self.php(server, r"""
            $all = [];
            foreach ([$gone, 999_999_999, 0, -1, PHP_INT_MAX, $GLOBALS['request']->fd] as $fd) {
                $all[] = [$server->push($fd, 'x'), $server->getLastError() !== 0, $server->tryPush($fd, 'x') === Apus\PUSH_GONE, $server->isEstablished($fd), $server->ping($fd), $server->disconnect($fd)];
            }
            return [$all, $server->exist($gone), $server->exist($GLOBALS['request']->fd)];
        """, gone=gone)
        self.assertEqual(out, [[[False, True, True, False, False, False]] * 6, False, True])

    def test_wrong_arguments_throw_and_send_nothing(self):
        server = self.websockets(TELL_FD + ECHO)
        ws = self.join(server)
        out = self.php(server, r"""
            return [thrown(fn () => $server->push($fd, 'x', 3)), thrown(fn () => $server->push($fd, 'x', 16)), thrown(fn () => $server->push($fd, 'x', -1)),
                thrown(fn () => $server->push($fd, "\xff")), thrown(fn () => $server->ping($fd, str_repeat('x', 126))), thrown(fn () => $server->disconnect($fd, 1006)),
                thrown(fn () => $server->disconnect($fd, 1000, str_repeat('x', 124))), thrown(fn () => $server->disconnect($fd, 1000, "\xff"))];
        """, fd=self.fd(ws))
        self.assertEqual([text for text in out if text is None], [], out)
        ws.say("still there")
        self.assertEqual(ws.message(), (TEXT, b"still there"))

    def test_close_frames(self):
        server = self.websockets(TELL_FD + ECHO + "$server->on('close', fn ($server, $fd) => note('close', $fd));")
        for code, sent in (("$server->disconnect($fd)", (1000, "")), ("$server->disconnect($fd, 4001, 'no more ä')", (4001, "no more ä")), ("$server->push($fd, $frame)", (3003, "by frame")), ("$server->push($fd, 'text', Apus\\WEBSOCKET_OPCODE_CLOSE)", (1000, "text")), ("$server->close($fd)", None)):
            with self.subTest(code):
                ws = self.join(server)
                fd = self.fd(ws)
                out = self.php(server, "$frame = new CloseFrame; $frame->code = 3003; $frame->reason = 'by frame'; return [%s, $server->isEstablished($fd), $server->push($fd, 'after')];" % code, fd=fd)
                self.assertEqual(out, [True, False, False])
                opcode, payload = ws.message()
                self.assertEqual(opcode, CLOSE)
                if sent:
                    self.assertEqual(websocket.code_of(payload), sent)
                ws.raw(websocket.frame(CLOSE, payload))
                self.assertEqual(ws.rest(), b"")
                ws.sock.close()
                until("it is reported", lambda: ["close", fd] in self.events(server))

    def test_the_connection_ends_with_the_closing_handshake(self):
        """A server closes first (RFC 6455 section 7.1.1): a client that keeps its side open holds nothing."""
        server = self.websockets(TELL_FD + ECHO + "$server->on('close', fn ($server, $fd) => note('close', $fd));", settings={"websocket_close_timeout": 3600})
        ws = self.join(server)
        fd = self.fd(ws)
        self.assertEqual(ws.close(1000), (1000, ""))
        self.assertEqual(self.events(server, 1), [["close", fd]])
        ws = self.join(server)
        fd = self.fd(ws)
        self.php(server, "return $server->disconnect($fd);", fd=fd)
        self.assertEqual(ws.closed(), (1000, ""))
        self.assertEqual(self.events(server, 2)[1], ["close", fd])

    def test_what_the_client_says_behind_the_servers_close_frame_is_not_heard(self):
        server = self.websockets(NOTED)
        ws = self.join(server)
        fd = self.events(server, 1)[0][1]
        self.php(server, "return $server->disconnect($fd, 1000);", fd=fd)
        self.assertEqual(ws.message()[0], CLOSE)
        ws.say("too late")
        ws.raw(websocket.closing(1000))
        self.assertEqual(ws.rest(), b"")
        self.assertEqual([e[0] for e in self.events(server, 2)], ["open", "close"])

    def test_client_information(self):
        server = self.websockets(TELL_FD + ECHO)
        ws = self.join(server)
        fd = self.fd(ws)
        out = self.php(server, "$i = $server->getClientInfo($fd); return [$i['websocket_status'], $i['remote_ip'], $i['remote_port'], $server->isEstablished($fd), $server->exist($fd), in_array($fd, iterator_to_array($server->connections), true), in_array($fd, $server->getClientList(0, 100), true)];", fd=fd)
        self.assertEqual(out, [3, "127.0.0.1", ws.sock.getsockname()[1], True, True, True, True])

    def test_pack_and_unpack(self):
        server = self.websockets(ECHO)
        out = self.php(server, r"$f = Server::unpack(Server::pack('hällo', 1)); return [bin2hex(Server::pack('Hello')), get_class($f), $f->data, $f->opcode, $f->finish, bin2hex(Server::pack('x', 2, 0))];")
        self.assertEqual(out, ["810548656c6c6f", "Apus\\WebSocket\\Frame", "hällo", 1, True, "020178"])


class ControlFrames(WebSocketCase):
    def test_pings_are_answered_and_not_shown(self):
        server = self.websockets(NOTED)
        ws = self.join(server)
        for payload in (b"", b"x", b"\x00\xff" * 62 + b"!"):
            ws.send(PING, payload)
            self.assertEqual(ws.pong(), payload)
        ws.send(PONG, b"unasked")
        ws.say("end")
        events = self.events(server, 2)
        self.assertEqual([(e[0], e[2:]) for e in events], [("open", []), ("message", [TEXT, "end"])])

    def test_they_are_shown_where_the_settings_say_so(self):
        shown = "$server->on('message', function ($server, $frame) { note('message', get_class($frame), $frame->opcode, $frame->data, $frame->code ?? null, $frame->reason ?? null); if ($frame->opcode === 9) { $server->push($frame->fd, 'own pong', 10); } });"
        server = self.websockets(shown + "$server->on('close', fn () => note('close'));", settings={"open_websocket_ping_frame": True, "open_websocket_pong_frame": True, "open_websocket_close_frame": True, "websocket_close_timeout": 2})
        ws = self.join(server)
        ws.send(PING, b"p")
        self.assertEqual(ws.pong(), b"own pong")
        ws.send(PONG, b"q")
        ws.raw(websocket.closing(3000, "bye"))
        self.assertEqual(
            self.events(server, 3)[:3],
            [
                ["message", "Apus\\WebSocket\\Frame", PING, "p", None, None],
                ["message", "Apus\\WebSocket\\Frame", PONG, "q", None, None],
                ["message", "Apus\\WebSocket\\CloseFrame", CLOSE, "", 3000, "bye"],
            ],
        )
        # However the program answers, the connection ends.
        ws.rest()
        self.events(server, 1, ("close",))
