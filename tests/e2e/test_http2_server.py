"""HTTP/2 on a server's ports: the same handlers, requests and responses as over HTTP/1.1, many streams at once."""

import hashlib
import json
import signal

from http2_peers import NODE, Http2Case, servers
from support import until

HANDLER = r"""
    match ($path) {
        '/big' => $response->end(str_repeat('0123456789', 300_000)),
        '/file' => $response->sendfile($folder . '/file'),
        '/upload' => $response->end(md5($request->rawContent()) . ' ' . json_encode($request->getTrailers())),
        '/form' => $response->end(json_encode([$request->post, $request->files['f']['size']])),
        '/empty' => $response->end(),
        '/204' => $response->status(204) && $response->end(),
        '/304' => $response->status(304) && $response->end(),
        '/throw' => throw new Exception('on purpose'),
        '/wait' => Coroutine::sleep(0.05) && $response->end('waited'),
        '/pieces' => (function () use ($response) {
            for ($i = 0; $i < 50; $i++) { $response->write(str_repeat(chr(65 + $i % 26), 5000)); }
            $response->trailer('X-Sum', 'abc');
            $response->end('end');
        })(),
        default => $response->end(json_encode([$request->server['server_protocol'], $request->streamId, $request->getMethod(), $request->header['host'], $request->get, $request->cookie, $request->server['https'] ?? null])),
    };
"""
BIG = b"0123456789" * 300_000
PIECES = b"".join(bytes([65 + i % 26]) * 5000 for i in range(50)) + b"end"


def md5(data):
    return hashlib.md5(data).hexdigest()


class Requests(Http2Case):
    def test_curl_by_prior_knowledge_and_by_alpn(self):
        server = self.http2(HANDLER)
        told = json.loads(self.curl("--http2-prior-knowledge", "-b", "a=b; c=d", server.url("/x?q=1")))
        self.assertEqual(told, ["HTTP/2", 1, "GET", f"127.0.0.1:{server.port}", {"q": "1"}, {"a": "b", "c": "d"}, None])
        # The same port speaks HTTP/1.1.
        self.assertEqual(server.get("/x").json()[0], "HTTP/1.1")
        server = self.http2(HANDLER, tls=True)
        cert = str(servers.certificate()[0])
        told = json.loads(self.curl("--http2", "--cacert", cert, f"https://localhost:{server.port}/"))
        self.assertEqual((told[0], told[6]), ("HTTP/2", "on"))
        told = json.loads(self.curl("--http1.1", "--cacert", cert, f"https://localhost:{server.port}/"))
        self.assertEqual((told[0], told[6]), ("HTTP/1.1", "on"))

    def test_an_upgrade_of_http1(self):
        server = self.http2(HANDLER)
        said = self.curl("--http2", "-w", "\n%{http_version}\n", server.url("/one"), server.url("/two")).decode()
        first, version, second = said.splitlines()[:3]
        self.assertEqual((json.loads(first)[:2], version, json.loads(second)[:2]), (["HTTP/2", 1], "2", ["HTTP/2", 3]))
        self.assertEqual(self.curl("--http2", server.url("/big")), BIG)
        self.assertEqual(self.curl("--http2", "--data-binary", "abc", server.url("/upload")).decode(), f"{md5(b'abc')} []")
        # What is no sound wish for it is answered as ever, and a port without the setting does not hear it.
        for wish in ("", "HTTP2-Settings: !\r\n", "HTTP2-Settings: AAA\r\n", "HTTP2-Settings: \r\nHTTP2-Settings: \r\n"):
            raw = f"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n{wish}\r\n"
            self.assertTrue(server.raw(raw.encode()).startswith(b"HTTP/1.1 200 "), wish)
        self.assertEqual(self.curl("--http2", "-o", "/dev/null", "-w", "%{http_version}", self.serve(HANDLER).url("/")), b"1.1")

    def test_a_port_that_only_redirects(self):
        server = self.http2(HANDLER, settings={"https_redirect": 8443})
        [get, post] = self.ask(server, {"path": "/x?a=b"}, {"path": "/upload", "size": 100_000})
        self.assertEqual([get["status"], post["status"]], [308, 308])
        self.assertEqual(get["headers"]["location"], "https://localhost:8443/x?a=b")

    def test_answers_of_every_kind(self):
        for tls in (False, True):
            server = self.http2(HANDLER, tls=tls)
            content = bytes(range(256)) * 10_000
            (server.folder / "file").write_bytes(content)
            paths = ["/big", "/file", "/pieces", "/empty", "/204", "/304", "/throw", "/wait"]
            answers = dict(zip(paths, self.ask(server, *({"path": path} for path in paths), tls=tls)))
            self.assertEqual(answers["/big"]["md5"], md5(BIG))
            self.assertEqual(answers["/big"]["headers"]["content-length"], "3000000")
            self.assertEqual(answers["/file"]["md5"], md5(content))
            self.assertEqual(answers["/pieces"]["md5"], md5(PIECES))
            self.assertEqual(answers["/pieces"]["trailers"]["x-sum"], "abc")
            self.assertEqual([answers[path]["status"] for path in paths], [200, 200, 200, 200, 204, 304, 500, 200])
            self.assertEqual([answers[path]["length"] for path in ("/empty", "/204", "/304")], [0, 0, 0])
            self.assertEqual(answers["/wait"]["body"], "waited")
            self.assertEqual({answer["code"] for answer in answers.values()}, {0})

    def test_an_answer_to_head_tells_the_length(self):
        server = self.http2(HANDLER)
        answer, written = self.ask(server, {"path": "/big", "method": "HEAD"}, {"path": "/pieces", "method": "HEAD"})
        self.assertEqual((answer["headers"]["content-length"], answer["length"]), ("3000000", 0))
        self.assertEqual((written["status"], written["length"], written["code"]), (200, 0, 0))

    def test_uploads_forms_and_trailers(self):
        server = self.http2(HANDLER)
        form = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--b\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n' + b"x" * 50_000 + b"\r\n--b--\r\n"
        upload, known, sent, trailing = self.ask(
            server,
            {"path": "/upload", "size": 5_000_000},
            {"path": "/upload", "size": 700_000, "headers": {"content-length": "700000"}},
            {"path": "/form", "body": form.decode(), "headers": {"content-type": "multipart/form-data; boundary=b"}},
            {"path": "/upload", "body": "abc", "trailers": {"x-check": "1"}},
        )
        body = (b"upload" * 1_000_000)[:5_000_000]
        self.assertEqual(upload["body"], f"{md5(body)} []")
        self.assertEqual(known["body"], f"{md5(body[:700_000])} []")
        self.assertEqual(json.loads(sent["body"]), [{"a": "b"}, 50_000])
        self.assertEqual(trailing["body"], f'{md5(b"abc")} {{"x-check":"1"}}')

    def test_many_streams_at_once(self):
        server = self.http2(HANDLER)
        answers = self.ask(server, *({"path": "/wait" if i % 2 else f"/{i}"} for i in range(100)))
        self.assertEqual({answer["status"] for answer in answers}, {200})
        ids = [json.loads(answer["body"])[1] for answer in answers[::2]]
        self.assertEqual(len(set(ids)), 50)

    def test_a_body_that_is_too_large_is_refused_and_the_connection_goes_on(self):
        server = self.http2(HANDLER, settings={"package_max_length": 100_000})
        told, unknown, good = self.ask(
            server,
            {"path": "/upload", "size": 200_000, "headers": {"content-length": "200000"}},
            {"path": "/upload", "size": 200_000},
            {"path": "/upload", "size": 100_000},
        )
        self.assertEqual([told["status"], unknown["status"], good["status"]], [413, 413, 200])
        # curl forgets an answer that a reset follows at once.
        sent = self.curl("--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "x" * 101_000, server.url("/upload"))
        self.assertEqual(sent, b"413")


class Streaming(Http2Case):
    def test_a_body_is_read_as_it_comes(self):
        handler = "while (($piece = $request->read()) !== '') { $response->write(strtoupper($piece)); } $response->end('.');"
        server = self.http2(handler, settings={"stream_request_body": True})
        [answer] = self.ask(server, {"path": "/", "pieces": ["one", "two", "three"]})
        self.assertEqual(answer["body"], "ONETWOTHREE.")

    def test_a_client_that_is_not_read_waits_and_one_that_does_not_read_makes_the_handler_wait(self):
        handler = r"""
            if ($path === '/slow') { $response->end((string) strlen($request->rawContent())); return; }
            for ($i = 0; $i < 400; $i++) { $response->write(str_repeat('x', 10_000)); }
            $response->end();
        """
        server = self.http2(handler, settings={"stream_request_body": True, "package_max_length": "64M", "buffer_output_size": 65_536})
        upload, down = self.ask(server, {"path": "/slow", "size": 5_000_000}, {"path": "/"})
        self.assertEqual((upload["body"], down["length"]), ("5000000", 4_000_000), down)

    def test_a_handler_whose_client_has_left_is_cancelled(self):
        handler = r"""
            $response->write('begun');
            try { Coroutine::sleep(60); } catch (Throwable $e) { file_put_contents($folder . '/left', get_class($e) . "\n", FILE_APPEND); }
        """
        server = self.http2(handler, settings={"cancel_on_disconnect": True})
        [answer, other] = self.ask(server, {"path": "/", "abort": 1}, {"path": "/missing", "abort": 1})
        self.assertEqual((answer["status"], answer["body"]), (200, "begun"))
        left = server.folder / "left"
        self.assertEqual(until("both are cancelled", lambda: left.exists() and left.stat().st_size > 60 and left.read_text()), "Apus\\Coroutine\\CanceledException\n" * 2)

    def test_what_cannot_be_done_on_a_stream_is_said(self):
        server = self.http2("$done = $response->detach(); $response->end(json_encode([$done, $response->fd === $request->fd, Response::create($request->fd)]));")
        [answer] = self.ask(server, {"path": "/"})
        self.assertEqual(json.loads(answer["body"]), [False, True, False])
        self.assertIn("a stream of HTTP/2 cannot be found again by its fd", server.said())


class Early(Http2Case):
    HANDLER = r"""
        $sent = $response->informational(103, ['Link' => ['</a.css>; rel=preload', '</b.js>; rel=preload'], 'X-Hint' => 'yes']);
        $response->informational(110);
        $response->header('X-Sent', $sent ? 'yes' : 'no');
        $response->write('x');
        $response->end($response->informational(103) ? 'again' : 'too late');
    """

    def test_interim_answers_come_before_the_answer(self):
        [answer] = self.ask(self.http2(self.HANDLER), {"path": "/"})
        self.assertEqual([early[":status"] for early in answer["early"]], [103, 110])
        self.assertEqual(answer["early"][0]["link"], "</a.css>; rel=preload, </b.js>; rel=preload")
        self.assertEqual((answer["headers"]["x-sent"], answer["body"]), ("yes", "xtoo late"))

    def test_and_over_http1(self):
        server = self.http2(self.HANDLER)
        said = server.raw(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        first, second, answer = said.split(b"\r\n\r\n", 2)
        self.assertEqual(first.split(b"\r\n"), [b"HTTP/1.1 103 Early Hints", b"Link: </a.css>; rel=preload", b"Link: </b.js>; rel=preload", b"X-Hint: yes"])
        self.assertTrue(second.startswith(b"HTTP/1.1 110 ") and answer.startswith(b"HTTP/1.1 200 OK"), said)
        self.assertTrue(server.raw(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 OK"))

    def test_what_cannot_be_one_is_refused(self):
        handler = r"""
            $said = [];
            foreach ([[99, []], [101, []], [200, []], [103, ["a b" => 'c']], [103, ['a' => "b\r\nc: d"]]] as [$code, $fields]) {
                try { $said[] = $response->informational($code, $fields); } catch (Apus\Http\Exception $e) { $said[] = $e->getCode(); }
            }
            $response->end(json_encode($said));
        """
        [answer] = self.ask(self.http2(handler), {"path": "/"})
        self.assertEqual(len(set(json.loads(answer["body"]))), 2, answer["body"])
        self.assertNotIn(True, json.loads(answer["body"]))


class Frames(Http2Case):
    def test_trailers_follow_any_body_and_leave_its_length_known(self):
        handler = r"""
            $response->trailer('X-Sum', 'abc');
            match ($path) {
                '/short' => $response->end('short'),
                '/long' => $response->end(str_repeat('x', 1_000_000)),
                '/empty' => $response->end(),
                '/file' => $response->sendfile($folder . '/server.php'),
                '/pieces' => $response->write('a') && $response->end('b'),
            };
        """
        server = self.http2(handler)
        lengths = {"/short": 5, "/long": 1_000_000, "/empty": 0, "/file": server.script.stat().st_size, "/pieces": 2}
        for answer, (path, length) in zip(self.ask(server, *({"path": path} for path in lengths)), lengths.items()):
            self.assertEqual((answer["length"], answer["trailers"]["x-sum"], answer["code"]), (length, "abc", 0), path)
            told = None if path == "/pieces" else str(length)
            self.assertEqual(answer["headers"].get("content-length"), told, path)

    def test_a_handler_says_that_the_connection_ends(self):
        server = self.http2("$response->end(json_encode([$response->ping(), $response->goaway(0, 'enough')]));")
        told = self.told(self.begin(server, [{"path": "/"}, {"path": "/"}]))
        self.assertEqual(told["answers"][0]["body"], "[true,true]")
        self.assertEqual(told["goaway"][0][0], 0)
        self.assertEqual(server.get("/").body, b"[false,false]")

    def test_fields_are_counted(self):
        server = self.http2("$response->end('x');", settings={"http2_max_headers": 10})
        few, many = ({"path": "/", "headers": {f"x-{i}": "v" for i in range(count)}} for count in (5, 12))
        self.assertEqual([answer["status"] for answer in self.ask(server, few, many)], [200, 431])


class Life(Http2Case):
    HANDLER = r"""
        if ($path === '/pid') { $response->end((string) getmypid()); return; }
        file_put_contents($folder . '/begun', 'x', FILE_APPEND);
        while (!file_exists($folder . '/go')) { Coroutine::sleep(0.01); }
        $response->end((string) getmypid());
    """

    def begun(self, server, count):
        mark = server.folder / "begun"
        until("the handlers have begun", lambda: mark.exists() and mark.stat().st_size >= count)

    def test_no_stream_is_lost_at_a_reload(self):
        server = self.http2(self.HANDLER)
        [old] = server.workers()
        client = self.begin(server, [{"path": f"/{i}"} for i in range(10)])
        self.begun(server, 10)
        server.kill(signal.SIGUSR1)
        until("the new worker serves", lambda: self.curl("--http2-prior-knowledge", server.url("/pid")) != str(old).encode())
        (server.folder / "go").touch()
        told = self.told(client)
        self.assertEqual({answer["body"] for answer in told["answers"]}, {str(old)})
        self.assertEqual([code for code, _ in told["goaway"]], [0, 0])

    def test_a_stop_answers_what_has_begun(self):
        server = self.http2(self.HANDLER)
        client = self.begin(server, [{"path": f"/{i}"} for i in range(10)])
        self.begun(server, 10)
        server.kill(signal.SIGTERM)
        (server.folder / "go").touch()
        self.assertEqual([answer["status"] for answer in self.told(client)["answers"]], [200] * 10)
        self.assertEqual(server.wait(), 0)

    def test_an_idle_connection_is_told_to_go(self):
        server = self.http2("$response->end('x');", settings={"keepalive_timeout": 1})
        # Node closes its session when it has been told.
        handler = NODE.replace("const over = () => { if (--left === 0) session.close(); };", "const over = () => {};")
        client = self.begin(server, [{"path": "/"}], script=handler)
        told = self.told(client)
        self.assertEqual((told["answers"][0]["body"], told["goaway"][0]), ("x", [0, 0x7FFFFFFF]))
        until("it is closed", lambda: server.status()["totals"]["connections"] == 0)

    def test_connections_and_requests_are_counted(self):
        server = self.http2("$response->end(json_encode($server->getClientInfo($request->fd) + $server->stats()));")
        [answer] = self.ask(server, {"path": "/"})
        told = json.loads(answer["body"])
        self.assertEqual((told["remote_ip"], told["connection_num"]), ("127.0.0.1", 1))
        totals = server.status()["totals"]
        self.assertEqual(totals["requests"], 1, totals)

    def test_a_connection_ends_after_its_last_request(self):
        server = self.http2("$response->end('x');", settings={"keepalive_requests": 3})
        told = self.told(self.begin(server, [{"path": "/"} for _ in range(3)]))
        self.assertEqual({answer["body"] for answer in told["answers"]}, {"x"})
        self.assertEqual(told["goaway"][0], [0, 0x7FFFFFFF])

    def test_what_speaks_neither_is_told_so_in_frames(self):
        server = self.http2("$response->end('x');")
        said = server.raw(b"INVALID CONNECTION PREFACE\r\n\r\n")
        self.assertEqual(said[3], 4, said)
        self.assertIn(b"wrong preface", said)
        self.assertTrue(server.raw(b"GET / HTTP/1.1\r\nHost : a\r\n\r\n").startswith(b"HTTP/1.1 400 "))
