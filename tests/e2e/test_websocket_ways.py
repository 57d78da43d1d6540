"""WebSockets in other ways: without coroutines, on other ports and sockets, with opcache's JIT, with limits of the
server."""

import socket

from support import PATIENCE, until
from websocket_cases import CLOSE, ECHO, NOTED, TELL_FD, TEXT, Refused, WebSocket, WebSocketCase, websocket


class Ways(WebSocketCase):
    def test_without_coroutines(self):
        code = "$server->on('open', fn () => note('open')); $server->on('close', fn () => note('close')); $server->on('message', function ($server, $frame) { note('message', Coroutine::getCid()); $server->push($frame->fd, $frame->data); });"
        server = self.websockets(code, settings={"enable_coroutine": False})
        ws = self.join(server)
        for i in range(100):
            ws.say(str(i))
        self.assertEqual([ws.text() for _ in range(100)], [str(i) for i in range(100)])
        ws.close()
        ws.sock.close()
        events = self.events(server, 102)
        self.assertEqual([e[0] for e in events], ["open"] + ["message"] * 100 + ["close"])
        self.assertEqual({e[1] for e in events if e[0] == "message"}, {-1})

    def test_without_coroutines_no_event_has_one(self):
        code = """foreach (['workerstart', 'pipemessage', 'connect', 'handshake', 'open', 'message', 'close', 'disconnect', 'finish'] as $event) {
            $server->on($event, function (...$with) use ($event) {
                note($event, Coroutine::getCid());
                $event === 'message' && $with[0]->task('');
                return true;
            });
        }
        $server->on('task', fn () => 'done');"""
        server = self.websockets(code, settings={"enable_coroutine": False, "task_worker_num": 1})
        ws = self.join(server)
        ws.say("x")
        self.php(server, "return $server->sendMessage('', 0);")
        kinds = {"workerstart", "pipemessage", "connect", "handshake", "open", "message", "close", "disconnect", "finish"}
        self.events(server, 1, {"finish"})
        ws.close()
        ws.sock.close()
        self.events(server, 1, {"close"})
        self.events(server, 1, {"disconnect"})
        events = self.php(server, "return $GLOBALS['events'];")
        self.assertEqual({e[0] for e in events}, kinds)
        self.assertEqual({e[1] for e in events}, {-1}, events)

    def test_without_coroutines_a_push_to_a_slow_client_answers_at_once(self):
        server = self.websockets(TELL_FD + ECHO, settings={"enable_coroutine": False, "buffer_output_size": 65536})
        ws = self.join(server, receive_buffer=4096)
        out = self.php(server, "for ($i = 0; $i < 5000 && $server->push($fd, str_repeat('x', 20000)); $i++); return [$i > 0, $i < 5000, $server->isEstablished($fd)];", fd=self.fd(ws))
        self.assertEqual(out, [True, True, True])

    def test_with_opcache_and_its_jit(self):
        server = self.websockets(NOTED + ECHO.replace("fn ($server, $frame) =>", "fn (Server $server, Frame $frame): bool =>"), jit=True)
        ws = self.join(server)
        for i in range(3000):
            ws.say(str(i))
            self.assertEqual(ws.text(), str(i))

    def test_frames_that_a_handler_keeps_or_changes_are_its_own(self):
        code = """$server->on('message', function ($server, $frame) {
            static $kept = [];
            $said = $frame->data;
            match ($said[0]) {
                'k' => $kept[] = $frame,
                'r' => $kept[] = &$frame->data,
                'd' => @($frame->more = $frame),
                'c' => [$frame->data, $frame->opcode, $frame->fd, $frame->finish] = ['changed', 9, -1, false],
                default => null,
            };
            $sender = end(array_filter($kept, 'is_object'))->fd ?? null;
            $texts = array_map(fn ($frame) => is_object($frame) ? "$frame->opcode$frame->data" : $frame, $kept);
            $fresh = $said[0] === 'c' || count(get_object_vars($frame)) === 5 && $frame->opcode === 1 && $frame->finish && $frame->flags === 1;
            $server->push($sender ?? $frame->fd, implode(',', [$said, ...$texts, json_encode($fresh || $said[0] === 'd')]));
        });"""
        ws = self.join(self.websockets(code))
        answers = []
        for said in ("k1", "x", "r2", "c3", "x4", "d5", "x6", "k7", "x8"):
            ws.say(said)
            answers.append(ws.text())
        kept = {0: ",1k1", 2: ",1k1,r2", 7: ",1k1,r2,1k7"}
        self.assertEqual(answers, [
            f"{said}{kept[max(at for at in kept if at <= i)]},true"
            for i, said in enumerate(("k1", "x", "r2", "c3", "x4", "d5", "x6", "k7", "x8"))
        ])

    def test_exit_in_a_handler_ends_that_handler(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { if ($frame->data === 'exit') { exit; } $server->push($frame->fd, $frame->data); });")
        ws = self.join(server)
        ws.say("exit")
        ws.say("after")
        self.assertEqual(ws.text(), "after")

    def test_a_closure_may_keep_the_frame(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { $GLOBALS['kept'][] = $frame; if (count($GLOBALS['kept']) === 3) { foreach ($GLOBALS['kept'] as $kept) { $server->push($kept->fd, $kept); } } });")
        ws = self.join(server)
        for text in ("one", "two", "three"):
            ws.say(text)
        self.assertEqual([ws.text() for _ in range(3)], ["one", "two", "three"])

    def test_over_a_unix_socket(self):
        code = TELL_FD + ECHO
        script = "<?php $server = new Apus\\WebSocket\\Server(__DIR__ . '/socket', 0, Apus\\BASE, Apus\\SOCK_UNIX_STREAM); $server->set(['worker_num' => 1, 'log_file' => '']); " + code + " $server->start();"
        server = self.serve(script=script)
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(PATIENCE)
        sock.connect(str(server.folder / "socket"))
        with WebSocket(sock) as ws:
            ws.raw(websocket.request("/"))
            ws.greeted("dGhlIHNhbXBsZSBub25jZQ==", None, None)
            self.fd(ws)
            ws.say("x")
            self.assertEqual(ws.text(), "x")
            self.assertEqual(ws.close(), (1000, ""))

    def test_ports_with_settings_of_their_own(self):
        code = ECHO + """
        $plain = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
        $plain->set(['open_websocket_protocol' => false]);
        $small = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
        $small->set(['package_max_length' => 1000, 'websocket_subprotocol' => 'small', 'open_websocket_protocol' => true]);
        """
        server = self.websockets(code)
        first, plain, small = (int(address.rsplit(":", 1)[1]) for address in server.ready["listen"])
        with self.assertRaises(Refused) as refused:
            WebSocket.connect(plain)
        self.assertEqual((refused.exception.status, refused.exception.body), (200, b"http"))
        with WebSocket.connect(small, protocols="small") as ws:
            self.assertEqual(ws.protocol, "small")
            ws.say("x" * 1001)
            self.assertEqual(ws.closed()[0], 1009)
        with WebSocket.connect(first, protocols="small") as ws:
            self.assertIsNone(ws.protocol)
            ws.say("x" * 1001)
            self.assertEqual(len(ws.text()), 1001)

    def test_large_messages_both_ways_at_once(self):
        server = self.websockets(ECHO, settings={"package_max_length": 64 << 20, "connection_concurrency": 2}, ini=["memory_limit=512M"])
        ws = self.join(server)
        data = bytes(range(256)) * (40 << 12)
        for _ in range(2):
            ws.send(2, data)
            opcode, echo = ws.message()
            self.assertEqual(opcode, 2)
            self.assertTrue(echo == data)

    def test_a_worker_that_leaves_after_so_many_requests_says_so(self):
        server = self.websockets(ECHO, settings={"max_request": 20, "websocket_close_timeout": 1})
        first = self.worker(server)
        ws = self.join(server)
        for _ in range(40):
            server.get("/")
        opcode, payload = ws.message()
        self.assertEqual((opcode, websocket.code_of(payload)[0]), (CLOSE, 1001))
        ws.raw(websocket.frame(CLOSE, payload[:2]))
        ws.rest()
        until("another worker", lambda: server.workers() and first not in server.workers())
        again = self.join(server)
        again.send(TEXT, b"x")
        self.assertEqual(again.text(), "x")
