"""Request ids: which one a request has, and that every line of the log that it causes tells it."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import Case, Server, needs, php, until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-00"

HANDLER = """
    $tell = fn () => $response->end(json_encode([$request->getTraceId(), Apus\\trace_id(), $request->getTraceparent()]));
    $log = function (string $what) {
        Apus\\write_log('warning', "$what written");
        error_log("$what logged");
        $void = $undefined;
        error_log(json_encode(['json' => $what]));
    };
    match ($path) {
        '/log' => (function () use ($log, $tell) {
            $log('handler');
            Coroutine::sleep(0.001);
            Apus\\go(function () use ($log) { Coroutine::sleep(0.001); $log('child'); });
            Coroutine::sleep(0.02);
            $tell();
        })(),
        '/throw' => throw new Exception('thrown'),
        '/forget' => null,
        default => $tell(),
    };
"""


class Ids(Case):
    def server(self, **settings):
        more = settings.pop("more", {})
        server = Server(HANDLER, settings=settings, **more)
        self.addCleanup(server.__exit__)
        return server

    def ids(self, server, headers=None, path="/"):
        """What the handler knows, and the field of the answer."""
        with server.connect() as client:
            answer = client.request(path=path, headers=headers or {})
        return *json.loads(answer.body), answer.headers.get("x-request-id")

    def assert_made(self, trace, parent):
        self.assertRegex(trace, "^[0-9a-f]{32}$")
        self.assertNotEqual(trace, TRACE)
        self.assertRegex(parent, f"^00-{trace}-[0-9a-f]{{16}}-01$")

    def test_off_they_are_made_when_they_are_asked_for(self):
        server = self.server()
        trace, current, parent, field = self.ids(server, {"traceparent": PARENT})
        self.assert_made(trace, parent)
        self.assertEqual((current, field), (None, None))
        server.get("/log")
        self.assertRegex(server.log(), r"\] warning: handler written\n")

    def test_own_ones_are_different_also_over_workers(self):
        server = self.server(request_ids="own", request_id_header="X-Request-Id", worker_num=2)
        seen = set()
        for _ in range(20):
            trace, current, parent, field = self.ids(server, {"traceparent": PARENT})
            self.assert_made(trace, parent)
            self.assertEqual((current, field), (trace, trace))
            seen.add(trace)
        self.assertEqual(len(seen), 20)

    def test_answers_that_the_program_never_sees_tell_it_too(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "file.txt").write_text("a file")
        code = "echo password_hash('word', PASSWORD_BCRYPT, ['cost' => 4]);"
        hashed = subprocess.run([php(), "-n", "-r", code], capture_output=True, check=True, text=True).stdout
        server = self.server(
            request_ids="all",
            request_id_header="X-Request-Id",
            document_root=str(folder),
            enable_static_handler=True,
            static_handler_locations=["/file.txt", "/none.txt"],
            redirects={"/old": "/new"},
            basic_auth={"/secret": f"anna:{hashed}"},
            open_http2_protocol=True,
        )
        with server.connect() as client:
            for path, status in (("/file.txt", 200), ("/none.txt", 404), ("/old", 301), ("/secret", 401), ("/", 200)):
                answer = client.request(path=path, headers={"traceparent": PARENT})
                self.assertEqual((answer.status, answer.headers.get("x-request-id")), (status, TRACE), path)
                other = client.request(path=path)
                self.assertRegex(other.headers["x-request-id"], "^[0-9a-f]{32}$")
                self.assertNotEqual(other.headers["x-request-id"], TRACE)
        limited = self.server(request_ids="all", request_id_header="X-Request-Id", denied_clients=["127.0.0.1"])
        with limited.connect() as client:
            answer = client.request(headers={"traceparent": PARENT})
            self.assertEqual((answer.status, answer.headers.get("x-request-id")), (403, TRACE))

    def test_what_the_program_sets_rules(self):
        server = Server("$response->header('x-request-id', 'mine'); $response->end();", settings={"request_ids": "own", "request_id_header": "X-Request-Id"})
        self.addCleanup(server.__exit__)
        with server.connect() as client:
            answer = client.request()
            self.assertEqual(answer.headers["x-request-id"], "mine")

    def test_whose_are_taken_over(self):
        for settings, taken in [
            ({"request_ids": "trusted"}, False),
            ({"request_ids": "trusted", "trusted_proxies": ["10.0.0.0/8"]}, False),
            ({"request_ids": "trusted", "trusted_proxies": ["127.0.0.0/8"]}, True),
            ({"request_ids": "all"}, True),
        ]:
            with self.subTest(settings):
                server = self.server(**settings)
                trace, current, parent, _ = self.ids(server, {"traceparent": PARENT})
                self.assertEqual(current, trace)
                self.assertEqual(trace == TRACE, taken)
                if taken:
                    self.assertRegex(parent, f"^00-{TRACE}-[0-9a-f]{{16}}-00$")
                    self.assertNotIn("00f067aa0ba902b7", parent)

    def test_what_is_malformed_or_sent_twice_is_not_taken_over(self):
        server = self.server(request_ids="all")
        for value in ["", "x", PARENT.upper(), PARENT + "-x", PARENT.replace("4bf9", "4b\\n"), "00-" + "0" * 32 + PARENT[35:]]:
            trace, _, parent, _ = self.ids(server, {"traceparent": value})
            self.assert_made(trace, parent)
        with server.connect() as client:
            client.send(f"GET / HTTP/1.1\r\nHost: x\r\ntraceparent: {PARENT}\r\nTraceparent: {PARENT}\r\n\r\n".encode())
            self.assertNotIn(TRACE.encode(), client.answer().body)

    def test_lines_of_the_log_tell_them(self):
        server = self.server(request_ids="all", more={"ini": ["log_errors=1", "display_errors=0"]})
        self.ids(server, {"traceparent": PARENT}, "/log")
        log = server.said()
        for what in ["handler", "child"]:
            self.assertRegex(log, rf"\] warning {TRACE}: {what} written\n")
            self.assertIn(f"[{TRACE}] {what} logged\n", log)
            self.assertIn('\n{"json":"%s"}\n' % what, log)
        self.assertEqual(log.count(f"[{TRACE}] PHP Warning:  Undefined variable $undefined"), 2)
        other = "00-" + "ab" * 16 + PARENT[35:]
        for path, said in [("/throw", "thrown"), ("/forget", "without Response::end()")]:
            with server.connect() as client:
                self.assertEqual(client.request(path=path, headers={"traceparent": other}).status, 500)
            line = until(said, lambda: next((line for line in server.log().splitlines() if said in line), None))
            self.assertRegex(line, rf"\] (error|warning) {'ab' * 16}: ")
        server.control("reload wait")
        self.assertRegex(server.log(), r"\] info: [^\n]*\n$", "what is no request's has none")

    def test_without_coroutines(self):
        server = self.server(request_ids="all", enable_coroutine=False)
        self.assertEqual(self.ids(server, {"traceparent": PARENT})[:2], (TRACE, TRACE))
        with server.connect() as client:
            client.request(path="/throw", headers={"traceparent": PARENT})
        self.assertRegex(server.log(), rf"\] error {TRACE}: .*uncaught")

    def test_the_access_log_tells_them(self):
        server = self.server(request_ids="all", access_log="access", access_log_format="$trace_id $request_uri")
        self.ids(server, {"traceparent": PARENT})
        trace = self.ids(server, path="/own")[0]
        server.raw(b"GET / HTTP/1.1\r\n\r\n")
        path = server.folder / "access"
        expected = f"{TRACE} /\n{trace} /own\n- -\n"
        until("three lines", lambda: path.exists() and path.read_text() == expected)

    def test_http2(self):
        server = self.server(request_ids="all", request_id_header="X-Request-Id", open_http2_protocol=True)
        asked = [needs("curl"), "-s", "--http2-prior-knowledge", "-i", "-H", f"traceparent: {PARENT}", server.url("/")]
        answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        self.assertIn(f"x-request-id: {TRACE}", answer.lower())
        self.assertIn(f'["{TRACE}","{TRACE}","00-{TRACE}-', answer)

    def test_names_that_cannot_be(self):
        for name in ["a b", "Content-Length", "x:"]:
            with self.assertRaisesRegex(AssertionError, "request_id_header"):
                self.server(request_ids="own", request_id_header=name)


if __name__ == "__main__":
    unittest.main()
