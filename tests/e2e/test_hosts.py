"""Hosts by name, redirects, rewrites, logins and CORS: over HTTP/1.1, TLS and HTTP/2 alike, before PHP is asked."""

import collections
import itertools
import json
import pathlib
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest

from support import PATIENCE, ROOT, Client, needs, php, php_array, until
from test_command import Commands
from test_demo import BROWSER, Browser
from tls_cases import TlsCase

# How a request comes: the port among the server's, the scheme, and what curl is told.
WAYS = [
    (0, "http", ["--http1.1"]),
    (0, "http", ["--http2-prior-knowledge"]),
    (1, "https", ["-k", "--http1.1"]),
    (1, "https", ["-k", "--http2"]),
]


class HostCase(TlsCase):
    def setUp(self):
        super().setUp()
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-hosts-"))
        self.addCleanup(shutil.rmtree, self.place, True)
        for name in ("www", "cdn"):
            (self.place / name).mkdir()
            (self.place / name / "index.html").write_text(f"page of {name}")
        (self.place / "secret").write_text("secret")

    def hosts(self, hosts=(), handler="$response->end('default ' . $path);", **options):
        """A server with a plain and a sealed port, both of HTTP/1.1 and HTTP/2, and hosts: names, settings, handler."""
        before = ["$sealed = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);"]
        before.append(f"$sealed->set({php_array({'ssl_cert_file': str(self.cert), 'ssl_key_file': str(self.key)})});")
        for names, settings, code in hosts:
            closure = f", function ($request, $response) use ($server) {{ $path = $request->server['request_uri']; {code} }}" if code else ""
            before.append(f"$server->host({json.dumps(names)}, {php_array(settings)}{closure});")
        settings = {"open_http2_protocol": True, **options.pop("settings", {})}
        return self.serve(handler, settings=settings, before="\n".join(before), **options)

    def curl(self, server, way, name, path="/", *flags):
        at, scheme, how = WAYS[way]
        port = server.ready["listen"][at].rsplit(":", 1)[1]
        line = [needs("curl"), "-sS", "-i", "--path-as-is", "--max-time", str(PATIENCE), *how, "--connect-to", f"::127.0.0.1:{port}"]
        line += [*flags, f"{scheme}://{name}{path}"]
        done = subprocess.run(line, capture_output=True, timeout=PATIENCE * 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        fields = {}
        for line in lines:
            field, value = line.split(":", 1)
            fields.setdefault(field.lower(), []).append(value.strip())
        return int(first.split(" ")[1]), {field: ", ".join(values) for field, values in fields.items()}, body.decode()


class Hosts(HostCase):
    def test_each_has_its_own(self):
        server = self.hosts(
            [
                ("api.test, api.other.test", {"response_headers": {"X-Host": "api"}}, "$response->end('api ' . $path);"),
                ("*.api.test", {}, "$response->end('wild ' . $request->header['host']);"),
                ("www.test", {"document_root": str(self.place / "www"), "server_header": "w"}, None),
                ("cdn.test", {"document_root": str(self.place / "cdn"), "static_handler_locations": ["/"]}, None),
                ("off.test", {"denied_clients": ["0.0.0.0/0"]}, None),
                ("few.test", {"rate_limit": 4, "rate_limit_period": 3600}, None),
            ],
            settings={"worker_num": 2, "response_headers": {"X-All": "1"}},
        )
        for way, _ in enumerate(WAYS):
            status, fields, body = self.curl(server, way, "api.test", "/x")
            self.assertEqual((status, body, fields["x-host"]), (200, "api /x", "api"))
            self.assertNotIn("x-all", fields)
            self.assertEqual(self.curl(server, way, "API.other.TEST.", "/")[2], "api /")
            self.assertEqual(self.curl(server, way, "v1.api.test")[2], "wild v1.api.test")
            status, fields, body = self.curl(server, way, "www.test")
            self.assertEqual((status, body, fields["server"], fields["x-all"]), (200, "page of www", "w", "1"))
            self.assertEqual(self.curl(server, way, "www.test", "/none")[2], "default /none")
            self.assertEqual(self.curl(server, way, "cdn.test")[2], "page of cdn")
            self.assertEqual(self.curl(server, way, "cdn.test", "/none")[0], 404)
            self.assertEqual(self.curl(server, way, "off.test")[0], 403)
            for name in ("default.test", "a.b.api.test", "test", "127.0.0.1"):
                self.assertEqual(self.curl(server, way, name, "/y")[2], "default /y", name)
            self.assertEqual(self.curl(server, way, "few.test")[0], 200)
        # It is counted on all ports together.
        for way, _ in enumerate(WAYS):
            self.assertEqual(self.curl(server, way, "few.test")[0], 429)
            self.assertEqual(self.curl(server, way, "many.test")[0], 200)

    def test_one_connection_has_requests_for_several(self):
        server = self.hosts([("api.test", {"response_headers": {"X-Host": "api"}}, "$response->end('api');")])
        with server.connect() as client:
            for _ in range(3):
                for name, body in (("api.test", b"api"), ("other.test", b"default /")):
                    client.send(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
                    answer = client.answer()
                    self.assertEqual((answer.body, "x-host" in answer.headers), (body, name == "api.test"))
            # The target's own authority rules (RFC 9112 section 3.2.2).
            client.send(b"GET http://api.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n")
            self.assertEqual(client.answer().body, b"api")
            # Several in one packet.
            both = [f"GET /{at} HTTP/1.1\r\nHost: {name}\r\n\r\n" for at, name in enumerate(("api.test", "x", "api.test"))]
            client.send("".join(both).encode())
            self.assertEqual([client.answer().body for _ in both], [b"api", b"default /1", b"api"])

    def test_limits_are_the_hosts(self):
        large = {"package_max_length": 1 << 20, "max_header_size": 60_000, "http2_max_header_list_size": 60_000, "max_headers": 300}
        server = self.hosts(
            [("large.test", large, "$response->end((string) strlen($request->rawContent()));"), ("small.test", {"package_max_length": "64K", "max_headers": 20}, None)],
            settings={"package_max_length": "128K", "max_header_size": 20_000, "http2_max_header_list_size": 20_000, "max_headers": 40},
        )
        body = self.place / "body"
        body.write_bytes(b"x" * 100_000)
        field = "X-Long: " + "x" * 30_000
        many = [flag for at in range(30) for flag in ("-H", f"X-{at}: 1")]
        for way, _ in enumerate(WAYS):
            self.assertEqual(self.curl(server, way, "large.test", "/", "-H", "Expect:", "--data-binary", f"@{body}")[2], "100000")
            self.assertEqual(self.curl(server, way, "other.test", "/", "-H", "Expect:", "--data-binary", f"@{body}")[0], 200)
            self.assertEqual(self.curl(server, way, "small.test", "/", "-H", "Expect:", "--data-binary", f"@{body}")[0], 413)
            self.assertEqual(self.curl(server, way, "large.test", "/", "-H", field)[0], 200)
            self.assertEqual(self.curl(server, way, "other.test", "/", "-H", field)[0], 431)
            self.assertEqual(self.curl(server, way, "other.test", "/", *many)[0], 200)
            self.assertEqual(self.curl(server, way, "small.test", "/", *many)[0], 431)

    def test_certificates_and_misdirected_requests(self):
        api, www = self.made("api.test"), self.made("www.test")
        of = lambda pair: {"ssl_cert_file": str(pair[0]), "ssl_key_file": str(pair[1])}
        server = self.hosts(
            [("api.test", of(api), "$response->end('api');"), ("www.test", of(www), "$response->end('www');"), ("also.test", of(www), "$response->end('also');"), ("plain.test", {}, "$response->end('plain');")]
        )
        port = int(server.ready["listen"][1].rsplit(":", 1)[1])
        for name, (cert, _) in (("api.test", api), ("www.test", www)):
            context = ssl.create_default_context(cafile=str(cert))
            self.assertEqual(self.by(port, context, name, name), (200, name.split(".")[0]))
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        for asked, host, expected in (
            ("api.test", "www.test", (421, None)),
            ("www.test", "api.test", (421, None)),
            ("www.test", "also.test", (200, "also")),
            ("www.test", "unknown.test", (421, None)),
            ("unknown.test", "unknown.test", (200, "default /")),
            ("unknown.test", "plain.test", (200, "plain")),
            ("unknown.test", "api.test", (421, None)),
            (None, "api.test", (200, "api")),
        ):
            status, body = self.by(port, context, asked, host)
            self.assertEqual((status, body if expected[1] else None), expected, (asked, host))
        # On a connection of HTTP/2 it is the stream's answer, and other streams go on.
        flags = ["-H", "Host: www.test"]
        self.assertEqual(self.curl(server, 3, "api.test", "/", *flags)[0], 421)
        self.assertEqual(self.curl(server, 3, "www.test", "/", "-H", "Host: also.test")[2], "also")

    def test_one_may_demand_certificates_of_clients(self):
        mine, other = self.made("client.test"), self.made("other.test")
        demand = {"ssl_verify_peer": True, "ssl_client_cert_file": str(mine[0])}
        told = "$response->end('inner ' . strlen($request->server['ssl_client_cert'] ?? ''));"
        server = self.hosts(
            [
                ("inner.test, *.inner.test", demand, told),
                ("open.inner.test", {}, "$response->end('open');"),
                ("moved.test", {**demand, "https_redirect": 443}, "$response->end('moved');"),
                ("open.test", {}, "$response->end('open');"),
            ]
        )
        port = int(server.ready["listen"][1].rsplit(":", 1)[1])

        def context(own=None, version=ssl.TLSVersion.TLSv1_3):
            made = ssl.create_default_context()
            made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
            made.maximum_version = version
            if own:
                made.load_cert_chain(*own)
            return made

        pem = ssl.DER_cert_to_PEM_cert(ssl.PEM_cert_to_DER_cert(mine[0].read_text()))
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for name in ("inner.test", "INNER.test", "x.inner.test"):
                self.assertEqual(self.by(port, context(mine, version), name, name), (200, f"inner {len(pem)}"))
                for own in (None, other):
                    with self.assertRaises((ssl.SSLError, EOFError, ConnectionError)):
                        self.by(port, context(own, version), name, name)
            for name in ("open.test", "open.inner.test", "unknown.test"):
                self.assertEqual(self.by(port, context(None, version), name, name)[0], 200, name)
            # Nobody comes in by the name of another, with or without a certificate.
            for asked, host in (("open.test", "inner.test"), ("unknown.test", "inner.test"), (None, "inner.test"), ("open.inner.test", "x.inner.test"), ("inner.test", "open.test")):
                self.assertEqual(self.by(port, context(mine, version), asked, host)[0], 421, (asked, host))
            self.assertEqual(self.by(port, context(mine, version), "inner.test", "x.inner.test")[0], 200)
        # A session that was begun without one is not taken up by a name that demands one.
        made = context(mine)
        sock = made.wrap_socket(socket.create_connection(("127.0.0.1", port), PATIENCE), server_hostname="open.test")
        with Client(sock) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: open.test\r\n\r\n")
            self.assertEqual(client.answer().status, 200)
            session = sock.session
        sock = made.wrap_socket(socket.create_connection(("127.0.0.1", port), PATIENCE), server_hostname="inner.test", session=session)
        with Client(sock) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: inner.test\r\n\r\n")
            self.assertEqual((client.answer().body.decode(), sock.session_reused), (f"inner {len(pem)}", False))
        key = ["--cert", str(mine[0]), "--key", str(mine[1])]
        self.assertEqual(self.curl(server, 3, "inner.test", "/", *key)[2], f"inner {len(pem)}")
        self.assertEqual(self.curl(server, 3, "open.test", "/", *key, "-H", "Host: inner.test")[0], 421)
        for way in (0, 1):
            self.assertEqual(self.curl(server, way, "inner.test")[0], 403)
            self.assertEqual(self.curl(server, way, "moved.test")[0], 308)
            self.assertEqual(self.curl(server, way, "open.test")[0], 200)

    def by(self, port, context, asked, host):
        sock = context.wrap_socket(socket.create_connection(("127.0.0.1", port), PATIENCE), server_hostname=asked)
        with Client(sock) as client:
            client.send(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            answer = client.answer()
            return answer.status, answer.body.decode()

    def test_mistakes_are_told_at_the_start(self):
        for call, told in (
            ("$server->host('http://a');", "is no name of a host"),
            ("$server->host('');", "a host needs a name"),
            ("$server->host('a.test'); $server->host('b.test, A.test');", "there is a host with the name A.test already"),
            ("$server->host('a.test', ['backlog' => 5]);", "is not one of hosts"),
            ("$server->host('a.test', ['document_rot' => 'x']);", "did you mean \\\"document_root\\\""),
            ("$server->host('a.test')->on('receive', fn () => 1);", "is not one of hosts"),
            ("$server->host('a.test', ['document_root' => '/nonexistent/apus']);", "document_root"),
            ("$server->host('a.test', ['redirects' => ['/a/*' => '/a/b/*']]);", "leads to itself"),
            ("$server->host('a.test', ['cors_origins' => '*', 'cors_credentials' => true]);", "name the origins"),
            ("$server->host('a.test', ['basic_auth' => ['/' => '/nonexistent/apus']]);", "basic_auth"),
        ):
            with self.assertRaisesRegex(AssertionError, told.replace("\\", ".?")):
                self.serve(before=call)

    def test_reading_back(self):
        server = self.serve(
            "$response->end($said);".replace("$said", "$GLOBALS['said']"),
            before="""
                $host = $server->host('a.test, *.a.test', ['server_header' => 'a']);
                $host->set(['document_root' => __DIR__]);
                $handler = fn ($request, $response) => $response->end('own');
                $host->on('request', $handler);
                $said = json_encode([$host->names, $host->setting, $host->getCallback('request') === $handler, $host->getCallback('open')]);
            """,
        )
        self.assertEqual(json.loads(server.get("/").body), [["a.test", "*.a.test"], {"document_root": str(server.folder)}, True, None])


class Reloads(HostCase):
    def test_fifty_under_load_fail_nobody(self):
        """New connections, plain and sealed, for files, PHP and a redirect, each by the name of a host."""
        server = self.hosts(
            [
                ("www.test", {"document_root": str(self.place / "www")}, None),
                ("api.test", {}, "usleep(random_int(0, 3000)); $response->end('api');"),
                ("old.test", {"redirects": {"*": "https://www.test/*"}}, None),
            ],
            settings={"worker_num": 2, "max_wait_time": 30},
        )
        ports = [int(address.rsplit(":", 1)[1]) for address in server.ready["listen"]]
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        expected = {"www.test": (200, b"page of www"), "api.test": (200, b"api"), "old.test": (301, b"https://www.test/x\n")}
        over, failed, asked = threading.Event(), [], collections.Counter()

        def load(name, sealed):
            while not over.is_set():
                try:
                    sock = socket.create_connection(("127.0.0.1", ports[sealed]), PATIENCE)
                    sock = context.wrap_socket(sock, server_hostname=name) if sealed else sock
                    with Client(sock) as client:
                        path = "/x" if name == "old.test" else "/"
                        client.send(f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
                        answer = client.answer()
                    if (answer.status, answer.body) != expected[name]:
                        failed.append((name, sealed, answer))
                except (OSError, EOFError) as error:
                    failed.append((name, sealed, error))
                asked[name, sealed] += 1

        threads = [threading.Thread(target=load, args=way) for way in itertools.product(expected, (False, True))]
        for thread in threads:
            thread.start()
        try:
            for _ in range(50):
                old = {worker["pid"] for worker in server.status()["workers"]}
                server.kill(signal.SIGUSR1)

                def replaced():
                    serving = {worker["pid"] for worker in server.status()["workers"] if worker["state"] == "serving"}
                    return len(serving - old) == 2 and not serving & old

                until("new workers serve", replaced)
        finally:
            over.set()
            for thread in threads:
                thread.join(PATIENCE)
        self.assertEqual(failed, [])
        self.assertEqual(len(asked), 6)
        self.assertGreater(min(asked.values()), 10)


class Rules(HostCase):
    def test_redirects(self):
        server = self.hosts(
            [("old.test", {"redirects": {"*": "308 https://new.test/*"}}, None)],
            settings={"redirects": {"/old": "/new", "/blog/*": "302 https://blog.test/*"}},
        )
        for way, _ in enumerate(WAYS):
            for name, path, status, location in (
                ("x", "/old", 301, "/new"),
                ("x", "/old?a=b", 301, "/new?a=b"),
                ("x", "/blog/1/a%20b?c", 302, "https://blog.test/1/a%20b?c"),
                ("old.test", "/any?x=1", 308, "https://new.test/any?x=1"),
                ("old.test", "//evil.test", 308, "https://new.test//evil.test"),
            ):
                got = self.curl(server, way, name, path)
                self.assertEqual((got[0], got[1]["location"]), (status, location))
            self.assertEqual(self.curl(server, way, "x", "/older")[0], 200)
            self.assertEqual(self.curl(server, way, "x", "/old", "-X", "POST", "-d", "x")[0], 301)

    def test_rewrites_come_before_files_and_php(self):
        (self.place / "www" / "v2").mkdir()
        (self.place / "www" / "v2" / "a.txt").write_text("a of v2")
        handler = "$response->end(json_encode([$path, $request->server['query_string'] ?? null, $request->header['x-kept'] ?? null, $request->rawContent()]));"
        rewrites = {"/v1/*": "/v2/*", "/v2/*": "/v1/*", "/short": "/a/much/longer/path"}
        files = {"enable_static_handler": True, "document_root": str(self.place / "www")}
        server = self.hosts(handler=handler, settings={**files, "rewrites": rewrites})
        for way, _ in enumerate(WAYS):
            self.assertEqual(self.curl(server, way, "x", "/v1/a.txt")[2], "a of v2")
            for path, seen, query in (("/v1/none?a=b", "/v2/none", "a=b"), ("/v2/none", "/v1/none", None), ("/short?x", "/a/much/longer/path", "x")):
                got = self.curl(server, way, "x", path, "-H", "X-Kept: yes", "-d", "content")[2]
                self.assertEqual(json.loads(got), [seen, query, "yes", "content"])

    def test_fields_are_removed_from_every_answer(self):
        handler = "$response->header('X-Powered-By', 'PHP'); $response->header('X-Kept', '1'); $path === '/piece' && $response->write('x'); $response->end('y');"
        server = self.hosts(handler=handler, settings={"response_headers_removed": ["Server", "X-Powered-By"]})
        for way, _ in enumerate(WAYS):
            for path in ("/", "/piece"):
                fields = self.curl(server, way, "x", path)[1]
                self.assertEqual(fields["x-kept"], "1")
                self.assertTrue({"server", "x-powered-by"}.isdisjoint(fields), fields)

    def test_hostile_paths_reach_nothing_outside(self):
        """Rewrites put no path together that leads out of the root, whatever it is made of."""
        (self.place / "www" / "in").mkdir()
        (self.place / "www" / "in" / "a").write_text("inside")
        (self.place / "www" / "out").symlink_to("../secret")
        rewrites = {"/r/*": "/in/*", "/up/*": "/*", "/a/*": "/in/../*"}
        root = {"document_root": str(self.place / "www"), "rewrites": rewrites, "static_handler_locations": ["/"]}
        root |= {"redirects": {"/go/*": "/*"}}
        server = self.hosts([("www.test", root, None)], settings={"worker_num": 2})
        parts = ["..", ".", "", "%2e%2e", "%2E.", "..%2f", "%2f", "\\", "%5c", "..%5c", "in", "secret", "out", "r", "up", "a", "%00", "..;", "%c0%ae%c0%ae", "%252e%252e", "....", "etc", "passwd", "go", "%ff", "…"]
        chance = random.Random(15)
        client, left = None, 0
        for number in range(10_000):
            rest = "/".join(chance.choices(parts, k=chance.randint(1, 7)))
            path = "/" + chance.choice(["r/", "up/", "a/", "go/", "", "r", "../"]) + rest
            if left == 0:
                client, left = server.connect(), 500
                self.addCleanup(client.__exit__)
            client.send(f"GET {path} HTTP/1.1\r\nHost: www.test\r\n\r\n".encode("utf-8"))
            answer = client.answer()
            left -= 1
            if "close" in answer.headers.get("connection", ""):
                left = 0
            self.assertNotIn(b"secret", answer.body if answer.status == 200 else b"", path)
            self.assertIn(answer.status, (200, 301, 400, 403, 404), path)
            if answer.status == 301:
                self.assertRegex(answer.headers["location"], r"^/([^/\\]|$)", path)
            if answer.status == 200:
                self.assertIn(answer.body, (b"inside", b"page of www"), path)


class Logins(HostCase):
    def hashed(self, kind, password):
        options = "PASSWORD_BCRYPT, ['cost' => 4]" if kind == "bcrypt" else "PASSWORD_ARGON2ID, ['memory_cost' => 64, 'time_cost' => 1]"
        code = f"echo password_hash({json.dumps(password)}, {options});"
        line = [php(), "-n", "-r", code]
        return subprocess.run(line, stdout=subprocess.PIPE, check=True, timeout=PATIENCE, text=True).stdout

    def test_only_who_knows_the_password(self):
        users = self.place / "users"
        users.write_text(f"# users\nanna:{self.hashed('bcrypt', 'pass:word')}\n\n")
        settings = {"basic_auth": {"/admin": str(users), "/admin/deep": f"bert:{self.hashed('argon2', 'other')}"}, "basic_auth_realm": "office", "worker_num": 2}
        settings |= {"rewrites": {"/open/*": "/admin/*"}, "enable_static_handler": True, "document_root": str(self.place / "www")}
        (self.place / "www" / "admin").mkdir()
        (self.place / "www" / "admin" / "file").write_text("file of admin")
        server = self.hosts(settings=settings)
        for way, _ in enumerate(WAYS):
            self.assertEqual(self.curl(server, way, "x", "/")[2], "page of www")
            self.assertEqual(self.curl(server, way, "x", "/administration")[2], "default /administration")
            for path in ("/admin", "/admin/file", "/%61dmin/file", "/x/../admin", "//admin", "/open/file"):
                status, fields, _ = self.curl(server, way, "x", path)
                self.assertEqual((status, fields["www-authenticate"]), (401, 'Basic realm="office", charset="UTF-8"'), path)
                for wrong in ("anna:wrong", "nobody:pass:word", "anna:", ":"):
                    self.assertEqual(self.curl(server, way, "x", path, "-u", wrong)[0], 401)
            for _ in range(2):
                self.assertEqual(self.curl(server, way, "x", "/admin/file", "-u", "anna:pass:word")[2], "file of admin")
                self.assertEqual(self.curl(server, way, "x", "/open/file", "-u", "anna:pass:word")[2], "file of admin")
                self.assertEqual(self.curl(server, way, "x", "/admin/x", "-u", "anna:pass:word", "-d", "x")[2], "default /admin/x")
                self.assertEqual(self.curl(server, way, "x", "/admin/deep/x", "-u", "bert:other")[2], "default /admin/deep/x")
            self.assertEqual(self.curl(server, way, "x", "/admin/deep/x", "-u", "anna:pass:word")[0], 401)

    def test_a_reload_takes_new_users_over(self):
        users = self.place / "users"
        users.write_text(f"anna:{self.hashed('bcrypt', 'x')}\n")
        server = self.hosts(settings={"basic_auth": {"/": str(users)}})
        ask = lambda login: self.curl(server, 0, "x", "/", "-u", login)[0]
        self.assertEqual((ask("anna:x"), ask("bert:y")), (200, 401))
        users.write_text(f"bert:{self.hashed('bcrypt', 'y')}\n")
        server.kill(signal.SIGUSR1)
        until("the new users are known", lambda: ask("bert:y") == 200)
        until("the old ones are not", lambda: ask("anna:x") == 401)
        users.write_text("nonsense")
        server.kill(signal.SIGUSR1)
        until("the log tells of it", lambda: "those who may log in are the users of the start" in server.log())

    def test_other_requests_go_on_while_a_hash_is_computed(self):
        users = f"anna:{self.hashed('bcrypt', 'x').replace('$04$', '$13$')}"
        server = self.hosts(settings={"basic_auth": {"/admin": users}})
        with server.connect() as slow, server.connect() as fast:
            slow.send(b"GET /admin HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YW5uYTp5\r\n\r\n")
            for _ in range(20):
                self.assertEqual(fast.request().status, 200)
            slow.sock.setblocking(False)
            # A hash of this cost takes half a second and more; twenty requests take a hundredth of that.
            with self.assertRaises(BlockingIOError):
                slow.sock.recv(1)
            slow.sock.settimeout(PATIENCE)
            self.assertEqual(slow.answer().status, 401)

    def test_websockets_log_in_too(self):
        handler = """<?php
            $server = new Apus\\WebSocket\\Server('127.0.0.1', 0);
            $server->set(%s);
            $server->on('message', fn ($server, $frame) => $server->push($frame->fd, 'default'));
            $server->host('chat.test')->on('message', fn ($server, $frame) => $server->push($frame->fd, 'chat'));
            $server->start();
        """
        settings = {"worker_num": 1, "basic_auth": {"/admin": f"anna:{self.hashed('bcrypt', 'x')}"}}
        server = self.serve(script=handler % php_array(settings))
        fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        for path, host, login, status, said in (
            ("/", "x", "", 101, b"\x81\x07default"),
            ("/", "chat.test", "", 101, b"\x81\x04chat"),
            ("/admin", "x", "", 401, None),
            ("/admin", "x", "Authorization: Basic YW5uYTp5\r\n", 401, None),
            ("/admin", "chat.test", "Authorization: Basic YW5uYTp4\r\n", 101, b"\x81\x04chat"),
        ):
            with server.connect() as client:
                client.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}{login}\r\n".encode())
                self.assertEqual(client.head()[0], status, (path, login))
                if said:
                    client.send(b"\x81\x81\0\0\0\0x")
                    self.assertEqual(client.exactly(len(said)), said)


class Cors(HostCase):
    def test_answers_and_preflight_requests(self):
        settings = {"cors_origins": ["https://app.test"], "cors_methods": ["GET", "PUT"], "cors_headers": ["X-Key"], "cors_expose_headers": ["X-Total"], "cors_credentials": True, "cors_max_age": 60}
        server = self.hosts([("api.test", settings, "$response->header('X-Total', '1'); $response->end('asked');")])
        preflight = ["-X", "OPTIONS", "-H", "Access-Control-Request-Method: PUT", "-H", "Access-Control-Request-Headers: x-key"]
        for way, _ in enumerate(WAYS):
            status, fields, body = self.curl(server, way, "api.test", "/", "-H", "Origin: https://app.test", *preflight)
            self.assertEqual((status, body), (204, ""))
            allowed = {name: value for name, value in fields.items() if name.startswith("access-control-") or name == "vary"}
            self.assertEqual(allowed, {
                "vary": "Origin", "access-control-allow-origin": "https://app.test", "access-control-allow-credentials": "true",
                "access-control-expose-headers": "X-Total", "access-control-allow-methods": "GET, PUT",
                "access-control-allow-headers": "X-Key", "access-control-max-age": "60",
            })
            status, fields, body = self.curl(server, way, "api.test", "/", "-H", "Origin: https://app.test")
            self.assertEqual((status, body, fields["access-control-allow-origin"], fields["vary"]), (200, "asked", "https://app.test", "Origin"))
            for other in ("https://evil.test", "null"):
                status, fields, _ = self.curl(server, way, "api.test", "/", "-H", f"Origin: {other}", *preflight)
                self.assertEqual((status, fields.get("access-control-allow-origin"), fields["vary"]), (204, None, "Origin"))
                self.assertNotIn("access-control-allow-origin", self.curl(server, way, "api.test", "/", "-H", f"Origin: {other}")[1])
            self.assertEqual(self.curl(server, way, "api.test", "/", "-X", "OPTIONS")[2], "asked")
            self.assertNotIn("vary", self.curl(server, way, "other.test", "/", "-H", "Origin: https://app.test")[1])


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


@unittest.skipUnless(BROWSER, "needs chromium")
class ThreeHosts(Commands):
    """The twenty lines of docs/hosts.md, in Chromium."""

    def test_in_a_browser(self):
        page = (ROOT / "docs" / "hosts.md").read_text()
        chapter = page.split("## Three hosts in twenty lines")[1].split("\n## ")[0]
        config, script = (re.search(rf"```{kind}\n(.*?)```", chapter, re.S)[1] for kind in ("toml", "php"))
        self.assertEqual(len(config.strip().splitlines()), 20)
        sealed, plain = free_port(), free_port()
        (self.folder / "site.toml").write_text(config.replace("0.0.0.0:443", f"127.0.0.1:{sealed}").replace("0.0.0.0:80", f"127.0.0.1:{plain}"))
        (self.folder / "api.php").write_text("<?php\n" + script.replace("'0.0.0.0', 443", f"'127.0.0.1', {sealed}"))
        kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2", "-nodes", "-subj", "/CN=example.org"]
        names = ["-addext", "subjectAltName=DNS:example.org,DNS:*.example.org", "-keyout", "key.pem", "-out", "cert.pem"]
        line = [needs("openssl"), *kind, *names]
        subprocess.run(line, cwd=self.folder, check=True, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        (self.folder / "example.org.pem").write_text("".join((self.folder / name).read_text() for name in ("cert.pem", "key.pem")))
        (self.folder / "public").mkdir()
        (self.folder / "public" / "page.html").write_text(
            "<!DOCTYPE html><p id=ad></p><script>fetch('https://ads.example.org/ad').then(a => a.text()).then(t => { ad.textContent = t; })</script>"
        )
        self.assertEqual(self.apus("check", "site.toml"), "site.toml: ok\n")
        self.apus("start", "-d", "--config", "site.toml")
        self.addCleanup(self.apus, "stop", "api.php")
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder, f"--host-resolver-rules=MAP *:80 127.0.0.1:{plain},MAP *:443 127.0.0.1:{sealed}", "--ignore-certificate-errors")
        self.addCleanup(browser.close)
        browser.call("Page.navigate", url="http://example.org/page.html?from=old")
        browser.until("document.getElementById('ad') && ad.textContent")
        self.assertEqual(browser.run("ad.textContent"), "buy this")
        self.assertEqual(browser.run("location.href"), "https://www.example.org/page.html?from=old")
        self.assertEqual(browser.run("performance.getEntriesByType('navigation')[0].nextHopProtocol"), "h2")
