"""Apus\\Coroutine\\Http\\Client as a WebSocket (RFC 6455, RFC 7692)."""

import struct
import threading
import unittest

from http_client_peers import ClientCase, WebSocketPeer
from support import until

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class WebSockets(ClientCase):
    def websocket(self, handle, extension=None):
        """A server whose connections become WebSockets that `handle(ws)` speaks on."""

        def run(conn):
            head = conn.head()
            if head:
                handle(WebSocketPeer(conn, head[2], extension and extension(head[2].get("sec-websocket-extensions"))))

        return self.peer(run)

    def test_messages_go_and_come(self):
        heard = []

        def handle(ws):
            while (frame := ws.hear()) and frame[0] & 15 != CLOSE:
                heard.append((frame[0], len(frame[1])))
                ws.say(frame[0] & 15, frame[1])
            heard.append(frame)
            ws.say(CLOSE, frame[1])
            ws.gone()

        peer = self.websocket(handle)
        out = self.run_php(
            """
            $c = client(['timeout' => 10]);
            $out[] = [$c->upgrade('/chat'), $c->statusCode, $c->connected, $c->headers['upgrade']];
            foreach (['', 'text', 'ä🐦', str_repeat('x', 125), str_repeat('x', 126), str_repeat('y', 65536), str_repeat('z', 3_000_000)] as $text) {
                $c->push($text);
                $frame = $c->recv();
                $out[] = [$frame instanceof Frame, $frame->data === $text, $frame->opcode, $frame->flags, $frame->finish, $frame->fd > 0];
            }
            $c->push("\\xff\\x00", Apus\\WEBSOCKET_OPCODE_BINARY);
            $out[] = [bin2hex($c->recv()->data)];
            $frame = new Frame;
            $frame->data = 'from an object';
            $frame->opcode = Apus\\WEBSOCKET_OPCODE_BINARY;
            $out[] = [$c->push($frame), $c->recv()->data];
            $out[] = [thrown(fn() => $c->push("\\xff")), thrown(fn() => $c->push('x', 5)), thrown(fn() => $c->get('/')), thrown(fn() => $c->upgrade('/'))];
            $out[] = [$c->disconnect(3001, 'bye'), $c->connected, $c->push('more'), $c->errCode, $c->recv(), $c->errCode];
            """,
            peer.port,
        )
        self.assertEqual(out[0], [True, 101, True, "websocket"])
        self.assertEqual(out[1:8], [[True, True, TEXT, 1, True, True]] * 7)
        self.assertEqual(out[8:10], [["ff00"], [True, "from an object"]])
        self.assertIn("must be UTF-8", out[10][0])
        self.assertIn("no opcode", out[10][1])
        self.assertIn("speaks WebSocket", out[10][2])
        self.assertIn("speaks WebSocket", out[10][3])
        self.assertEqual(out[11], [True, False, False, 8503, False, 8503])
        self.assertEqual(heard[-1], (0x80 | CLOSE, struct.pack(">H", 3001) + b"bye"))
        self.assertEqual(peer.count, 1)

    def test_fragments_pings_and_the_servers_close(self):
        heard = []

        def handle(ws):
            ws.say(TEXT, "ä".encode()[:1], fin=False)
            ws.say(PING, b"there?")
            ws.say(PONG, b"unasked")
            ws.say(0, "ä".encode()[1:], fin=True)
            heard.append(ws.hear())
            heard.append(ws.hear())
            heard.append(ws.hear())
            ws.say(CLOSE, struct.pack(">H", 1001) + b"going")
            heard.append(ws.hear())
            ws.gone()

        peer = self.websocket(handle)
        code = """
            $c = client(SETTINGS);
            $c->upgrade('/');
            $out[] = $c->recv()->data;
            $out[] = $c->push('first ', flags: 0) && $c->push('second', Apus\\WEBSOCKET_OPCODE_CONTINUATION);
            $last = $c->recv();
            $out[] = is_string($last) ? [$last, $c->connected, $c->errCode, $c->errMsg] : [get_class($last), $last->code, $last->reason, $last->opcode, $c->connected];
            $out[] = [$c->recv(), $c->errCode];
            """
        out = self.run_php(code.replace("SETTINGS", "[]"), peer.port)
        self.assertEqual(out, ["ä", True, ["", False, 0, "the server closed the WebSocket: 1001 going"], [False, 8503]])
        until("the close frame was answered", lambda: len(heard) == 4)
        self.assertEqual(heard, [(0x80 | PONG, b"there?"), (TEXT, b"first "), (0x80, b"second"), (0x80 | CLOSE, struct.pack(">H", 1001))])
        out = self.run_php(code.replace("SETTINGS", "['open_websocket_close_frame' => true]"), peer.port)
        self.assertEqual(out[2:], [["Apus\\WebSocket\\CloseFrame", 1001, "going", CLOSE, False], [False, 8503]])

    def test_control_frames_for_the_program(self):
        heard = []

        def handle(ws):
            ws.say(PING, b"1")
            heard.append(ws.hear())
            heard.append(ws.hear())
            ws.say(PONG, b"3")
            ws.gone()

        peer = self.websocket(handle)
        out = self.run_php(
            """
            $c = client(['open_websocket_ping_frame' => true, 'open_websocket_pong_frame' => true]);
            $c->upgrade('/');
            $ping = $c->recv();
            $out[] = [$ping->opcode, $ping->data];
            $c->push('2', Apus\\WEBSOCKET_OPCODE_PONG);
            $c->ping('3');
            $pong = $c->recv();
            $out[] = [$pong->opcode, $pong->data];
            $out[] = thrown(fn() => $c->ping(str_repeat('x', 126)));
            """,
            peer.port,
        )
        self.assertEqual(out[:2], [[PING, "1"], [PONG, "3"]])
        self.assertIn("ValueError", out[2])
        self.assertEqual(heard, [(0x80 | PONG, b"2"), (0x80 | PING, b"3")])

    def test_a_server_that_breaks_the_protocol_is_left(self):
        frames = {
            "masked": (bytes([0x81, 0x81, 0, 0, 0, 0, 65]), 1002, 71),
            "reserved bit": (WebSocketPeer.frame(TEXT, b"x", rsv1=True), 1002, 71),
            "not UTF-8": (WebSocketPeer.frame(TEXT, b"\xff"), 1007, 71),
            "too large": (b"\x82\x7f" + struct.pack(">Q", 1 << 40), 1009, 90),
            "too large in fragments": (WebSocketPeer.frame(BINARY, bytes(60000), fin=False) + WebSocketPeer.frame(0, bytes(60000)), 1009, 90),
        }
        for name, (data, code, errno) in frames.items():
            heard = []

            def handle(ws, data=data, heard=heard):
                ws.send(data)
                heard.append(ws.hear())
                ws.gone()

            with self.subTest(name):
                peer = self.websocket(handle)
                out = self.run_php("$c = client(['package_max_length' => 100000]); $c->upgrade('/'); $out[] = [$c->recv(), $c->errCode, $c->statusCode, $c->connected, $c->push('x')];", peer.port)
                self.assertEqual(out, [[False, errno, -3, False, False]])
                until("the close frame was heard", lambda: heard)
                self.assertEqual((heard[0][0], heard[0][1][:2]), (0x80 | CLOSE, struct.pack(">H", code)))

    def test_the_handshake_is_checked(self):
        answers = {
            "/403": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
            "/key": b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
            "/none": b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            "/other": b"HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        }

        def handle(conn):
            method, target, fields = conn.head()
            assert (method, fields["upgrade"], fields["connection"], fields["sec-websocket-version"]) == ("GET", "websocket", "Upgrade", "13")
            conn.send(answers[target])
            conn.gone()

        peer = self.peer(handle)
        out = self.run_php("foreach (['/403', '/key', '/none', '/other'] as $p) { $c = client(); $out[] = [$c->upgrade($p), $c->statusCode, $c->errCode, $c->body]; } $out[] = thrown(fn() => $c->push('x'));", peer.port)
        self.assertEqual(out[:4], [[False, 403, 8504, "no"]] + [[False, -3, 8504, ""]] * 3)
        self.assertIn("call upgrade() first", out[4])

        def extension(ws):
            ws.gone()

        peer = self.websocket(extension, extension=lambda offer: "permessage-deflate")
        out = self.run_php("$c = client(); $out[] = [$c->upgrade('/'), $c->errCode];", peer.port)
        self.assertEqual(out, [[False, 8504]])

    def test_compression(self):
        heard = []

        def handle(ws):
            for _ in range(3):
                first, data = ws.hear()
                heard.append((first, data))
                packed = ws.compressed(data)
                ws.send(ws.frame(TEXT, packed[:3], fin=False, rsv1=True) + ws.frame(0, packed[3:]))
            ws.say(TEXT, b"plain")
            ws.say(BINARY, ws.compressed(bytes(10 << 20)), rsv1=True)
            ws.gone()

        peer = self.websocket(handle, extension=lambda offer: offer and "permessage-deflate")
        out = self.run_php(
            """
            $c = client(['websocket_compression' => true, 'package_max_length' => '1M']);
            $out[] = $c->upgrade('/');
            for ($i = 0; $i < 3; $i++) {
                $c->push(str_repeat('the same words again ', 100));
                $frame = $c->recv();
                $out[] = [strlen($frame->data), $frame->flags];
            }
            $frame = $c->recv();
            $out[] = [$frame->data, $frame->flags];
            $out[] = [$c->recv(), $c->errCode];
            """,
            peer.port,
        )
        self.assertEqual(out, [True, [2100, 7], [2100, 7], [2100, 7], ["plain", 1], [False, 90]])
        self.assertEqual(heard, [(0xC1, b"the same words again " * 100)] * 3)

    def test_time_outs_and_two_coroutines(self):
        def handle(ws):
            while frame := ws.hear():
                if frame[0] & 15 == CLOSE:
                    return ws.say(CLOSE, frame[1])
                ws.say(TEXT, frame[1])

        peer = self.websocket(handle)
        out = self.run_php(
            """
            $c = client(['timeout' => 20]);
            $c->upgrade('/');
            $out[] = [$c->recv(0.05), $c->errCode, $c->statusCode, $c->connected];
            // One receives while another sends.
            $cid = go(function () use ($c, &$out) {
                for ($i = 0; $i < 200; $i++) {
                    if ($c->recv()->data !== "message $i") {
                        $out[] = "not $i";
                    }
                }
                $out[] = 'all';
            });
            for ($i = 0; $i < 200; $i++) {
                $c->push("message $i");
            }
            Coroutine::join([$cid]);
            $cid = go(function () use ($c, &$out) { $out['ended'] = [$c->recv(), $c->errCode]; });
            $out['second'] = thrown(fn() => $c->recv());
            $out['request'] = thrown(fn() => $c->get('/'));
            Coroutine::cancel($cid);
            Coroutine::join([$cid]);
            $out[] = [$c->push('still there'), $c->recv()->data];
            $cid = go(function () use ($c, &$out) { $out['closed'] = [$c->recv(), $c->errCode, $c->connected]; });
            $out[] = $c->close();
            Coroutine::join([$cid]);
            """,
            peer.port,
        )
        self.assertEqual([out[k] for k in ("0", "1")], [[False, 110, -2, True], "all"])
        self.assertEqual(out["ended"], [False, 125])
        self.assertIn("ConflictException", out["second"])
        self.assertIn("Exception", out["request"])
        self.assertEqual([out["2"], out["3"], out["closed"]], [[True, "still there"], True, [False, 104, False]])

    def test_a_connection_that_breaks(self):
        def handle(ws):
            if ws.hear()[1] == b"reset":
                ws.reset()

        peer = self.websocket(handle)
        out = self.run_php("foreach (['cut', 'reset'] as $how) { $c = client(); $c->upgrade('/'); $c->push($how); $out[] = [$c->recv(), $c->errCode, $c->statusCode, $c->connected, $c->recv(), $c->errCode]; }", peer.port)
        self.assertEqual(out, [[False, 104, -3, False, False, 8503]] * 2)

    def test_a_slow_server_holds_the_sender_up_and_a_time_out_leaves_frames_whole(self):
        late = self.folder() / "late"
        sizes = []

        def handle(ws):
            until("push() gave up", late.exists)
            while (frame := ws.hear()) and frame[0] & 15 != CLOSE:
                sizes.append((len(frame[1]), set(frame[1])))
            ws.say(CLOSE, b"")

        peer = self.websocket(handle)
        out = self.run_php(
            """
            $c = client(['write_timeout' => 0.1]);
            $c->upgrade('/');
            $out[] = [$c->push(str_repeat('a', 30_000_000)), $c->errCode, $c->connected];
            touch(LATE);
            $c->set(['write_timeout' => -1]);
            $out[] = $c->push(str_repeat('b', 1000));
            $out[] = $c->disconnect();
            """,
            peer.port,
            late=str(late),
        )
        self.assertEqual(out, [[False, 110, True], True, True])
        until("both messages were heard", lambda: len(sizes) == 2)
        self.assertEqual(sizes, [(30_000_000, {97}), (1000, {98})])

    def test_a_server_that_takes_nothing_is_given_up(self):
        over = threading.Event()
        self.addCleanup(over.set)
        peer = self.websocket(lambda ws: over.wait(60))
        out = self.run_php(
            """
            $c = client(['write_timeout' => 0.01]);
            $c->upgrade('/');
            for ($i = 0; $i < 20 && $c->connected; $i++) {
                $c->push(str_repeat('a', 10_000_000));
            }
            $out[] = [$i < 12, $c->errCode, $c->connected];
            """,
            peer.port,
        )
        self.assertEqual(out, [[True, 105, False]])


if __name__ == "__main__":
    unittest.main()
