"""The opening handshake (RFC 6455 section 4.2), and who may connect."""

import socket

from support import until
from websocket_cases import ECHO, PING, TELL_FD, TEXT, Refused, WebSocket, WebSocketCase, websocket


class BadHandshakes(WebSocketCase):
    def refused(self, server, path="/", **options):
        """Status, fields and body of the answer."""
        with server.connect() as client:
            ws = WebSocket(client.sock)
            ws.raw(websocket.request(path, **options))
            ws.head()
            return ws.status, ws.fields, ws

    def test_they_are_refused_with_a_status_that_says_why(self):
        server = self.websockets(ECHO + "$server->on('open', fn () => note('open'));")
        bad = {
            "no key": (dict(without=("Sec-WebSocket-Key",)), 400),
            "empty key": (dict(key=""), 400),
            "short key": (dict(key="AAAA"), 400),
            "long key": (dict(key="AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), 400),
            "key of 17 bytes": (dict(key="AAAAAAAAAAAAAAAAAAAAAAA="), 400),
            "key that is no base64": (dict(key="!!!!!!!!!!!!!!!!!!!!!!=="), 400),
            "two keys": (dict(headers={"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}), 400),
            "version 12": (dict(headers={"Sec-WebSocket-Version": "12"}), 426),
            "version 8": (dict(headers={"Sec-WebSocket-Version": "8"}), 426),
            "version 130": (dict(headers={"Sec-WebSocket-Version": "130"}), 426),
            "version text": (dict(headers={"Sec-WebSocket-Version": "x"}), 426),
            "POST": (dict(method="POST", headers={"Content-Length": "0"}), 405),
        }
        for name, (options, status) in bad.items():
            with self.subTest(name):
                got, fields, _ = self.refused(server, **options)
                self.assertEqual(got, status)
                if status == 426:
                    self.assertEqual(fields["sec-websocket-version"], "13")
        self.assertEqual(self.events(server), [])
        ws = self.join(server)
        ws.say("x")
        self.assertEqual(ws.text(), "x")

    def test_requests_that_ask_for_no_upgrade_are_plain_ones(self):
        server = self.websockets(ECHO)
        # An Upgrade of HTTP/1.0 is to be ignored (RFC 9110 section 7.8).
        for name, options in {
            "HTTP/1.0": dict(version="HTTP/1.0"),
            "no Upgrade": dict(without=("Upgrade",)),
            "another Upgrade": dict(headers={"Upgrade": "h2c"}),
            "only the key": dict(without=("Upgrade", "Connection")),
        }.items():
            with self.subTest(name):
                status, fields, ws = self.refused(server, **options)
                self.assertEqual((status, fields.get("upgrade")), (200, None))
        # It asks for WebSocket, but the hop in front did not say so.
        for connection in ("keep-alive", "close", "Upgraded", ""):
            with self.subTest(connection=connection):
                self.assertIn(self.refused(server, headers={"Connection": connection})[0], (200, 400))

    def test_good_ones_in_unusual_words(self):
        server = self.websockets()
        good = {
            "case of values": dict(headers={"Upgrade": "WebSocket", "Connection": "upgrade"}),
            "upper case": dict(headers={"Upgrade": "WEBSOCKET", "Connection": "UPGRADE"}),
            "names in lower case": dict(without=("Upgrade", "Connection", "Sec-WebSocket-Version"), headers={"upgrade": "websocket", "connection": "upgrade", "sec-websocket-version": "13"}),
            "list of connections": dict(headers={"Connection": "keep-alive, Upgrade"}),
            "list without blanks": dict(headers={"Connection": "keep-alive,upgrade"}),
            "list of protocols": dict(headers={"Upgrade": "h2c, websocket"}),
            "absolute target": dict(path="http://test/x"),
        }
        for name, options in good.items():
            with self.subTest(name):
                ws = self.join(server, **options)
                ws.say(name)
                self.assertEqual(ws.text(), name)
                ws.close()

    def test_the_answer_is_exact(self):
        server = self.websockets()
        ws = self.join(server, key="AQIDBAUGBwgJCgsMDQ4PEC==")
        self.assertEqual(ws.fields["sec-websocket-accept"], websocket.accepted(b"AQIDBAUGBwgJCgsMDQ4PEC=="))
        self.assertEqual(set(ws.fields) - {"server", "date"}, {"upgrade", "connection", "sec-websocket-accept"})

    def test_it_may_come_in_drops(self):
        server = self.websockets()
        with server.connect() as client:
            ws = WebSocket(client.sock)
            ws.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in websocket.request("/") + websocket.frame(TEXT, "drop by drop".encode()):
                ws.raw(bytes([byte]))
            ws.greeted("dGhlIHNhbXBsZSBub25jZQ==", None, None)
            self.assertEqual(ws.text(), "drop by drop")

    def test_one_that_never_ends_is_timed_out_and_others_are_served_meanwhile(self):
        server = self.websockets(settings={"header_timeout": 0.5})
        with server.connect() as client:
            client.send(websocket.request("/")[:-2])
            ws = self.join(server)
            ws.say("x")
            self.assertEqual(ws.text(), "x")
            self.assertIn(client.rest()[:12], (b"HTTP/1.1 408", b""))
        # Once upgraded, the time for heads is over.
        self.assertEqual(ws.close(), (1000, ""))

    def test_what_follows_at_once_is_heard(self):
        server = self.websockets()
        frames = b"".join(websocket.frame(TEXT, str(i).encode()) for i in range(1000))
        ws = self.join(server, before=frames + websocket.frame(TEXT, b"x" * 300000) + websocket.frame(TEXT, b"half of it")[:9])
        self.assertEqual([ws.text() for _ in range(1000)], [str(i) for i in range(1000)])
        self.assertEqual(len(ws.text()), 300000)
        ws.raw(websocket.frame(TEXT, b"half of it")[9:])
        self.assertEqual(ws.text(), "half of it")

    def test_a_body_does_not_become_frames(self):
        server = self.websockets("$server->on('message', fn ($server, $frame) => note('message'));")
        hello = websocket.frame(TEXT, b"x")
        with server.connect() as client:
            ws = WebSocket(client.sock)
            ws.raw(websocket.request("/", headers={"Content-Length": str(len(hello))}) + hello)
            ws.head()
            # Refused, or opened without the body being taken for a message.
            self.assertIn(ws.status, (101, 400, 413))
            if ws.status == 101:
                ws.send(PING, b"p")
                self.assertEqual(ws.pong(), b"p")
        self.assertEqual(self.events(server), [])

    def test_one_with_a_chunked_body(self):
        server = self.websockets("$server->on('message', fn ($server, $frame) => note('message'));")
        hello = websocket.frame(TEXT, b"x")
        with server.connect() as client:
            ws = WebSocket(client.sock)
            ws.raw(websocket.request("/", headers={"Transfer-Encoding": "chunked"}) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(hello), hello))
            ws.head()
            self.assertIn(ws.status, (101, 400, 413))
        self.assertEqual(self.events(server), [])

    def test_behind_pipelined_requests(self):
        """Answers come in order, and the frames behind the handshake are heard."""
        server = self.websockets(request="if ($path === '/slow') { Coroutine::sleep(0.05); $response->end('slow'); return; }")
        plain = b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /fast HTTP/1.1\r\nHost: a\r\n\r\n"
        with server.connect() as client:
            client.send(plain + websocket.request("/") + websocket.frame(TEXT, b"behind"))
            self.assertEqual([client.answer().body, client.answer().body], [b"slow", b"http"])
            ws = WebSocket(client.sock)
            ws.buffer += client.buffer
            ws.greeted("dGhlIHNhbXBsZSBub25jZQ==", None, None)
            self.assertEqual(ws.text(), "behind")


class Subprotocols(WebSocketCase):
    def test_one_of_the_offered_is_chosen(self):
        server = self.websockets(settings={"websocket_subprotocol": "chat, superchat"})
        for offered, chosen in (
            ("chat", "chat"),
            ("superchat", "superchat"),
            ("x, superchat", "superchat"),
            ("x,chat,y", "chat"),
            ("superchat, chat", "chat"),
            ("other", None),
            ("Chat", None),
            ("", None),
            (None, None),
        ):
            with self.subTest(offered):
                ws = self.join(server, protocols=offered)
                self.assertEqual(ws.protocol, chosen)
                ws.say("x")
                self.assertEqual(ws.text(), "x")

    def test_none_without_the_setting(self):
        self.assertIsNone(self.join(self.websockets(), protocols="chat").protocol)

    def test_the_program_sees_what_was_offered(self):
        server = self.websockets(ECHO + "$server->on('open', fn ($server, $request) => note($request->header['sec-websocket-protocol']));", settings={"websocket_subprotocol": "b"})
        self.assertEqual(self.join(server, protocols="a, b").protocol, "b")
        self.assertEqual(self.events(server, 1), [["a, b"]])


class Origins(WebSocketCase):
    def test_only_pages_of_the_named_ones_may_connect(self):
        server = self.websockets(ECHO + "$server->on('open', fn () => note('open'));", settings={"websocket_origins": "https://example.org, http://localhost:3000"})
        for origin in ("https://example.org", "http://localhost:3000", None):
            with self.subTest(origin):
                self.join(server, origin=origin).close()
        for origin in ("https://evil.example", "http://example.org", "https://example.org.evil.example", "https://example.org:444", "null", ""):
            with self.subTest(origin), self.assertRaises(Refused) as refused:
                self.join(server, origin=origin)
            self.assertEqual(refused.exception.status, 403)
        self.assertEqual(len(self.events(server, 3)), 3)

    def test_any_may_without_the_setting(self):
        self.join(self.websockets(), origin="https://anywhere.example").close()


class Handshakes(WebSocketCase):
    """The handshake event."""

    CODE = r"""
    $server->on('open', fn ($server, $request) => note('open', $request->fd));
    $server->on('close', fn ($server, $fd) => note('close'));
    $server->on('handshake', function (Request $request, Response $response) {
        note('handshake', $request->fd);
        switch ($request->server['request_uri']) {
            case '/false': return false;
            case '/401': $response->status(401); $response->header('WWW-Authenticate', 'Basic'); $response->end('who?'); return false;
            case '/403': $response->status(403); $response->end('no'); return;
            case '/throw': throw new LogicException('in handshake');
            case '/later': Coroutine::sleep(0.01); $response->status(403); $response->end(); return false;
            case '/own':
                $response->header('Upgrade', 'websocket');
                $response->header('Connection', 'Upgrade');
                $response->header('Sec-WebSocket-Accept', base64_encode(sha1($request->header['sec-websocket-key'] . '258EAFA5-E914-47DA-95CA-C5AB0DC85B11', true)));
                $response->header('X-Own', 'yes');
                $response->status(101);
                $response->end();
                return true;
            case '/extra': $response->header('X-Extra', 'yes'); $response->cookie('a', 'b'); return true;
            case '/wait': Coroutine::sleep(0.02); return true;
        }
        return true;
    });
    """

    def test_it_decides_who_may_connect(self):
        server = self.websockets(ECHO + self.CODE)
        for path, status in {"/false": 403, "/401": 401, "/403": 403, "/later": 403, "/throw": 500}.items():
            with self.subTest(path), self.assertRaises(Refused) as refused:
                self.join(server, path)
            self.assertEqual(refused.exception.status, status)
        self.assertEqual({kind for kind, *_ in self.events(server, 5)}, {"handshake"})

    def test_those_it_lets_in_talk(self):
        server = self.websockets(ECHO + self.CODE)
        for path in ("/", "/own", "/extra", "/wait"):
            with self.subTest(path):
                ws = self.join(server, path, before=websocket.frame(TEXT, b"early"))
                self.assertEqual(ws.text(), "early")
                self.assertEqual(
                    (ws.fields.get("x-own"), ws.fields.get("x-extra")),
                    ("yes" if path == "/own" else None, "yes" if path == "/extra" else None),
                )
                self.assertEqual(ws.close(), (1000, ""))

    def test_the_open_event_comes_before_the_first_message(self):
        """Also where that comes with the handshake itself."""
        server = self.websockets("""
            $known = [];
            $server->on('handshake', fn (Request $request, Response $response) => true);
            $server->on('open', function ($server, $request) use (&$known) { $known[$request->fd] = true; });
            $server->on('message', function ($server, $frame) use (&$known) {
                $server->push($frame->fd, isset($known[$frame->fd]) ? 'opened' : 'not opened');
            });
        """)
        for number in range(30):
            first = websocket.frame(TEXT, b"first")
            # Some come with it, some right behind it.
            ws = self.join(server, before=first if number % 2 else b"")
            if number % 2 == 0:
                ws.raw(first)
            self.assertEqual(ws.text(), "opened", number)

    def test_a_client_that_leaves_during_it(self):
        server = self.websockets(ECHO + TELL_FD + "$server->on('handshake', function ($request, $response) { note('begun'); Coroutine::sleep(0.1); note('over'); return true; });")
        with server.connect() as client:
            client.send(websocket.request("/"))
            self.events(server, 1)
            WebSocket(client.sock).reset()
        self.events(server, 2)
        until("nothing is left", lambda: server.status()["totals"]["connections"] <= 1)
        ws = self.join(server)
        self.fd(ws)
        ws.close()


class Extensions(WebSocketCase):
    def test_what_is_agreed_upon_was_offered_and_works(self):
        data = ("the same words again and again " * 200).encode()
        for takeover in (False, True):
            server = self.websockets(settings={"websocket_compression": True, "websocket_context_takeover": takeover})
            offers = {
                "permessage-deflate": True,
                "permessage-deflate; client_max_window_bits": True,
                "permessage-deflate; client_max_window_bits=15; server_max_window_bits=15": True,
                "permessage-deflate; server_max_window_bits=9": True,
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover": True,
                "x-unknown, permessage-deflate; server_max_window_bits=10, permessage-deflate": True,
                # 8 is allowed, but deflate libraries cannot compress with it: declined.
                "permessage-deflate; server_max_window_bits=8": False,
                "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9": True,
                "permessage-deflate; server_max_window_bits=7": False,
                "permessage-deflate; server_max_window_bits=16": False,
                "permessage-deflate; server_max_window_bits": False,
                "permessage-deflate; unknown_parameter": False,
                "permessage-deflate; server_no_context_takeover; server_no_context_takeover": False,
                "permessage-deflate; server_no_context_takeover=1": False,
                "x-unknown": False,
                'permessage-deflate; server_max_window_bits="12"': True,
            }
            for offer, agreed in offers.items():
                with self.subTest(offer, takeover=takeover):
                    ws = self.join(server, extensions=offer)
                    self.assertEqual("sec-websocket-extensions" in ws.fields, agreed)
                    if not takeover and agreed:
                        self.assertIn("server_no_context_takeover", ws.fields["sec-websocket-extensions"])
                    for _ in range(2):
                        if agreed:
                            ws.send(TEXT, websocket.deflated(data, wbits=-9), rsv=4)
                        else:
                            ws.send(TEXT, data)
                        self.assertEqual(ws.message(), (TEXT, data))
                    ws.close()

    def test_none_without_the_setting(self):
        ws = self.join(self.websockets(), extensions="permessage-deflate")
        self.assertNotIn("sec-websocket-extensions", ws.fields)
