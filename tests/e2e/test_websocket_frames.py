"""Frames and messages (RFC 6455 sections 5 to 7, RFC 7692): what a server must take, and what it must not."""

import struct
import zlib

from support import rss, until
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
    WebSocket,
    WebSocketCase,
    websocket,
)

frame, closing = websocket.frame, websocket.closing


class Fragments(WebSocketCase):
    def test_messages_in_parts(self):
        server = self.websockets(settings={"package_max_length": 1 << 20})
        ws = self.join(server)
        parts = {
            "two": [b"a", b"b"],
            "empty first": [b"", b"ab"],
            "empty last": [b"ab", b""],
            "all empty": [b"", b"", b""],
            "many": [bytes([65 + i % 26]) for i in range(3000)],
            "large": [b"x" * 70000, b"y" * 70000, b"z"],
        }
        for name, pieces in parts.items():
            for opcode in (TEXT, BINARY):
                with self.subTest(name, opcode=opcode):
                    for i, piece in enumerate(pieces):
                        ws.send(CONTINUATION if i else opcode, piece, fin=i == len(pieces) - 1)
                    self.assertEqual(ws.message(), (opcode, b"".join(pieces)))

    def test_control_frames_between_them(self):
        server = self.websockets()
        ws = self.join(server)
        ws.raw(
            frame(TEXT, b"a", fin=False)
            + frame(PING, b"1")
            + frame(CONTINUATION, b"b", fin=False)
            + frame(PONG, b"2")
            + frame(PING, b"3")
            + frame(CONTINUATION, b"c")
        )
        self.assertEqual(ws.message(), (TEXT, b"abc"))
        self.assertEqual(ws.controls, [(PONG, b"1"), (PONG, b"3")])
        # A ping is answered before the message around it is whole.
        ws.send(TEXT, b"begun", fin=False)
        ws.send(PING, b"now")
        self.assertEqual(ws.pong(), b"now")
        ws.send(CLOSE, struct.pack(">H", 1000))
        self.assertEqual(ws.closed(answer=False), (1000, ""))

    def test_bytes_may_come_one_by_one(self):
        server = self.websockets(settings={"websocket_compression": True, "websocket_compression_threshold": 0})
        ws = self.join(server, extensions="permessage-deflate")
        data = (
            frame(TEXT, "ä€🐦".encode(), mask=b"\xf0\x0f\x55\xaa")
            + frame(BINARY, bytes(range(256)) * 2)
            + frame(PING, b"p")
            + frame(TEXT, websocket.deflated(b"packed" * 40), rsv=4)
        )
        for byte in data:
            ws.raw(bytes([byte]))
        self.assertEqual(
            [ws.message() for _ in range(3)],
            [(TEXT, "ä€🐦".encode()), (BINARY, bytes(range(256)) * 2), (TEXT, b"packed" * 40)],
        )
        self.assertEqual(ws.controls, [(PONG, b"p")])

    def test_utf_8_may_be_cut_anywhere(self):
        server = self.websockets()
        ws = self.join(server)
        text = "aä€🐦\0\x7f\u07ff\u0800\uffff\U00010000\U0010ffff".encode()
        for cut in range(len(text) + 1):
            for second in range(cut, len(text) + 1):
                ws.raw(
                    frame(TEXT, text[:cut], fin=False)
                    + frame(CONTINUATION, text[cut:second], fin=False)
                    + frame(CONTINUATION, text[second:])
                )
                self.assertEqual(ws.message(), (TEXT, text), (cut, second))

    def test_any_mask(self):
        ws = self.join(self.websockets())
        for mask in (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x00\x00\x00\x01", b"\x80\x00\x00\x00"):
            for size in (*range(0, 40), 126, 4099):
                data = bytes(i & 255 for i in range(size))
                ws.send(BINARY, data, mask=mask)
                self.assertEqual(ws.message(), (BINARY, data))


class Violations(WebSocketCase):
    """Each ends its own connection, with the code the RFC names; the program sees nothing of it."""

    def judged(self, server, data, **options):
        with WebSocket.connect(server.port, **options) as ws:
            ws.raw(data)
            return ws.closed()[0]

    BAD = {
        "unmasked": (frame(TEXT, b"x", mask=None), 1002),
        "unmasked ping": (frame(PING, b"x", mask=None), 1002),
        "unmasked close": (frame(CLOSE, b"\x03\xe8", mask=None), 1002),
        "RSV1": (frame(TEXT, b"x", rsv=4), 1002),
        "RSV2": (frame(TEXT, b"x", rsv=2), 1002),
        "RSV3": (frame(TEXT, b"x", rsv=1), 1002),
        "RSV1 on a ping": (frame(PING, b"x", rsv=4), 1002),
        "continuation of nothing": (frame(CONTINUATION, b"x"), 1002),
        "last continuation of nothing": (frame(CONTINUATION, b"x", fin=False), 1002),
        "text within text": (frame(TEXT, b"x", fin=False) + frame(TEXT, b"y"), 1002),
        "binary within text": (frame(TEXT, b"x", fin=False) + frame(BINARY, b"y", fin=False), 1002),
        "continuation after the last": (frame(TEXT, b"x", fin=False) + frame(CONTINUATION, b"y") + frame(CONTINUATION, b"z"), 1002),
        "fragmented ping": (frame(PING, b"x", fin=False), 1002),
        "fragmented close": (frame(CLOSE, b"\x03\xe8", fin=False), 1002),
        "ping of 126 bytes": (frame(PING, b"x" * 126), 1002),
        "close of 126 bytes": (frame(CLOSE, b"\x03\xe8" + b"x" * 124), 1002),
        "ping with an eight byte length": (frame(PING, b"", length=65536, size=8), 1002),
        "length with the highest bit": (frame(BINARY, b"", length=1 << 63, size=8), 1002),
        "length written in two bytes needlessly": (frame(BINARY, b"x" * 10, size=2), 1002),
        "length written in eight bytes needlessly": (frame(BINARY, b"x" * 300, size=8), 1002),
        "close of one byte": (frame(CLOSE, b"\x03"), 1002),
        "close reason that is not UTF-8": (closing(1000, b"\xff"), 1007),
        "text that is not UTF-8": (frame(TEXT, b"\xff"), 1007),
        "text that ends within a character": (frame(TEXT, "€".encode()[:2]), 1007),
        "surrogates": (frame(TEXT, b"\xed\xa0\x80"), 1007),
        "overlong": (frame(TEXT, b"\xc0\xaf"), 1007),
        "beyond Unicode": (frame(TEXT, b"\xf4\x90\x80\x80"), 1007),
        "fragments that end within a character": (frame(TEXT, "€".encode()[:1], fin=False) + frame(CONTINUATION, "€".encode()[1:2]), 1007),
        **{f"opcode {n}": (frame(n, b"x"), 1002) for n in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
        **{f"close code {n}": (closing(n), 1002) for n in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)},
    }

    def test_frames_that_must_not_be(self):
        server = self.websockets("$server->on('message', fn ($server, $frame) => note('message', $frame->data)); $server->on('close', fn () => note('close'));")
        worker, witness = self.worker(server), self.join(server)
        for name, (data, code) in self.BAD.items():
            with self.subTest(name):
                self.assertEqual(self.judged(server, data), code)
        events = self.events(server, len(self.BAD) + 1)
        # "xy" was whole before the frame that was wrong.
        self.assertEqual([e for e in events if e[0] == "message"], [["message", "xy"]])
        self.assertEqual(len([e for e in events if e[0] == "close"]), len(self.BAD))
        witness.send(PING, b"there?")
        self.assertEqual(witness.pong(), b"there?")
        self.assertEqual(server.workers(), [worker])

    def test_what_comes_behind_a_wrong_frame_is_not_looked_at(self):
        server = self.websockets(NOTED)
        self.assertEqual(self.judged(server, frame(3, b"x") + frame(TEXT, b"behind") + frame(TEXT, b"\xff") * 1000), 1002)
        self.assertEqual([e[0] for e in self.events(server, 2)], ["open", "close"])

    def test_wrong_text_is_noticed_before_it_has_all_come(self):
        server = self.websockets()
        for data in (
            frame(TEXT, b"ab\xff", fin=False),
            frame(TEXT, b"ok", fin=False) + frame(CONTINUATION, b"\xc0", fin=False),
            frame(TEXT, b"\xff" + b"x" * 70000)[:5000],
        ):
            self.assertEqual(self.judged(server, data), 1007)

    def test_close_codes_come_back(self):
        server = self.websockets(ECHO + "$server->on('close', fn () => note('close'));")
        for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999):
            with self.subTest(code):
                ws = self.join(server)
                self.assertEqual(ws.close(code, "reason ä")[0], code)
        ws = self.join(server)
        ws.raw(closing())
        self.assertEqual(ws.closed(answer=False)[0], None)
        self.events(server, 17)

    def test_frames_behind_a_close_frame_are_ignored(self):
        server = self.websockets(NOTED)
        ws = self.join(server)
        ws.raw(closing(1000) + frame(TEXT, b"late") + frame(PING, b"late"))
        self.assertEqual(ws.closed(answer=False), (1000, ""))
        self.assertEqual([e[0] for e in self.events(server, 2)], ["open", "close"])


class Limits(WebSocketCase):
    def test_messages_beyond_the_limit(self):
        server = self.websockets(settings={"package_max_length": 10000})
        for size in (9999, 10000):
            ws = self.join(server)
            ws.send(BINARY, bytes(size))
            self.assertEqual(len(ws.message()[1]), size)
        bad = {
            "one frame": frame(BINARY, bytes(10001)),
            "its head is enough": frame(BINARY, b"", length=10001),
            "4 GiB": frame(BINARY, b"", length=1 << 32),
            "in fragments": frame(BINARY, bytes(6000), fin=False) + frame(CONTINUATION, bytes(6000), fin=False),
            "in very many": frame(BINARY, b"", fin=False) + frame(CONTINUATION, b"x", fin=False) * 10001,
        }
        for name, data in bad.items():
            with self.subTest(name):
                ws = self.join(server)
                ws.raw(data)
                self.assertEqual(ws.closed()[0], 1009)

    def test_a_head_that_promises_much_takes_no_memory(self):
        server = self.websockets(settings={"package_max_length": 1 << 30})
        worker = self.worker(server)
        before = rss(worker)
        held = [self.join(server) for _ in range(50)]
        for ws in held:
            ws.raw(frame(BINARY, b"x" * 10, length=1 << 29))
            ws.raw(b"y" * 100)
        until("it was read", lambda: server.get("/").body == b"http")
        self.assertLess(rss(worker) - before, 16 << 20)

    def bomb(self, size):
        """A message that is that much larger than its bytes."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        mebibyte = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
        return (mebibyte * (size >> 20))[:-4]

    def test_an_inflate_bomb_stays_within_the_limit(self):
        server = self.websockets(settings={"websocket_compression": True, "package_max_length": 4 << 20})
        worker, data = self.worker(server), self.bomb(1 << 30)
        self.assertLess(len(data), 2 << 20)
        before = rss(worker)
        for pieces in (1, 7):
            ws = self.join(server, extensions="permessage-deflate")
            step = len(data) // pieces + 1
            # The server may close before it has read all.
            try:
                for i in range(pieces):
                    ws.send(
                        CONTINUATION if i else BINARY,
                        data[i * step : (i + 1) * step],
                        fin=i == pieces - 1,
                        rsv=0 if i else 4,
                    )
            except OSError:
                pass
            self.assertEqual(ws.closed(answer=False)[0], 1009)
        peak = next(int(line.split()[1]) * 1024 for line in open(f"/proc/{worker}/status") if line.startswith("VmHWM:"))
        self.assertLess(peak - before, 32 << 20)
        ws = self.join(server, extensions="permessage-deflate")
        ws.send(BINARY, self.bomb(4 << 20), rsv=4)
        self.assertEqual(ws.message()[1], bytes(4 << 20))

    def referring(self, words):
        """A compressed message that repeats what was never sent."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=words)
        return (packer.compress(words) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]

    def test_broken_compressed_messages(self):
        server = self.websockets(settings={"websocket_compression": True})
        good = websocket.deflated(b"some words, some words, some words")
        bad = {
            "no deflate": frame(TEXT, b"\xff\xff\xff\xff\xff", rsv=4),
            "bits are wrong": frame(TEXT, bytes([good[0] ^ 6]) + good[1:], rsv=4),
            "a distance before the beginning": frame(TEXT, self.referring(b"some words, some words"), rsv=4),
            "not UTF-8": frame(TEXT, websocket.deflated(b"\xff\xfe"), rsv=4),
            "RSV1 on a continuation": frame(TEXT, good[:5], fin=False, rsv=4) + frame(CONTINUATION, good[5:], rsv=4),
        }
        for name, data in bad.items():
            with self.subTest(name):
                ws = self.join(server, extensions="permessage-deflate")
                ws.raw(data)
                self.assertIn(ws.closed()[0], (1002, 1007))
        ws = self.join(server, extensions="permessage-deflate")
        ws.send(TEXT, websocket.deflated(b"fine"), rsv=4)
        # Uncompressed ones are fine, too; an empty one of both kinds.
        ws.send(TEXT, b"plain")
        ws.send(TEXT, b"\x00", rsv=4)
        ws.send(TEXT, b"")
        self.assertEqual([ws.text() for _ in range(4)], ["fine", "plain", "", ""])

    def test_compression_where_it_is_worth_it(self):
        server = self.websockets(TELL_FD + ECHO, settings={"websocket_compression": True, "websocket_compression_threshold": 100})
        ws = self.join(server, extensions="permessage-deflate")
        fd = self.fd(ws)
        text = "again and again " * 20
        for size, flags, packed in ((99, 1, False), (100, 1, True), (50, 3, True), (200, 3, True)):
            with self.subTest(size=size, flags=flags):
                self.assertTrue(self.php(server, "return $server->push($fd, $data, 1, $flags);", fd=fd, data=text[:size], flags=flags))
                opcode, payload, fin, compressed = ws.frame()
                self.assertEqual((opcode, fin, compressed), (TEXT, True, packed))
                if packed:
                    payload = zlib.decompressobj(-15).decompress(payload + b"\0\0\xff\xff")
                self.assertEqual(payload.decode(), text[:size])
        # Control frames and those of clients that did not agree never are.
        plain = self.join(server)
        self.php(server, "return $server->push($fd, $data, 1, 3);", fd=self.fd(plain), data=text)
        self.assertEqual(plain.text(), text)

    def test_context_takeover_makes_repeated_messages_small(self):
        server = self.websockets(TELL_FD + ECHO, settings={"websocket_compression": True, "websocket_context_takeover": True, "websocket_compression_threshold": 0})
        ws = self.join(server, extensions="permessage-deflate")
        fd = self.fd(ws)
        text = "".join(chr(65 + i * i % 57) for i in range(2000))
        sizes = []
        for _ in range(3):
            self.php(server, "return $server->push($fd, $data);", fd=fd, data=text)
            _, payload, _, compressed = ws.frame()
            self.assertTrue(compressed)
            sizes.append(len(payload))
            self.assertEqual(ws.inflate.decompress(payload + b"\0\0\xff\xff").decode(), text)
        self.assertLess(sizes[1], 100)
        # The client's context is kept, too.
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        for _ in range(3):
            ws.send(TEXT, (packer.compress(text.encode()) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4], rsv=4)
            self.assertEqual(ws.text(), text)

    def test_a_flood_of_pings_that_nobody_reads(self):
        server = self.websockets()
        worker = self.worker(server)
        ws = self.join(server, receive_buffer=4096)
        before = rss(worker)
        ws.sock.settimeout(1)
        pings = frame(PING, b"x" * 125) * 1000
        try:
            for _ in range(300):
                ws.raw(pings)
        except OSError:
            # It stopped reading, or closed.
            pass
        other = self.join(server)
        other.say("x")
        self.assertEqual(other.text(), "x")
        self.assertLess(rss(worker) - before, 16 << 20)


class Sequences(WebSocketCase):
    """What a program may not send, it does not."""

    def push(self, server, fd, *frames):
        """Pushes (data, opcode, flags) one after the other; what each gave."""
        return self.php(server, "return array_map(fn ($f) => thrown(function () use ($server, $fd, $f, &$was) { $was = $server->push($fd, ...$f); }) ?? $was, $frames);", fd=fd, frames=frames)

    def test_fragments_come_in_their_order_or_not_at_all(self):
        server = self.websockets(TELL_FD)
        ws = self.join(server)
        fd = self.fd(ws)
        answers = self.push(
            server,
            fd,
            ["lost", CONTINUATION, 1],
            ["one ", TEXT, 0],
            ["whole", TEXT, 1],
            ["bytes", BINARY, 0],
            ["?", PING, 1],
            ["two ", CONTINUATION, 0],
            ["three", CONTINUATION, 1],
            ["more", CONTINUATION, 1],
            ["whole", TEXT, 1],
        )
        told = [answer if isinstance(answer, bool) else answer.split(": ", 1)[1][:30] for answer in answers]
        early, second = "a continuation frame may only ", "the fragments of another messa"
        self.assertEqual(told, [early, True, second, second, True, True, True, early, True])
        self.assertTrue(all("Apus\\Client\\Exception" in answer and "RFC 6455 section 5.4" in answer for answer in answers if answer is not True))
        self.assertEqual(
            [ws.frame()[:3] for _ in range(5)],
            [
                (TEXT, b"one ", False),
                (PING, b"?", True),
                (CONTINUATION, b"two ", False),
                (CONTINUATION, b"three", True),
                (TEXT, b"whole", True),
            ],
        )

    def test_fragments_of_a_text_are_utf_8_together(self):
        server = self.websockets(TELL_FD)
        ws = self.join(server)
        fd = self.fd(ws)
        answers = self.php(server, r"""return [$server->push($fd, "\xc3", 1, 0), thrown(fn () => $server->push($fd, 'x', 0, 1)), $server->push($fd, "\xa4", 0, 1)];""", fd=fd)
        self.assertEqual((answers[0], answers[2]), (True, True))
        self.assertIn("must together be UTF-8", answers[1])
        self.assertEqual(ws.text(), "\u00e4")

    def test_flags_that_say_something_else_leave_a_message_whole(self):
        server = self.websockets(TELL_FD)
        ws = self.join(server)
        fd = self.fd(ws)
        # COMPRESS, RSV1, MASK; a frame object with its own flags.
        self.assertEqual(self.push(server, fd, ["a", TEXT, 2], ["b", TEXT, 4], ["c", TEXT, 32]), [True] * 3)
        self.php(server, "$frame = new Frame; $frame->data = 'd'; $frame->flags = Apus\\WEBSOCKET_FLAG_COMPRESS; return $server->push($fd, $frame);", fd=fd)
        self.assertEqual([ws.frame()[:3] for _ in range(4)], [(TEXT, data, True) for data in (b"a", b"b", b"c", b"d")])

    def test_messages_for_many_do_not_come_between_fragments(self):
        server = self.websockets(TELL_FD)
        ws = self.join(server)
        fd = self.fd(ws)
        code = "$server->subscribe($fd, 't'); return [$server->push($fd, 'one', 1, 0), $server->publish('t', 'news'), $server->push($fd, 'two', 0, 1), $server->publish('t', 'late')];"
        self.php(server, code, fd=fd)
        self.assertEqual([ws.frame()[:2] for _ in range(3)], [(TEXT, b"one"), (CONTINUATION, b"two"), (TEXT, b"late")])

    def test_what_another_worker_sends_out_of_order_is_dropped_and_logged(self):
        server = self.websockets(TELL_FD, settings={"worker_num": 2}, request="if ($path === '/id') { $response->end((string) $server->worker_id); return; }")
        ws = self.join(server)
        fd = self.fd(ws)
        home = self.php(server, "return $server->getClientInfo($fd)['worker_id'] ?? -1;", fd=fd)
        code = "return $server->worker_id === $home ? null : [$server->push($fd, 'x', 0, 1), $server->push($fd, 'whole', 1, 1)];"
        self.assertEqual(until("another worker", lambda: self.php(server, code, fd=fd, home=home)), [True, True])
        self.assertEqual(ws.text(), "whole")
        until("it is logged", lambda: "is dropped: a continuation frame" in server.said())
