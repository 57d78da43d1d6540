"""The access log: its lines, that nothing which clients send can forge one, rotation, and that workers never wait."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import unittest

from support import PATIENCE, Case, Client, Server, needs, php_array, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import servers  # noqa: E402

HANDLER = """
    match ($path) {
        '/pieces' => (function () use ($response) { $response->write('abc'); $response->write('defg'); $response->end('h'); })(),
        '/file' => $response->sendfile($folder . '/server.php'),
        '/wait' => Coroutine::sleep(60),
        '/fail' => throw new Exception('x'),
        default => $response->end('hello'),
    };
"""


class Access(Case):
    def server(self, handler=HANDLER, *, settings=None, **more):
        server = Server(handler, settings={"access_log": "access", **(settings or {})}, **more)
        self.addCleanup(server.__exit__)
        return server

    @staticmethod
    def lines(server, count, name="access"):
        """Waits until there are so many; the file has no line that is not whole."""
        path = server.folder / name

        def read():
            text = path.read_bytes() if path.exists() else b""
            return text.split(b"\n")[:-1] if text.count(b"\n") >= count else None

        lines = until(f"{count} lines", read)
        assert len(lines) == count, lines
        return [line.decode() for line in lines]


class Lines(Access):
    def test_combined(self):
        server = self.server()
        with server.connect() as client:
            client.request(path="/a?b=c", headers={"User-Agent": "me", "Referer": "http://r/"})
            client.request("HEAD", "/")
            client.request("POST", "/pieces", body=b"x")
            client.request(path="/fail")
            client.request(path="/file")
        lines = self.lines(server, 5)
        time = r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\]"
        size = (server.folder / "server.php").stat().st_size
        for line, request, status, sent, rest in zip(
            lines,
            ["GET /a?b=c", "HEAD /", "POST /pieces", "GET /fail", "GET /file"],
            [200, 200, 200, 500, 200],
            [5, 0, 8, r"\d+", size],
            ['"http://r/" "me"', '"-" "-"', '"-" "-"', '"-" "-"', '"-" "-"'],
            strict=True,
        ):
            self.assertRegex(line, f"^127.0.0.1 - - {time} \"{re.escape(request)} HTTP/1.1\" {status} {sent} {rest}$")

    def test_requests_that_are_alike_and_those_between_them(self):
        log = "$request $http_user_agent $remote_addr"
        rewrites = {"/blog/*": "/*"}
        server = self.server(
            settings={"access_log_format": log, "worker_num": 1, "trusted_proxies": ["127.0.0.1"], "rewrites": rewrites, "keepalive_timeout": 60}
        )
        asked = [("/a", "x"), ("/a", "x"), ("/b", "x"), ("/a", "x"), ("/a", "y"), ("/blog/a", "y"), ("/blog/a", "y"), ("/a", "y")]
        expected = []
        with server.connect() as one, server.connect() as other:
            for path, agent in asked:
                # By turns over two connections, whose requests may lie in the same memory; each for another client.
                for client, address in ((one, "192.0.2.1"), (one, "192.0.2.1"), (other, "192.0.2.2")):
                    client.request(path=path, headers={"User-Agent": agent, "X-Forwarded-For": address})
                    expected.append(f"GET {path} HTTP/1.1 {agent} {address}")
        self.assertEqual(self.lines(server, len(expected)), expected)

    def test_json_over_tls_and_an_own_format(self):
        cert, key = servers.certificate()
        server = self.server(settings={"access_log_format": "json", "ssl_cert_file": str(cert), "ssl_key_file": str(key)})
        context = ssl.create_default_context(cafile=cert)
        context.check_hostname = False
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as sock:
            with context.wrap_socket(sock) as tls:
                client = Client(tls)
                client.send(b"GET / HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: a\"\\b\r\n\r\n")
                self.assertEqual(client.answer().status, 200)
        line = json.loads(self.lines(server, 1)[0])
        self.assertEqual(
            {name: line[name] for name in ("method", "protocol", "host", "status", "bytes", "user_agent", "referer", "worker")},
            {"method": "GET", "protocol": "HTTP/1.1", "host": "shop.example", "status": 200, "bytes": 5, "user_agent": 'a"\\b', "referer": "", "worker": 0},
        )
        self.assertGreater(line["seconds"], 0)
        server = self.server(settings={"access_log_format": "$scheme $remote_port ${status}x $http_x_id $http_x_id"})
        with server.connect() as client:
            client.request(headers={"X-Id": "7"})
            self.assertEqual(self.lines(server, 1), [f"http {client.sock.getsockname()[1]} 200x 7 7"])

    def test_what_is_sent_to_https(self):
        settings = {"https_redirect": 443, "open_http2_protocol": True, "access_log_format": "$request $status $host"}
        server = self.server(settings=settings)
        with server.connect() as client:
            client.send(b"GET /a?b HTTP/1.1\r\nHost: shop.test\r\n\r\n")
            self.assertEqual(client.answer().status, 308)
        line = [needs("curl"), "-sS", "--http2-prior-knowledge", "-o", os.devnull, f"http://127.0.0.1:{server.port}/c"]
        subprocess.run(line, check=True, timeout=PATIENCE)
        self.assertEqual(self.lines(server, 2), ["GET /a?b HTTP/1.1 308 shop.test", f"GET /c HTTP/2.0 308 127.0.0.1:{server.port}"])

    def test_nothing_forges_a_line(self):
        server = self.server()
        evil = bytes(byte for byte in range(1, 256) if byte not in b"\r\n")
        agent = bytes(byte for byte in evil if byte >= 0x80 or byte == 9 or 0x20 <= byte < 0x7f)
        server.raw(b"GET /\"x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUser-Agent: a" + agent + b"b\r\n\r\n")
        server.raw(b"GET /\x00\x1b[31m HTTP/1.1\r\nHost: x\r\n\r\n")
        server.raw(b"\xff\n\n127.0.0.1 - - forged\r\n\r\n")
        lines = self.lines(server, 3)
        for line in lines:
            self.assertTrue(all(0x20 <= ord(char) < 0x7F for char in line), line)
            self.assertEqual(line.count('"'), 6)
            self.assertTrue(line.startswith("127.0.0.1 - - ["))
        self.assertIn("\\x22", lines[0])
        self.assertRegex(lines[1], r'"-" 400 \d+ "-" "-"$')

    def test_the_client_that_a_trusted_proxy_names(self):
        server = self.server(settings={"trusted_proxies": ["127.0.0.1"], "access_log_format": "$remote_addr $scheme $host"})
        with server.connect() as client:
            client.request(headers={"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example"})
        self.assertEqual(self.lines(server, 1), ["192.0.2.7 https shop.example"])

    def test_clients_that_leave(self):
        server = self.server(settings={"cancel_on_disconnect": True})
        with server.connect() as client:
            client.send(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
            until("it is being handled", lambda: server.status()["totals"]["active"] == 1)
        self.assertRegex(self.lines(server, 1)[0], r'"GET /wait HTTP/1.1" 499 ')

    def test_sampling_keeps_failures(self):
        server = self.server(settings={"access_log_sample": 10})
        with server.connect() as client:
            for number in range(100):
                client.request(path="/fail" if number == 55 else "/")
        lines = self.lines(server, 11)
        self.assertEqual(sum(" 500 " in line for line in lines), 1)

    def test_bodies_count_as_they_go_out(self):
        handler = "if ($path === '/on') { $response->write('abc'); } $response->end(str_repeat('x', 100_000));"
        server = self.server(handler, settings={"http_compression": True, "access_log_format": "$request_uri $body_bytes_sent"})
        with server.connect() as client:
            whole = client.request(path="/", headers={"Accept-Encoding": "gzip"})
            client.request(path="/on", headers={"Accept-Encoding": "gzip"})
        lines = self.lines(server, 2)
        self.assertEqual(lines[0], f"/ {len(whole.body)}")
        self.assertLess(int(lines[1].split(" ")[1]), 2000)

    def test_http2(self):
        server = self.server(settings={"open_http2_protocol": True, "access_log_format": "$request $status $body_bytes_sent $host"})
        subprocess.run([needs("curl"), "-s", "--http2-prior-knowledge", server.url("/two")], check=True, capture_output=True)
        self.assertEqual(self.lines(server, 1), [f"GET /two HTTP/2.0 200 5 127.0.0.1:{server.port}"])

    def test_formats_that_cannot_be(self):
        with self.assertRaisesRegex(AssertionError, "access_log_format.*there is no .stauts"):
            self.server(settings={"access_log_format": "$stauts"})
        with self.assertRaisesRegex(AssertionError, "access_log"):
            self.server(settings={"access_log": "/nowhere/at/all"})


class OfHosts(Access):
    """A host's own log, in its own form; what it does not say is the server's."""

    HOSTS = """
        $server->host('own.test', ['access_log' => 'own', 'access_log_format' => '$host $request_uri $status $http_x_id']);
        $server->host('form.test', ['access_log_format' => 'form $request_uri $http_x_a']);
        $server->host('none.test', ['access_log' => '']);
        $server->host('few.test', ['access_log' => 'few', 'access_log_format' => '$status', 'access_log_sample' => 10]);
        $server->host('same.test', []);
    """

    @staticmethod
    def ask(client, host, path, fields=""):
        client.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n".encode())
        return client.answer()

    def test_each_answer_is_in_one_log(self):
        settings = {"access_log_format": "$host $request_uri $http_x_b", "worker_num": 2, "open_http2_protocol": True}
        server = self.server(settings=settings, before=self.HOSTS)
        with server.connect() as client:
            for host in ("own.test", "form.test", "none.test", "same.test", "other.test"):
                self.ask(client, host, f"/{host}", "X-Id: 7\r\nX-A: a\r\nX-B: b\r\n")
            for number in range(30):
                self.ask(client, "few.test", "/fail" if number == 7 else "/")
            self.ask(client, "own.test", "/last")
            client.send(b"not HTTP\r\n\r\n")
            self.assertEqual(client.answer().status, 400)
        curl = [needs("curl"), "-sS", "--max-time", str(PATIENCE), "--http2-prior-knowledge", "-H", "Host: own.test"]
        subprocess.run([*curl, f"http://127.0.0.1:{server.port}/two"], check=True, stdout=subprocess.DEVNULL)
        # Each worker has a ring: their lines come one worker after the other.
        own = ["own.test /last 200 -", "own.test /own.test 200 7", "own.test /two 200 -"]
        self.assertEqual(sorted(self.lines(server, 3, "own")), own)
        # What cannot be read is nobody's, also behind a request of a host.
        self.assertEqual(self.lines(server, 4), ["form /form.test a", "same.test /same.test b", "other.test /other.test b", "- - -"])
        self.assertEqual(sorted(self.lines(server, 4, "few")), ["200", "200", "200", "500"])

    def test_a_client_that_leaves_and_a_body_that_is_refused_are_the_hosts(self):
        settings = {"access_log": "", "cancel_on_disconnect": True, "package_max_length": "64K"}
        server = self.server(settings=settings, before=self.HOSTS)
        with server.connect() as client:
            client.send(b"GET /wait HTTP/1.1\r\nHost: own.test\r\n\r\n")
            until("it is being handled", lambda: server.status()["totals"]["active"] == 1)
        self.assertEqual(self.lines(server, 1, "own"), ["own.test /wait 499 -"])
        for host in ("own.test", "none.test", "other.test"):
            with server.connect() as client:
                client.send(f"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000\r\n\r\n".encode())
                self.assertEqual(client.answer().status, 413)
        self.assertEqual(self.lines(server, 2, "own")[1], "- - 413 -")
        self.assertFalse((server.folder / "access").exists())

    def test_all_are_opened_anew(self):
        server = self.server(before=self.HOSTS, settings={"access_log_format": "$request_uri"})
        with server.connect() as client:
            self.ask(client, "own.test", "/1")
            self.ask(client, "same.test", "/1")
        self.lines(server, 1), self.lines(server, 1, "own")
        for name in ("access", "own"):
            (server.folder / name).rename(server.folder / f"{name}.old")
        server.kill(signal.SIGHUP)
        until("both are there", lambda: all((server.folder / name).exists() for name in ("access", "own")))
        # HUP reloads, too: a worker that leaves answers, and closes the connection then.
        for host in ("own.test", "same.test"):
            with server.connect() as client:
                self.ask(client, host, "/2")
        self.assertEqual((self.lines(server, 1), self.lines(server, 1, "own")), (["/2"], ["own.test /2 200 -"]))

    def test_what_is_wrong_is_told_at_the_start(self):
        for settings, why in (({"access_log_format": "$nothing"}, r"there is no \$nothing"), ({"access_log": "/none/x"}, "/none/x")):
            with self.assertRaisesRegex(AssertionError, why):
                self.server(before=f"$server->host('a.test', {php_array(settings)});")


class Files(Access):
    def test_hup_opens_it_anew(self):
        server = self.server()
        server.get("/one")
        self.lines(server, 1)
        os.rename(server.folder / "access", server.folder / "old")
        server.get("/two")
        self.lines(server, 2, "old")
        server.kill(1)
        until("it is opened anew", (server.folder / "access").exists)
        server.get("/three")
        self.assertIn("/three", self.lines(server, 1)[0])

    def test_rotation_by_size(self):
        server = self.server(settings={"access_log_format": "$request_uri " + "x" * 1000, "access_log_max_size": 20_000, "access_log_keep": 2})
        written, log = 0, server.folder / "access"

        def last():
            # While one file takes the other's name, there is none.
            with contextlib.suppress(FileNotFoundError):
                return log.read_text().count(f"/{written - 1} ") == 1

        for batch in range(8):
            with server.connect() as client:
                for number in range(10):
                    client.request(path=f"/{batch * 10 + number}")
            written += 10
            until("all is written", last)
        names = sorted(path.name for path in server.folder.glob("access*"))
        self.assertEqual(names, ["access", "access.1", "access.2"])
        kept = "".join((server.folder / name).read_text() for name in reversed(names)).splitlines()
        numbers = [int(line.split(" ")[0][1:]) for line in kept]
        self.assertEqual(numbers, list(range(numbers[0], written)))
        for name in names:
            self.assertLessEqual((server.folder / name).stat().st_size, 20_000)

    def test_what_a_killed_worker_said_is_written(self):
        server = self.server(HANDLER.replace("default", "'/die' => $response->end('x') && Apus\\Process::kill(getmypid(), 9), default"))
        with server.connect() as client:
            for _ in range(50):
                client.request()
            client.send(b"GET /die HTTP/1.1\r\nHost: x\r\n\r\n")
            client.rest()
        lines = self.lines(server, 51)
        self.assertIn("/die", lines[-1])

    def test_the_last_lines_are_written_at_the_end(self):
        server = self.server()
        with server.connect() as client:
            for _ in range(20):
                client.request()
        self.assertEqual(server.stop(), 0)
        self.assertEqual(len(self.lines(server, 20)), 20)

    def test_standard_output(self):
        server = self.server(settings={"access_log": "stdout", "access_log_format": "said $status"})
        server.get()
        until("it is said", lambda: "said 200\n" in server.said())


class Stalled(Access):
    def test_a_target_that_takes_nothing_holds_no_worker_up(self):
        folder = pathlib.Path(os.path.realpath("/tmp")) / f"apus-e2e-fifo-{os.getpid()}-{id(self)}"
        os.mkfifo(folder)
        self.addCleanup(folder.unlink)
        # It is open, and nobody reads.
        reader = os.open(folder, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        server = self.server(settings={"access_log": str(folder), "access_log_format": "$request_uri", "max_header_size": 16384, "metrics_address": "127.0.0.1:0"})
        target = "/" + "x" * 4000
        many = b"".join(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for _ in range(20))
        with server.connect() as client:
            for _ in range(50):
                client.send(many)
                for _ in range(20):
                    self.assertEqual(client.answer().status, 200)
        until("the loss is told", lambda: "lines of the access log were dropped" in server.log())
        self.assertEqual(server.get("/").status, 200)


if __name__ == "__main__":
    unittest.main()
