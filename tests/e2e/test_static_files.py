"""Files that answer before PHP is asked: what is found, conditional requests, ranges, codings, and what is never sent."""

import gzip
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

from support import PATIENCE, Case, Server, needs, until

PAGE = b"<h1>page</h1>\n" * 100


class Files(Case):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-files-"))
        self.addCleanup(lambda: shutil.rmtree(self.folder, True))
        self.root = self.folder / "public"
        (self.root / "sub").mkdir(parents=True)
        (self.root / "index.html").write_bytes(PAGE)
        (self.root / "app.css").write_bytes(b"body { color: red }\n" * 50)
        (self.root / "large.bin").write_bytes(bytes(range(256)) * 4096)
        (self.root / "sub/a b.txt").write_bytes(b"spaced")

    def files(self, handler="$response->end('php ' . $path);", **settings):
        settings = {"enable_static_handler": True, "document_root": str(self.root), **settings}
        server = Server(handler, settings=settings)
        self.addCleanup(server.__exit__)
        return server


class Found(Files):
    def test_files_before_php_and_php_for_the_rest(self):
        server = self.files()
        with server.connect() as client:
            for _ in range(2):
                page = client.request(path="/")
                self.assertEqual((page.status, page.body), (200, PAGE))
                self.assertEqual(page.headers["content-type"], "text/html; charset=UTF-8")
                self.assertEqual(client.request(path="/app.css?v=1").headers["content-type"], "text/css; charset=UTF-8")
                self.assertEqual(client.request(path="/sub/a%20b.txt").body, b"spaced")
                self.assertEqual(client.request(path="/large.bin").body, bytes(range(256)) * 4096)
                self.assertEqual(client.request(path="/none").body, b"php /none")
                self.assertEqual(client.request("POST", "/app.css", body=b"x").body, b"php /app.css")
            head = client.request("HEAD", "/large.bin")
            self.assertEqual((head.headers["content-length"], head.body), ("1048576", b""))
            self.assertEqual(client.request("HEAD", "/app.css").headers["content-length"], "1000")

    def test_directories(self):
        server = self.files(http_index_files=["start.htm", "index.html"])
        self.assertEqual(server.get("/sub/").body, b"php /sub/")
        (self.root / "sub/start.htm").write_text("start")
        moved = server.get("/sub?a=b")
        self.assertEqual((moved.status, moved.headers["location"]), (301, "/sub/?a=b"))
        self.assertEqual(server.get("/sub/").body, b"start")
        self.assertEqual(server.get("/app.css/").body, b"php /app.css/")

    def test_a_listing(self):
        server = self.files(http_autoindex=True)
        (self.root / "sub/<i>&.txt").write_text("x")
        (self.root / "sub/.hidden").write_text("x")
        (self.root / "sub/deeper").mkdir()
        os.symlink("/etc", self.root / "sub/etc")
        text = server.get("/sub/").body.decode()
        self.assertLess(text.index('href="./deeper/"'), text.index('href="./a%20b.txt"'))
        self.assertIn('href="./%3Ci%3E&amp;.txt">&lt;i&gt;&amp;.txt</a>', text)
        self.assertNotIn("hidden", text)
        self.assertNotIn("etc", text)
        self.assertEqual(server.get("/sub").headers["location"], "/sub/")

    def test_locations_are_for_files_alone(self):
        server = self.files(static_handler_locations=["/sub", "/assets/"])
        self.assertEqual(server.get("/sub/a%20b.txt").body, b"spaced")
        for path in ("/sub/none", "/assets/x", "/sub/../index.html", "/sub/%2e%2e/index.html"):
            self.assertEqual(server.get(path).status, 404, path)
        for path in ("/", "/app.css", "/subs"):
            self.assertEqual(server.get(path).body, b"php " + path.encode())

    def test_an_application_that_runs_in_the_browser(self):
        server = self.files(try_files=["$uri", "$uri.html", "/index.html"])
        (self.root / "about.html").write_text("about")
        self.assertEqual(server.get("/about").body, b"about")
        self.assertEqual(server.get("/users/7").body, PAGE)
        self.assertEqual(server.get("/app.css").headers["content-type"], "text/css; charset=UTF-8")

    def test_a_file_that_changes_is_sent_anew(self):
        server = self.files()
        self.assertEqual(server.get("/index.html").body, PAGE)
        (self.root / "new").write_bytes(b"changed")
        os.rename(self.root / "new", self.root / "index.html")
        until("the new file", lambda: server.get("/index.html").body == b"changed")
        os.unlink(self.root / "index.html")
        until("its end", lambda: server.get("/index.html").body == b"php /index.html")

    def test_in_a_coroutine_server(self):
        server = Server(script=f"""<?php
Apus\\Coroutine\\run(function () {{
    $server = new Apus\\Coroutine\\Http\\Server('127.0.0.1', 0);
    $server->set(['enable_static_handler' => true, 'document_root' => '{self.root}']);
    $server->handle('/php', fn ($request, $response) => $response->end('php'));
    $ready = fopen('php://fd/' . getenv('APUS_READY_FD'), 'w');
    fwrite($ready, json_encode(['pid' => getmypid(), 'listen' => ['127.0.0.1:' . $server->port], 'control' => '']) . "\\n");
    fclose($ready);
    $server->start();
}});
""")
        self.addCleanup(server.__exit__)
        self.assertEqual(server.get("/").body, PAGE)
        self.assertEqual(server.get("/php").body, b"php")
        self.assertEqual(server.get("/none").status, 404)

    def test_a_directory_that_is_not_there(self):
        for root, said in (("/nowhere/at/all", "document_root /nowhere/at/all: No such file"), ("", "enable_static_handler needs document_root")):
            with self.assertRaisesRegex(AssertionError, said):
                self.files(document_root=root)


class Conditions(Files):
    def test_validators(self):
        server = self.files()
        for path in ("/app.css", "/large.bin"):
            whole = server.get(path)
            tag, date = whole.headers["etag"], whole.headers["last-modified"]
            for name, value, status in (
                ("If-None-Match", tag, 304),
                ("If-None-Match", f'"x", W/{tag}', 304),
                ("If-None-Match", '"x"', 200),
                ("If-Modified-Since", date, 304),
                ("If-Modified-Since", "Thu, 01 Jan 1970 00:00:01 GMT", 200),
                ("If-Match", '"x"', 412),
                ("If-Match", tag, 200),
                ("If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:01 GMT", 412),
            ):
                answer = server.get(path, headers={name: value})
                self.assertEqual(answer.status, status, f"{path} {name}: {value}")
                if status == 304:
                    self.assertEqual((answer.body, answer.headers["etag"]), (b"", tag))

    def test_ranges(self):
        server = self.files()
        for path in ("/app.css", "/large.bin"):
            whole = server.get(path)
            size = len(whole.body)
            self.assertEqual(whole.headers["accept-ranges"], "bytes")
            for asked, first, last in (("0-0", 0, 0), ("100-199", 100, 199), (f"{size - 5}-", size - 5, size - 1), ("-7", size - 7, size - 1)):
                part = server.get(path, headers={"Range": f"bytes={asked}"})
                self.assertEqual((part.status, part.headers["content-range"]), (206, f"bytes {first}-{last}/{size}"))
                self.assertEqual(part.body, whole.body[first : last + 1])
            none = server.get(path, headers={"Range": f"bytes={size}-"})
            self.assertEqual((none.status, none.headers["content-range"]), (416, f"bytes */{size}"))
            stale = server.get(path, headers={"Range": "bytes=0-0", "If-Range": '"x"'})
            self.assertEqual(stale.body, whole.body)
            self.assertEqual(server.get(path, headers={"Range": "bytes=0-0", "If-Range": whole.headers["etag"]}).status, 206)

    def test_several_ranges(self):
        server = self.files()
        for path, asked in (("/app.css", [(0, 9), (500, 509)]), ("/large.bin", [(0, 9), (1000, 200_000), (300_000, 300_001)])):
            whole = server.get(path).body
            parts = server.get(path, headers={"Range": "bytes=" + ",".join(f"{a}-{b}" for a, b in asked)})
            kind, boundary = parts.headers["content-type"].split("; boundary=")
            self.assertEqual((parts.status, kind), (206, "multipart/byteranges"))
            pieces = parts.body.split(b"\r\n--" + boundary.encode())
            self.assertEqual((pieces[0], pieces[-1]), (b"", b"--\r\n"))
            for (first, last), piece in zip(asked, pieces[1:-1], strict=True):
                head, _, content = piece.partition(b"\r\n\r\n")
                self.assertIn(f"Content-Range: bytes {first}-{last}/{len(whole)}".encode(), head)
                self.assertEqual(content, whole[first : last + 1])

    def test_over_http2(self):
        server = self.files(open_http2_protocol=True)
        told = ["-w", "%{http_version} %{http_code}", "-o", self.folder / "got"]
        curl = [needs("curl"), "-sS", "--http2-prior-knowledge", *told, server.url("/large.bin")]
        cases = ((["-r", "0-9"], 10, 206), ([], 1 << 20, 200), (["-r", "5-9,20-29"], None, 206), (["-I"], 0, 200))
        for asked, size, status in cases:
            told = subprocess.run([*curl, *asked], capture_output=True, check=True, timeout=PATIENCE, text=True)
            self.assertEqual(told.stdout, f"2 {status}")
            got = (self.folder / "got").read_bytes()
            if size:
                self.assertEqual(got, (self.root / "large.bin").read_bytes()[:size])

    def test_a_slow_reader_of_several_ranges_gets_all(self):
        (self.root / "huge.bin").write_bytes(os.urandom(1 << 20) * 4)
        server = self.files(buffer_output_size=64 << 10)
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
            sock.sendall(b"GET /huge.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\nRange: bytes=0-999999,1000000-4000000\r\n\r\n")
            got = 0
            while piece := sock.recv(32 << 10):
                got += len(piece)
        self.assertGreater(got, 4_000_001)


class Codings(Files):
    def test_what_lies_beside_a_file_is_sent_in_its_place(self):
        packed = gzip.compress((self.root / "app.css").read_bytes())
        (self.root / "app.css.gz").write_bytes(packed)
        (self.root / "large.bin.gz").write_bytes(b"never: it would not become smaller")
        server = self.files(static_cache_control={"*.css": "max-age=60", "/large*": "no-store"})
        for _ in range(2):
            coded = server.get("/app.css", headers={"Accept-Encoding": "br, gzip;q=0.5"})
            self.assertEqual((coded.headers["content-encoding"], coded.body), ("gzip", packed))
            self.assertEqual(coded.headers["content-type"], "text/css; charset=UTF-8")
            plain = server.get("/app.css", headers={"Accept-Encoding": "gzip;q=0"})
            self.assertNotIn("content-encoding", plain.headers)
            self.assertNotEqual(plain.headers["etag"], coded.headers["etag"])
            for answer in (coded, plain):
                self.assertEqual((answer.headers["vary"], answer.headers["cache-control"]), ("Accept-Encoding", "max-age=60"))
        large = server.get("/large.bin", headers={"Accept-Encoding": "gzip"})
        self.assertEqual((len(large.body), large.headers["cache-control"]), (1 << 20, "no-store"))
        # One that is older than the file is of an earlier one.
        os.utime(self.root / "app.css.gz", (1, 1))
        until("the file itself", lambda: "content-encoding" not in server.get("/app.css", headers={"Accept-Encoding": "gzip"}).headers)


class Never(Files):
    def test_nothing_that_is_hidden_code_or_outside(self):
        (self.folder / "secret").write_text("SECRET")
        (self.root / ".env").write_text("SECRET")
        (self.root / ".git").mkdir()
        (self.root / ".git/config").write_text("SECRET")
        for name in ("index.php", "x.PHTML", "lib.inc", "a.phar"):
            (self.root / name).write_text("<?php // SECRET")
        os.symlink("../secret", self.root / "link")
        os.symlink("..", self.root / "up")
        os.mkfifo(self.root / "fifo")
        server = self.files(http_autoindex=True)
        ups = ["..", "%2e%2e", ".%2e", "%2e.", "..%2f", "..%5c", "..\\", "%c0%ae%c0%ae", "%e0%80%ae", "....//", "..;", "%252e%252e", "．．", "..%00"]
        paths = ["/.env", "/%2eenv", "/.git/config", "/index.php", "/index.php/", "/x.PHTML", "/lib.inc", "/a.phar", "/link", "/up/secret", "/index.php%20", "/index.php%00.css"]
        paths += [f"/{up}{slash}secret" for up in ups for slash in ("/", "//", "%2f", "\\")]
        paths += [f"/sub/{up}/{up}/secret" for up in ups] + ["//secret", "/sub//../../secret", "/./../secret", "/sub/../../secret", "/file:///etc/passwd", "/proc/self/environ"]
        with server.connect() as client:
            for path in paths:
                client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                try:
                    answer = client.answer()
                except EOFError:
                    answer = None
                if answer is None or answer.headers.get("connection") == "close":
                    client.sock.close()
                    client.__init__(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
                if answer is not None:
                    self.assertNotIn(b"SECRET", answer.body, path)
        # A FIFO is refused, and nobody waits for its writer.
        self.assertEqual(server.get("/fifo").status, 403)

    def test_names_that_the_kernel_has_not_looked_up_yet_are_php_s(self):
        server = self.files()
        with server.connect() as client:
            for number in range(200):
                self.assertEqual(client.request(path=f"/n{number}").body, f"php /n{number}".encode())
