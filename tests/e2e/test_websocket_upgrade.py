"""Response::upgrade(), push(), recv() and close(): one coroutine a connection, on any HTTP server."""

import socket

from support import until
from websocket_cases import BINARY, PING, PONG, TEXT, Crowd, Refused, WebSocket, WebSocketCase, websocket

# Paths that upgrade, each in its own way.
REQUEST = r"""
    if ($path === '/echo') {
        note('upgrade', $response->upgrade());
        while (($frame = $response->recv()) !== '' && $frame !== false) {
            if ($frame instanceof CloseFrame) { note('close frame', $frame->code, $frame->reason); break; }
            note(get_class($frame), $frame->opcode, $frame->finish, $frame->fd === $request->fd, strlen($frame->data));
            $response->push($frame->data, $frame->opcode);
        }
        note('end', $frame === '' ? "''" : var_export($frame, true));
        note('after', $response->push('x'), $response->recv(0.1), $response->close());
        return;
    }
    if ($path === '/plain') { note($response->upgrade()); $response->end('refused'); return; }
    if ($path === '/timeout') {
        $response->upgrade();
        note('timeout', $response->recv(0.05), $server->isEstablishedAny($request->fd));
        $response->push('after the timeout');
        note('recv', $response->recv(10)->data);
        $response->close();
        return;
    }
    if ($path === '/return') { $response->upgrade(); $response->push('only this'); return; }
    if ($path === '/throw') { $response->upgrade(); throw new LogicException('in the middle'); }
    if ($path === '/protocol') { $response->header('Sec-WebSocket-Protocol', 'own'); $response->header('X-A', 'b'); $response->upgrade(); $response->push('x'); $response->recv(); return; }
    if ($path === '/slow') { $response->upgrade(); Coroutine::sleep(0.1); while ($frame = $response->recv()) { $response->push($frame->data); } return; }
    if ($path === '/other') {
        $response->upgrade();
        note('heard', $response->recv()->data);
        go(function () use ($response) { for ($i = 0; $i < 5; $i++) { $response->push("tick $i"); Coroutine::sleep(0.001); } $response->close(); });
        while ($frame = $response->recv()) { note('heard', $frame->data); }
        note('over', $frame);
        return;
    }
    if ($path === '/twice') { note(thrown(fn () => note('first', $response->upgrade())), thrown(fn () => note('second', $response->upgrade())), thrown(fn () => $response->end('x')), thrown(fn () => $response->write('x'))); $response->push('done'); $response->recv(); return; }
    if ($path === '/stuck') { $response->upgrade(); $ok = 0; while ($response->push(str_repeat('x', 60000))) { $ok++; } note('stuck', $ok > 0); return; }
    if ($path === '/misuse') { note(thrown(fn () => note($response->push('x'))), thrown(fn () => note($response->recv(0.1)))); $response->end('misused'); return; }
"""


class Upgrades(WebSocketCase):
    def upgrading(self, **options):
        return self.websockets("", kind="Apus\\Http\\Server", request=REQUEST.replace("$server->isEstablishedAny($request->fd)", "$server->exist($request->fd)"), **options)

    def test_messages_go_and_come(self):
        server = self.upgrading()
        ws = self.join(server, "/echo")
        for opcode, data in ((TEXT, b""), (TEXT, "hällo".encode()), (BINARY, b"\xff" * 70000)):
            ws.send(opcode, data)
            self.assertEqual(ws.message(), (opcode, data))
        ws.raw(websocket.frame(TEXT, b"in ", fin=False) + websocket.frame(PING, b"p") + websocket.frame(0, b"parts"))
        self.assertEqual(ws.message(), (TEXT, b"in parts"))
        self.assertEqual(ws.controls, [(PONG, b"p")])
        self.assertEqual(ws.close(3000, "bye"), (3000, ""))
        events = self.events(server, 7)
        frame = "Apus\\WebSocket\\Frame"
        self.assertEqual(
            events[:5],
            [
                ["upgrade", True],
                [frame, TEXT, True, True, 0],
                [frame, TEXT, True, True, 6],
                [frame, BINARY, True, True, 70000],
                [frame, TEXT, True, True, 8],
            ],
        )
        self.assertEqual(events[5:], [["end", "''"], ["after", False, "", False]])

    def test_the_close_frame_is_shown_where_the_setting_says_so(self):
        server = self.upgrading(settings={"open_websocket_close_frame": True})
        ws = self.join(server, "/echo")
        ws.raw(websocket.closing(4000, "bye"))
        ws.rest()
        self.assertIn(["close frame", 4000, "bye"], self.events(server, 3))

    def test_early_messages_wait_for_recv(self):
        server = self.upgrading()
        ws = self.join(server, "/slow", before=b"".join(websocket.frame(TEXT, str(i).encode()) for i in range(200)))
        self.assertEqual([ws.text() for _ in range(200)], [str(i) for i in range(200)])

    def test_recv_with_a_timeout(self):
        server = self.upgrading()
        ws = self.join(server, "/timeout")
        self.assertEqual(ws.text(), "after the timeout")
        ws.say("x")
        self.assertEqual(ws.closed(), (1000, ""))
        self.assertEqual(self.events(server, 2), [["timeout", False, True], ["recv", "x"]])

    def test_the_end_of_the_handler_ends_the_connection(self):
        server = self.upgrading()
        ws = self.join(server, "/return")
        self.assertEqual(ws.text(), "only this")
        self.assertEqual(ws.closed(), (1000, ""))
        ws = self.join(server, "/throw")
        self.assertIn(ws.closed()[0], (1000, 1011))
        self.assertIn("in the middle", server.said())

    def test_header_fields_go_with_the_answer(self):
        ws = self.join(self.upgrading(), "/protocol", protocols="other, own")
        self.assertEqual((ws.protocol, ws.fields["x-a"]), ("own", "b"))
        self.assertEqual(ws.text(), "x")
        ws.close()

    def test_another_coroutine_may_push_and_close(self):
        server = self.upgrading()
        ws = self.join(server, "/other")
        ws.say("mine")
        self.assertEqual([ws.text() for _ in range(5)], [f"tick {i}" for i in range(5)])
        self.assertEqual(ws.closed(), (1000, ""))
        self.assertEqual(self.events(server, 2), [["heard", "mine"], ["over", ""]])

    def test_what_is_no_handshake_is_not_upgraded(self):
        server = self.upgrading()
        # It is answered for the handler.
        self.assertEqual(server.get("/plain").status, 400)
        self.assertEqual(self.events(server, 1), [[False]])
        for options in (dict(key="short"), dict(headers={"Sec-WebSocket-Version": "12"})):
            with self.assertRaises(Refused) as refused:
                self.join(server, "/plain", **options)
            self.assertIn(refused.exception.status, (400, 426))
        # The handler may refuse a good one, by answering.
        with self.assertRaises(Refused) as refused:
            self.join(server, "/none")
        self.assertEqual((refused.exception.status, refused.exception.body), (200, b"http"))

    def test_misuse(self):
        server = self.upgrading()
        ws = self.join(server, "/twice")
        self.assertEqual(ws.text(), "done")
        ws.close()
        out = self.events(server, 2)
        self.assertEqual(out[0], ["first", True])
        self.assertEqual(server.get("/misuse").body, b"misused")
        self.assertEqual(self.worker(server), server.workers()[0])

    def test_waits_end_when_the_client_goes(self):
        server = self.upgrading(settings={"buffer_output_size": 65536})
        for leave in (lambda ws: ws.reset(), lambda ws: ws.sock.close(), lambda ws: ws.sock.shutdown(socket.SHUT_RDWR)):
            ws = self.join(server, "/echo")
            ws.say("x")
            ws.text()
            leave(ws)
            stuck = self.join(server, "/stuck", receive_buffer=4096)
            stuck.exactly(100)
            leave(stuck)
        ends = self.events(server, 6, ("end", "stuck"))
        self.assertEqual(sorted(map(str, ends)), sorted(map(str, [["end", "''"], ["stuck", True]] * 3)))
        until("no coroutine is left", lambda: self.php(server, "return Coroutine::stats()['coroutine_num'];") == 1)

    def test_many_of_them(self):
        server = self.upgrading(settings={"worker_num": 1})
        with Crowd(server.port) as crowd:
            self.assertEqual(crowd.join(200, path="/slow"), 200, crowd.failed[:3])
            crowd.send_all(websocket.frame(TEXT, b"hello"))
            self.assertEqual(set(crowd.hear_all(7)), {b"\x81\x05hello"})
        until("no coroutine is left", lambda: self.php(server, "return Coroutine::stats()['coroutine_num'];") == 1)

    def test_it_ends_with_its_worker(self):
        server = self.upgrading(settings={"max_wait_time": 3, "websocket_close_timeout": 0.3})
        ws = self.join(server, "/echo")
        ws.say("x")
        ws.text()
        server.process.terminate()
        self.assertEqual(ws.closed()[0], 1001)
        self.assertEqual(server.wait(), 0)

    def test_on_a_websocket_server_too(self):
        server = self.websockets("$server->on('message', fn ($server, $frame) => $server->push($frame->fd, 'event'));", request=REQUEST.replace("isEstablishedAny", "exist"))
        ws = self.join(server, "/any")
        ws.say("x")
        self.assertEqual(ws.text(), "event")
        self.assertEqual(server.get("/plain").status, 400)
        self.assertEqual(WebSocket.connect(server.port, "/echo").close(), (1000, ""))
        self.assertEqual(ws.close()[0], 1000)
