"""WebSockets over HTTP/2 (RFC 8441): to the program each stream is a connection as any other."""

import json
import shutil
import signal
import socket
import tempfile
import unittest

from support import until
from test_coroutine_server import Script
from test_demo import BROWSER, Browser
from test_websocket_life import Endings as Ends
from test_websocket_upgrade import Upgrades
from websocket_cases import (
    BINARY,
    CLOSE,
    ECHO,
    NOTED,
    TELL_FD,
    TEXT,
    Refused,
    WebSocketCase,
    http2,
    servers,
    websocket,
)

SHARED = "for ($all = []; $fd = array_shift($fds);) { $all[] = $server->push($fd, 'to ' . $fd); } return $all;"


@unittest.skipUnless(http2.h2, "needs python3-h2")
class Http2Case(WebSocketCase):
    over_http2 = True

    def connection(self, server, **options):
        connection = http2.Connection(server.port, **options)
        self.addCleanup(connection.close)
        return connection

    def on(self, connection, path="/", **options):
        """A WebSocket on a stream of that connection."""
        return http2.join(0, path, connection=connection, **options)


class Endings(Http2Case, Ends):
    """However one ends over HTTP/1.1, it ends over a stream."""


class Upgrading(Http2Case, Upgrades):
    """`Response::upgrade()` on any server of HTTP."""

    # Its handshakes are wrong in ways that only HTTP/1.1 has.
    test_what_is_no_handshake_is_not_upgraded = None


class Streams(Http2Case):
    def test_many_on_a_connection_are_connections_of_their_own(self):
        server = self.websockets(TELL_FD + ECHO, request="if ($path === '/plain') { $response->end('plain ' . $request->fd); return; }")
        connection = self.connection(server)
        self.assertTrue(connection.connect_protocol)
        held = [self.on(connection) for _ in range(20)]
        fds = [self.fd(ws) for ws in held]
        self.assertEqual(len(set(fds)), 20)
        plain = int(self.get(connection, "/plain").split()[1])
        self.assertNotIn(plain, fds)
        for number, ws in enumerate(held):
            ws.say(f"text {number}")
            ws.send(BINARY, bytes([number]) * 70_000)
        for number, ws in enumerate(held):
            self.assertEqual(ws.text(), f"text {number}")
            self.assertEqual(ws.message(), (BINARY, bytes([number]) * 70_000))
        told = self.php(server, "return [array_map(fn ($fd) => [$server->isEstablished($fd), $server->exist($fd), $server->getClientInfo($fd)['websocket_status'], $server->getClientInfo($fd)['remote_ip']], $fds), $server->isEstablished($plain), $server->exist($plain), count(array_intersect(iterator_to_array($server->connections), $fds))];", fds=fds, plain=plain)
        self.assertEqual(told, [[[True, True, 3, "127.0.0.1"]] * 20, False, True, 20])
        self.assertEqual(self.php(server, SHARED, fds=fds), [True] * 20)
        self.assertEqual([ws.text() for ws in held], [f"to {fd}" for fd in fds])

    def get(self, connection, path):
        """The body of an answer on a stream beside the others."""
        stream = http2.Stream(connection, False)
        stream.id = connection.h2.get_next_available_stream_id()
        connection.streams[stream.id] = stream
        connection.h2.send_headers(stream.id, [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "test")], end_stream=True)
        connection.flush()
        while not stream.ended:
            connection.more()
        stream.status = int(stream.fields[":status"])
        return bytes(stream.buffer).decode()

    def test_the_program_sees_a_handshake_as_any_other(self):
        server = self.websockets(r"""
            $server->on('open', function ($server, $request) {
                $headers = $request->header;
                $server->push($request->fd, json_encode([$request->getMethod(), $request->server['request_uri'], $request->get, $request->server['server_protocol'], $headers['upgrade'], $headers['connection'], $headers['host'], strlen(base64_decode($headers['sec-websocket-key'])), $headers['x-own'], strtok($request->getData(), "\r")]));
            });
        """)
        ws = self.join(server, "/chat?room=7", headers={"Host": "example.org:81", "X-Own": "yes"})
        self.assertEqual(json.loads(ws.text()), ["GET", "/chat", {"room": "7"}, "HTTP/2", "websocket", "Upgrade", "example.org:81", 16, "yes", "GET /chat?room=7 HTTP/2"])

    def test_a_handshake_that_the_program_answers_itself(self):
        server = self.websockets(ECHO + r"""
            $server->on('handshake', function ($request, $response) use ($server) {
                Coroutine::sleep(0.01);
                if ($request->server['request_uri'] === '/no') { $response->status(403); $response->end('not you'); return; }
                $key = $request->header['sec-websocket-key'];
                $response->header('Upgrade', 'websocket');
                $response->header('Connection', 'Upgrade');
                $response->header('Sec-WebSocket-Accept', base64_encode(sha1($key . '258EAFA5-E914-47DA-95CA-C5AB0DC85B11', true)));
                $response->header('X-Own', 'header');
                $response->status(101);
                $response->end();
                $server->push($request->fd, 'welcome');
            });
        """)
        connection = self.connection(server)
        with self.assertRaises(Refused) as refused:
            self.on(connection, "/no")
        self.assertEqual((refused.exception.status, refused.exception.body), (403, b"not you"))
        ws = self.on(connection)
        self.assertEqual((ws.fields["x-own"], ws.text()), ("header", "welcome"))
        ws.say("what came early")
        self.assertEqual(ws.text(), "what came early")

    def test_handshakes_that_are_none(self):
        server = self.websockets(settings={"websocket_origins": "https://example.org", "websocket_subprotocol": "chat"})
        connection = self.connection(server)
        for status, options in {
            426: {"without": ["Sec-WebSocket-Version"]},
            501: {"headers": {"Upgrade": "connect-udp"}},
            403: {"origin": "https://evil.test"},
        }.items():
            with self.subTest(status), self.assertRaises(Refused) as refused:
                self.on(connection, **options)
            self.assertEqual(refused.exception.status, status)
        ws = self.on(connection, protocols="other, chat", origin="https://example.org")
        self.assertEqual(ws.protocol, "chat")
        until("their connections are gone", lambda: server.status()["totals"]["connections"] <= 3)

    def test_what_is_no_handshake_to_the_program_is_no_success(self):
        server = self.serve("$response->end('a page');", settings={"open_http2_protocol": True})
        connection = self.connection(server)
        with self.assertRaises(Refused) as refused:
            self.on(connection)
        self.assertEqual(refused.exception.status, 501)
        self.assertEqual(self.get(connection, "/"), "a page")

    def test_compression_and_fragments(self):
        settings = {"websocket_compression": True, "websocket_context_takeover": True, "websocket_compression_threshold": 0}
        server = self.websockets(settings=settings)
        ws = self.join(server, extensions="permessage-deflate")
        for text in ("again and again " * 20_000, "hällo", ""):
            ws.send(TEXT, websocket.deflated(text.encode()), rsv=4)
            self.assertEqual(ws.text(), text)
        ws.send(TEXT, "in ", fin=False)
        ws.send(websocket.PING, b"there?")
        ws.send(websocket.CONTINUATION, "parts")
        self.assertEqual((ws.text(), ws.controls), ("in parts", [(websocket.PONG, b"there?")]))
        self.assertEqual(ws.close(1000, "bye"), (1000, ""))

    def test_tls(self):
        cert, key = servers.certificate()
        server = self.websockets(TELL_FD + ECHO, settings={"ssl_cert_file": str(cert), "ssl_key_file": str(key)})
        connection = self.connection(server, host="localhost", ca=cert)
        held = [self.on(connection) for _ in range(3)]
        fds = [self.fd(ws) for ws in held]
        for ws in held:
            ws.say("x" * 100_000)
        self.assertEqual([len(ws.text()) for ws in held], [100_000] * 3)
        self.assertEqual(len(set(fds)), 3)

    def test_any_worker_reaches_it(self):
        server = self.websockets(TELL_FD + ECHO + "$server->on('close', fn ($server, $fd) => file_put_contents(__DIR__ . '/closed', \"$fd\\n\", FILE_APPEND));", settings={"worker_num": 2})
        ws = self.join(server)
        fd = self.fd(ws)
        there = until("another worker answers", lambda: (told := self.php(server, "return [getmypid(), $server->getClientInfo($fd)['worker_id'] ?? null, $server->worker_id, $server->push($fd, 'hello')];", fd=fd))[1] != told[2] and told)
        self.assertTrue(there[3])
        self.assertEqual(ws.text(), "hello")
        until("the other worker closes it", lambda: self.php(server, "return $server->worker_id != $server->getClientInfo($fd)['worker_id'] && $server->close($fd);", fd=fd))
        while (message := ws.message())[0] != CLOSE:
            self.assertEqual(message, (TEXT, b"hello"))
        ws.raw(websocket.closing(1000))
        self.assertEqual(ws.rest(), b"")
        until("the program hears of it", lambda: (server.folder / "closed").exists() and (server.folder / "closed").read_text() == f"{fd}\n")

    def test_the_upgrade_of_a_server_in_a_coroutine(self):
        script = Script("""
            run(function () {
                $server = new Apus\\Coroutine\\Http\\Server('127.0.0.1', 0);
                $server->set(['open_http2_protocol' => true]);
                $server->handle('/echo', function ($request, $response) {
                    $response->upgrade();
                    while ($frame = $response->recv()) { $response->push($frame->data); }
                });
                told($server->port);
                $server->start();
            });
        """)
        self.enterContext(script)
        connection = http2.Connection(script.hear())
        self.addCleanup(connection.close)
        held = [self.on(connection, "/echo") for _ in range(3)]
        for text in ("one", "two" * 50_000):
            for ws in held:
                ws.say(text)
            self.assertEqual([ws.text() for ws in held], [text] * 3)
        self.assertEqual([ws.close() for ws in held], [(1000, "")] * 3)


class Pressure(Http2Case):
    """A stream's window is what a socket's buffer is."""

    def test_who_does_not_read_keeps_its_messages_waiting_and_nobody_else(self):
        server = self.websockets(TELL_FD + ECHO, settings={"send_policy": "drop"})
        connection = self.connection(server)
        connection.h2.increment_flow_control_window(1 << 24)
        connection.flush()
        slow, quick = self.on(connection), self.on(connection)
        fd = self.fd(slow)
        slow.sock.takes = False
        sent = self.php(server, "for ($n = 0; $server->push($fd, sprintf('%06d', $n) . str_repeat('x', 50000)) && $n < 1000; $n++); return [$n, $server->bufferedAmount($fd)];", fd=fd)
        self.assertLess(sent[0], 1000)
        self.assertGreater(sent[1], 1_000_000)
        self.fd(quick)
        for number in range(10):
            quick.say(f"still {number}")
            self.assertEqual(quick.text(), f"still {number}")
        # It reads again: all that was taken comes, in order.
        slow.sock.takes = True
        connection.h2.acknowledge_received_data(len(slow.sock.buffer), slow.sock.id)
        connection.flush()
        for number in range(sent[0]):
            self.assertEqual(slow.text()[:6], f"{number:06}")
        self.assertEqual(self.php(server, "return $server->bufferedAmount($fd);", fd=fd), 0)

    def test_what_waits_for_its_frames_counts_towards_the_limit_of_the_worker(self):
        settings = {"send_policy": "drop", "max_buffered_bytes": 300_000, "buffer_output_size": 1 << 20}
        server = self.websockets(TELL_FD, settings=settings)
        connection = self.connection(server)
        held = [self.on(connection) for _ in range(10)]
        fds = [self.fd(ws) for ws in held]
        for ws in held:
            ws.sock.takes = False
        waiting = self.php(server, "$of = fn ($fd) => $server->bufferedAmount($fd); do { $took = 0; foreach ($fds as $fd) { $took += $server->push($fd, str_repeat('x', 10000)); } } while ($took > 0); return array_sum(array_map($of, $fds));", fds=fds)
        # One message for each behind what the session holds.
        self.assertLess(waiting, 10 * 15_000)
        connection.close()

    def test_a_broadcast_reaches_the_slow_and_the_quick(self):
        server = self.websockets(TELL_FD)
        connections = [self.connection(server) for _ in range(3)]
        held = [self.on(connection) for connection in connections for _ in range(5)]
        fds = [self.fd(ws) for ws in held]
        self.php(server, "for ($n = 0; $n < 5; $n++) { foreach ($fds as $fd) { $server->push($fd, $n . str_repeat('b', 30000)); } } return true;", fds=fds)
        for ws in held:
            self.assertEqual([ws.text() for _ in range(5)], [str(n) + "b" * 30_000 for n in range(5)])

    def test_a_handler_that_is_busy_holds_its_client_back(self):
        server = self.websockets("$server->on('message', function ($server, $frame) { Coroutine::sleep(0.01); $server->push($frame->fd, (string) strlen($frame->data)); });", settings={"connection_concurrency": 1, "package_max_length": 1_000_000})
        ws = self.join(server)
        for _ in range(20):
            ws.send(BINARY, b"y" * 100_000)
        self.assertEqual([ws.text() for _ in range(20)], ["100000"] * 20)

    def test_a_client_that_answers_no_ping_is_closed(self):
        server = self.websockets(NOTED, settings={"websocket_ping_interval": 0.1, "websocket_ping_timeout": 0.2})
        connection = self.connection(server)
        silent = self.on(connection)
        self.events(server, 1, ("close",))
        self.assertTrue(all(opcode == websocket.PING for opcode, *_ in self.frames(silent)))

    def frames(self, ws):
        found = []
        try:
            while True:
                found.append(ws.frame())
        except (EOFError, ConnectionResetError):
            return found


class Leaving(Http2Case):
    def test_a_stream_that_ends_does_not_end_the_others(self):
        server = self.websockets(NOTED + ECHO)
        connection = self.connection(server)
        staying = self.on(connection)
        self.on(connection).reset()
        self.on(connection).sock.shutdown(socket.SHUT_WR)
        self.assertEqual(self.on(connection).close(), (1000, ""))
        self.assertEqual(len(self.events(server, 3, ("close",))), 3)
        staying.say("still here")
        self.assertEqual(staying.text(), "still here")

    def test_a_connection_that_ends_ends_its_streams_when_they_are_read(self):
        server = self.websockets(NOTED)
        connection = self.connection(server)
        held = [self.on(connection) for _ in range(5)]
        for ws in held:
            ws.say("last words")
        connection.close()
        self.assertEqual(len(self.events(server, 5, ("close",))), 5)
        self.assertEqual([e[3] for e in self.events(server, 5, ("message",))], ["last words"] * 5)
        until("none is left", lambda: server.status()["totals"]["connections"] <= 1)

    def test_close_by_the_program_of_one_and_of_the_connection(self):
        server = self.websockets(TELL_FD + ECHO)
        connection = self.connection(server)
        held = [self.on(connection) for _ in range(3)]
        fds = [self.fd(ws) for ws in held]
        self.assertTrue(self.php(server, "return $server->disconnect($fd, 4001, 'enough');", fd=fds[0]))
        self.assertEqual(held[0].closed(), (4001, "enough"))
        carrier = self.php(server, "return array_values(array_filter(iterator_to_array($server->connections), fn ($fd) => !$server->isEstablished($fd) && !in_array($fd, [$GLOBALS['request']->fd])));")
        self.assertEqual(len(carrier), 1)
        self.assertTrue(self.php(server, "return $server->close($fd);", fd=carrier[0]))
        self.assertEqual([ws.closed()[0] for ws in held[1:]], [1001, 1001])
        http2.wait(lambda: connection.over, [connection])

    def test_reload_says_going_away(self):
        server = self.websockets(ECHO)
        connection = self.connection(server)
        held = [self.on(connection) for _ in range(5)]
        for ws in held:
            ws.say("said before")
        server.kill(signal.SIGUSR1)
        self.assertEqual([ws.text() for ws in held], ["said before"] * 5)
        self.assertEqual([ws.closed()[0] for ws in held], [1001] * 5)
        http2.wait(lambda: connection.over, [connection])
        self.assertEqual(connection.goaway, 0)
        again = self.join(server)
        again.say("new")
        self.assertEqual(again.text(), "new")


@unittest.skipUnless(BROWSER, "needs chromium")
class Chromium(WebSocketCase):
    over_http2 = True
    PAGE = """(async () => {
        const found = await (await fetch('/eval', {method: 'POST', body: "return 'fetched';"})).json();
        const talk = new Promise((done, fail) => {
            const socket = new WebSocket(`wss://${location.host}/`), heard = [];
            socket.binaryType = 'arraybuffer';
            socket.onopen = () => { for (const text of ['', 'hällo', 'x'.repeat(300000)]) socket.send(text); socket.send(new Uint8Array([0, 255]).buffer); };
            socket.onmessage = event => {
                heard.push(typeof event.data === 'string' ? event.data.length : [...new Uint8Array(event.data)]);
                if (heard.length === 4) socket.close(3001, 'enough');
            };
            socket.onclose = event => done([heard, event.code, event.wasClean]);
        });
        const closed = await talk;
        const blob = new Blob([new Uint8Array(3000000)]);
        const sent = await (await fetch('/upload', {method: 'POST', body: blob})).text();
        const streamed = (await fetch('/pieces')).body.getReader(), pieces = [];
        for (let part; !(part = await streamed.read()).done;) pieces.push(part.value.length);
        const protocols = [...new Set(performance.getEntriesByType('resource').map(entry => entry.nextHopProtocol))];
        return {found, closed, sent, pieces: [pieces.length > 1, pieces.reduce((a, b) => a + b)], protocols};
    })()"""

    def test_it_fetches_uploads_streams_and_talks(self):
        cert, key = servers.certificate()
        request = """
            if ($path === '/upload') { $response->end((string) strlen($request->rawContent())); return; }
            if ($path === '/pieces') { for ($i = 0; $i < 20; $i++) { $response->write(str_repeat('p', 5000)); Coroutine::sleep(0.005); } $response->end(); return; }
        """
        code = ECHO + "$server->on('open', fn ($server, $request) => note($request->server['server_protocol'], $request->streamId > 0));"
        server = self.websockets(code, request=request, settings={"ssl_cert_file": str(cert), "ssl_key_file": str(key)})
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder, "--ignore-certificate-errors")
        self.addCleanup(browser.close)
        browser.call("Page.navigate", url=f"https://localhost:{server.port}/")
        browser.until("document.readyState === 'complete'")
        out = browser.run(self.PAGE)
        self.assertEqual(out["closed"], [[0, 5, 300_000, [0, 255]], 3001, True])
        self.assertEqual((out["found"], out["sent"], out["pieces"], out["protocols"]), ("fetched", "3000000", [True, 100_000], ["h2"]))
        noted = browser.run("""fetch('/eval', {method: 'POST', body: "return $GLOBALS['events'];"}).then(answer => answer.json())""")
        self.assertEqual(noted, [["HTTP/2", True]])
