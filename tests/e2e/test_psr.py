"""php/lib's PSR classes: a PSR-15 application on three libraries' PSR-7, the log, and the suites for PSR-6 and PSR-16."""

import json
import pathlib
import shutil
import socket
import tempfile
import unittest

import support
from hooks import HookCase

FIXTURES = support.HERE / "fixtures" / "psr"
SHARE = pathlib.Path("/usr/share/php")
LIBRARIES = ("Nyholm/Psr7", "GuzzleHttp/Psr7", "Slim/Psr7")
OF_PHPUNIT = [f"extension={name}" for name in ("dom", "tokenizer", "xml", "xmlwriter")]
FORM = "multipart/form-data; boundary=X"


def needs(*paths):
    for path in paths:
        if not (SHARE / path / "autoload.php").exists():
            raise unittest.SkipTest(f"{path} is missing: tools/install-packages test")


def part(name, body, file=None):
    of_file = f'; filename="{file}"\r\nContent-Type: text/plain' if file else ""
    return f'--X\r\nContent-Disposition: form-data; name="{name}"{of_file}\r\n\r\n{body}\r\n'


class Psr(support.Case):
    def app(self, library="Nyholm/Psr7", **settings):
        needs(library, "Psr/Log")
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        settings = {"worker_num": 1, "log_file": str(self.folder / "log"), **settings}
        script = (FIXTURES / "server.php").read_text()
        # Beside the fixtures: what it requires is there.
        script = script.replace("__DIR__ . '/autoload.php'", json.dumps(str(FIXTURES / "autoload.php")))
        return self.serve(script=script, args=(library, json.dumps(settings), str(self.folder)), ini=("extension=ctype",))

    def log(self):
        return (self.folder / "log").read_text()

    def test_request(self):
        for library in LIBRARIES:
            with self.subTest(library):
                server = self.app(library)
                fields = {"X-Several": "a, b", "Cookie": "c=d%20e", "Content-Type": "application/x-www-form-urlencoded"}
                with server.connect() as client:
                    told = client.request("POST", "/a/b?x%5By%5D=1&z=%C3%A9", body=b"f[]=1&f[]=2", headers=fields)
                    self.assertEqual(told.headers["x-passed"], "2, 1")
                    self.assertEqual(told.json(), {
                        "method": "POST", "uri": "http://test/a/b?x%5By%5D=1&z=%C3%A9",
                        "target": "/a/b?x%5By%5D=1&z=%C3%A9", "version": "1.1", "query": {"x": {"y": "1"}, "z": "é"},
                        "cookies": {"c": "d e"}, "parsed": {"f": ["1", "2"]}, "body": "f[]=1&f[]=2", "header": "a, b",
                        "passed": "12",
                        "parameters": {"REQUEST_URI": "/a/b?x%5By%5D=1&z=%C3%A9", "REMOTE_ADDR": "127.0.0.1"},
                    })
                    told = client.request("OPTIONS", "*")
                    self.assertEqual(told.json()["target"], "*")
                    self.assertEqual(client.request("GET", "/none").status, 204)
                    # The length of what a GET would give, without it.
                    self.assertEqual(client.request("HEAD", "/large").headers["content-length"], str(1 << 20))
                    large = client.request("GET", "/large")
                    self.assertEqual((large.headers["content-length"], len(large.body)), (str(1 << 20), 1 << 20))

    def test_files(self):
        for library in LIBRARIES:
            with self.subTest(library):
                server = self.app(library)
                body = part("a", "text", "a.txt") + part("l[x][]", "t2", "b.txt") + part("empty", "", " ") + "--X--\r\n"
                told = server.get("/files", body=body.encode(), headers={"Content-Type": FORM}).json()
                moved = "the file was moved"
                self.assertEqual(told["a"], ["a.txt", "text/plain", 4, 0, "text", "text", moved])
                self.assertEqual(told["l"], {"x": [["b.txt", "text/plain", 2, 0, "t2", "t2", moved]]})

    def test_both_ways_at_once(self):
        # What was sent comes back before the rest is sent: neither body is kept whole.
        server = self.app(stream_request_body=True)
        with server.connect() as client:
            client.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
            status, _, fields = client.head()
            self.assertEqual((status, fields["transfer-encoding"]), (200, "chunked"))
            self.assertEqual(client.line(), "5")
            self.assertEqual(client.exactly(7), b"first\r\n")
            client.send(b"6\r\nsecond\r\n0\r\n\r\n")
            self.assertEqual(client.chunks()[0], b"second")

    def test_cookies(self):
        server = self.app()
        cookies = server.get("/cookies").headers["set-cookie"]
        self.assertRegex(cookies, r"PHPSESSID=[^;]+; path=/")
        self.assertIn("a=1, b=2; Path=/", cookies)

    def test_exception(self):
        server = self.app()
        with server.connect() as client:
            self.assertEqual(client.request("GET", "/throw").status, 500)
            self.assertEqual(client.request("GET", "/").status, 200)
        support.until("the exception in the log", lambda: "DomainException: this cannot be" in self.log())
        self.assertRegex(server.said(), r'notice: app: serves a\\nb \{"more":\[1]}\nException: e at [^\n]+\n#0 ')

    def test_what_no_message_can_be(self):
        server = self.app()
        answer = server.raw(b"GET / HTTP/1.1\r\nHost: test:99999\r\nConnection: close\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)

    def order(self, **settings):
        """Holds one request, sends another one, lets the first go on."""
        server = self.app(**settings)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.settimeout(support.PATIENCE)
            listener.bind(str(self.folder / "held"))
            listener.listen()
            with server.connect() as first, server.connect() as second:
                first.send(b"GET /hold HTTP/1.1\r\nHost: test\r\n\r\n")
                held, _ = listener.accept()
                held.recv(1)
                second.send(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
                if settings:
                    self.assertEqual(second.answer().status, 200)
                held.send(b"x")
                held.close()
                self.assertEqual(first.answer().body, b"held")
                if not settings:
                    self.assertEqual(second.answer().status, 200)
        return (self.folder / "order").read_text().split()

    def test_one_at_a_time(self):
        self.assertEqual(self.order(), ["begin", "end", "other"])

    def test_many_at_a_time(self):
        self.assertEqual(self.order(max_concurrency=0), ["begin", "other", "end"])


class Suites(HookCase):
    """The suites of php-cache for implementations of PSR-6 and PSR-16."""

    def suite(self, name):
        needs("Cache/IntegrationTests")
        phpunit = shutil.which("phpunit")
        if not phpunit:
            self.skipTest("phpunit is missing: tools/install-packages test")
        self.php(phpunit, "--no-configuration", str(FIXTURES / f"{name}.php"), ini=OF_PHPUNIT)

    def test_simple_cache(self):
        self.suite("SimpleCacheTest")

    def test_pool(self):
        self.suite("CachePoolTest")
