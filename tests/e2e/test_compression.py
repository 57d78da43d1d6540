"""Compression of answers: what is coded, how its head tells it, and that each piece reaches the client."""

import gzip
import hashlib
import subprocess
import zlib

from support import PATIENCE, Case, needs

TEXT = b"a line of an answer\n" * 200
LONG = b"".join(b"%d: a line of a long answer\n" % at for at in range(100_000))
GZIP = {"Accept-Encoding": "gzip"}
LONG_PHP = "$long = ''; for ($i = 0; $i < 100000; $i++) { $long .= \"$i: a line of a long answer\\n\"; }"


class Compression(Case):
    def text(self, before="", **settings):
        code = f"$text = str_repeat(\"a line of an answer\\n\", 200); {before}"
        return self.serve(code if "->end(" in before else code + "$response->end($text);", settings=settings)

    def test_an_answer_has_the_coding_that_its_client_likes_best(self):
        server = self.text()
        for asked, coding in (
            ("gzip", "gzip"),
            ("gzip, br", "br"),
            ("gzip, deflate, br, zstd", "zstd"),
            ("br;q=0.5, gzip", "gzip"),
            ("*;q=0.1, zstd;q=0", "br"),
            ("deflate", "deflate"),
            ("deflate, gzip;q=0.9", "deflate"),
            ("deflate, gzip", "gzip"),
            ("compress", None),
            ("gzip;q=0", None),
            (None, None),
        ):
            answer = server.get(headers={"Accept-Encoding": asked} if asked else {})
            self.assertEqual(answer.headers.get("content-encoding"), coding, asked)
            self.assertEqual(answer.headers.get("vary"), "Accept-Encoding" if asked else None, asked)
            self.assertEqual(answer.headers["content-length"], str(len(answer.body)))
            if coding == "gzip":
                self.assertEqual(gzip.decompress(answer.body), TEXT)
            if coding == "deflate":
                self.assertEqual(zlib.decompress(answer.body), TEXT)

    def test_br_zstd_and_deflate_are_what_others_read(self):
        server = self.text(f"if ($path === '/long') {{ {LONG_PHP} $response->end($long); return; }} if ($path === '/text') $response->end($text);")
        for coding in ("br", "zstd", "deflate"):
            for path, content in (("/text", TEXT), ("/long", LONG)):
                curl = [needs("curl"), "-sS", "--compressed", "-H", f"Accept-Encoding: {coding}", server.url(path)]
                told = subprocess.run([*curl, "-w", "%header{content-encoding}"], capture_output=True, check=True, timeout=PATIENCE)
                self.assertEqual(told.stdout, content + coding.encode())

    def test_curl_takes_it(self):
        server = self.text(open_http2_protocol=True)
        for version in ("--http1.1", "--http2-prior-knowledge", "--http1.0"):
            curl = [needs("curl"), "-sS", "--compressed", "-D", "-", version, server.url("/")]
            told = subprocess.run(curl, capture_output=True, check=True, timeout=PATIENCE).stdout
            head, _, body = told.partition(b"\r\n\r\n")
            self.assertEqual(body, TEXT, version)
            # A client of 1.0 knows no codings for sure.
            self.assertEqual(b"content-encoding:" in head.lower(), version != "--http1.0", head)

    def test_what_is_not_coded(self):
        for name, before in {
            "a picture": "$response->header('Content-Type', 'image/png');",
            "coded already": "$response->header('Content-Encoding', 'gzip'); $text = gzencode($text);",
            "not to be changed": "$response->header('Cache-Control', 'public, no-transform');",
            "a part": "$response->status(206); $response->header('Content-Range', 'bytes 0-3999/9000');",
            "as it is": "$response->header('content-encoding', 'identity');",
            "events": "$response->header('Content-Type', 'text/event-stream');",
        }.items():
            answer = self.text(before).get(headers=GZIP)
            self.assertNotIn("vary", answer.headers, name)
            if name == "coded already":
                self.assertEqual(gzip.decompress(answer.body), TEXT)
                self.assertEqual(answer.headers["content-encoding"], "gzip")
            else:
                self.assertEqual((answer.body, answer.headers.get("content-encoding")), (TEXT, None), name)
        for settings in ({"http_compression": False}, {"compression_min_length": 4001}):
            answer = self.text(**settings).get(headers=GZIP)
            self.assertEqual((answer.body, answer.headers.get("vary")), (TEXT, None), settings)

    def test_what_would_not_become_smaller_stays_as_it_is(self):
        server = self.serve("$response->end(random_bytes(500));")
        answer = server.get(headers=GZIP)
        self.assertEqual((len(answer.body), answer.headers.get("content-encoding")), (500, None))
        self.assertEqual(answer.headers["vary"], "Accept-Encoding")

    def test_types_can_be_chosen(self):
        server = self.text("$response->header('Content-Type', $request->get['t']);", compression_types=["image/*", "x/y"])
        for kind, coding in (("image/png", "gzip"), ("x/y;a=b", "gzip"), ("text/html", None)):
            self.assertEqual(server.get(f"/?t={kind}", headers=GZIP).headers.get("content-encoding"), coding, kind)

    def test_a_tag_becomes_a_weak_one(self):
        server = self.text("$response->header('ETag', '\"v1\"'); $response->header('Vary', 'Cookie');")
        coded = server.get(headers=GZIP).headers
        self.assertEqual((coded["etag"], coded["vary"]), ('W/"v1"', "Cookie, Accept-Encoding"))
        self.assertEqual(server.get().headers["etag"], '"v1"')

    def test_head_and_statuses_without_a_body(self):
        server = self.text("$response->status((int) $request->get['s']);")
        with server.connect() as client:
            head = client.request("HEAD", "/?s=200", headers=GZIP)
            self.assertEqual((head.headers["content-encoding"], head.headers.get("content-length")), ("gzip", None))
            self.assertEqual(client.request("HEAD", "/?s=200").headers["content-length"], str(len(TEXT)))
            for status in (204, 304):
                answer = client.request(path=f"/?s={status}", headers=GZIP)
                self.assertEqual((answer.status, answer.headers.get("content-encoding")), (status, None))
            self.assertEqual(gzip.decompress(client.request(path="/?s=404", headers=GZIP).body), TEXT)

    def test_each_piece_reaches_the_client(self):
        handler = """
        $response->header('Content-Type', 'text/plain');
        foreach (['first ', 'second ', 'third'] as $piece) {
            $response->write($piece);
            $go->pop();
        }
        $response->end(' end');
        """
        before = "$go = new Apus\\\\Coroutine\\\\Channel(1);".replace("\\\\", "\\")
        server = self.serve(
            script=f"""<?php
{before}
$server = new Apus\\Http\\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1]);
$server->on('request', function ($request, $response) use ($go) {{
    if ($request->server['request_uri'] === '/go') {{ $go->push(1); $response->end('gone'); return; }}
    {handler}
}});
$server->start();
"""
        )
        for asked in ("gzip",):
            with server.connect() as client:
                client.send(f"GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: {asked}\r\n\r\n".encode())
                self.assertEqual(client.head()[2]["content-encoding"], asked)
                inflate, got = zlib.decompressobj(31), b""
                for expected in (b"first ", b"first second ", b"first second third"):
                    while got != expected:
                        got += inflate.decompress(client.exactly(int(client.line(), 16)))
                        self.assertEqual(client.line(), "")
                    server.get("/go")
                rest, _ = client.chunks()
                self.assertEqual(got + inflate.decompress(rest), b"first second third end")
                self.assertTrue(inflate.eof)
                self.assertEqual(client.request(path="/go").body, b"gone")

    def test_how_much_is_coded_in_one_turn_depends_on_what_it_costs(self):
        for level, size, asked, whole in (
            (1, 60_000, "br", True),
            (6, 60_000, "gzip", True),
            (6, 60_000, "zstd", True),
            (6, 60_000, "br", False),
            (6, 120_000, "gzip", True),
            (6, 120_000, "deflate", True),
            (6, 140_000, "gzip", False),
            (6, 140_000, "deflate", False),
            (9, 40_000, "gzip", True),
            (9, 60_000, "gzip", False),
            (9, 8_000, "br", False),
        ):
            server = self.text(f"$text = substr(str_repeat($text, 40), 0, {size}); $response->end($text);", http_compression_level=level)
            answer = server.get(headers={"Accept-Encoding": asked})
            self.assertEqual(answer.headers["content-encoding"], asked)
            # What is coded in one turn has its length.
            self.assertEqual("content-length" in answer.headers, whole, (level, size, asked))
            if asked == "gzip":
                self.assertEqual(len(gzip.decompress(answer.body)), size)

    def test_a_long_answer_is_coded_while_others_are_served(self):
        server = self.serve(
            f"if ($path === '/x') {{ $response->end('x'); return; }} {LONG_PHP}"
            "if ($path === '/write') { $response->write($long); $response->end('end'); return; }"
            "$response->end($long);"
            "file_put_contents($folder . '/again', var_export([$response->end('again'), $response->write('x')], true));",
            settings={"open_http2_protocol": True},
        )
        answer = server.get("/end", headers=GZIP)
        self.assertEqual((gzip.decompress(answer.body), answer.headers.get("content-length")), (LONG, None))
        self.assertEqual((server.folder / "again").read_text().count("false"), 2)
        answer = server.get("/write", headers=GZIP)
        self.assertEqual(gzip.decompress(answer.body), LONG + b"end")
        with server.connect() as client:
            # The next request of the connection waits for its turn.
            for path in ("/end", "/x"):
                client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n".encode())
            self.assertEqual(gzip.decompress(client.answer().body), LONG)
            self.assertEqual(client.answer().body, b"x")
        curl = [needs("curl"), "-sS", "--compressed", "--http2-prior-knowledge", server.url("/end")]
        told = subprocess.run(curl, capture_output=True, check=True, timeout=PATIENCE)
        self.assertEqual(told.stdout, LONG)

    def test_clients_that_leave_a_long_answer(self):
        server = self.serve(f"if ($path === '/x') {{ $response->end('x'); return; }} {LONG_PHP} $response->end($long);")
        for _ in range(20):
            with server.connect() as client:
                client.send(b"GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n")
                client.head()
        self.assertEqual(server.get("/x").body, b"x")
        self.assertEqual(gzip.decompress(server.get("/", headers=GZIP).body), LONG)

    def test_who_tells_the_length_of_pieces_is_held_to_it(self):
        server = self.serve("$response->header('Content-Length', '10'); $response->write('12345'); $response->end('67890');")
        answer = server.get(headers=GZIP)
        self.assertEqual((answer.body, answer.headers.get("content-encoding")), (b"1234567890", None))

    def test_files_are_sent_as_they_are(self):
        server = self.serve("file_put_contents(\"$folder/f.txt\", str_repeat('x', 5000)); $response->sendfile(\"$folder/f.txt\");")
        answer = server.get(headers={**GZIP, "Range": "bytes=0-9"})
        self.assertEqual((answer.status, answer.body), (206, b"x" * 10))


class Requests(Case):
    def test_bodies_are_decoded(self):
        handler = """
            $coding = $request->header['content-encoding'] ?? null;
            $response->end(json_encode([$request->rawContent(), $request->post, $coding]));
        """
        server = self.serve(handler, settings={"http_decompression_ratio": 100, "worker_num": 1})
        form = b"a=1&b=2"
        types = {"Content-Type": "application/x-www-form-urlencoded"}
        with server.connect() as client:
            for _ in range(2):
                body = gzip.compress(form)
                answer = client.request("POST", "/", body=body, headers={**types, "Content-Encoding": "gzip"})
                self.assertEqual(answer.body, b'["a=1&b=2",{"a":"1","b":"2"},null]')
                self.assertEqual(client.request("POST", "/", body=form, headers=types).body, answer.body)
            for body in (zlib.compress(form), zlib.compress(form)[2:-4]):
                answer = client.request("POST", "/", body=body, headers={**types, "Content-Encoding": "deflate"})
                self.assertEqual(answer.body, b'["a=1&b=2",{"a":"1","b":"2"},null]')
        for coding, status, body in (
            ("gzip", 413, gzip.compress(bytes(8 << 20))),
            ("gzip", 400, b"no gzip"),
            ("gzip", 400, gzip.compress(form)[:-4]),
            ("deflate", 413, zlib.compress(bytes(8 << 20))),
            ("deflate", 400, zlib.compress(form)[:-1]),
            ("deflate", 400, zlib.compress(form) + b"x"),
            ("deflate", 400, zlib.compress(form)[2:-5]),
            ("compress", 415, b"x"),
            ("gzip, gzip", 415, b"x"),
        ):
            with server.connect() as client:
                answer = client.request("POST", "/", body=body, headers={"Content-Encoding": coding})
                self.assertEqual(answer.status, status, coding)
        self.assertEqual(server.get().status, 200)

    def test_what_is_cut_is_refused(self):
        server = self.serve("$response->end('taken');", settings={"http_decompression_ratio": 1000})
        (server.folder / "text").write_bytes(TEXT)
        for command, coding in (("zstd", "zstd"), ("gzip", "gzip")):
            whole = subprocess.run([needs(command), "-c", "text"], cwd=server.folder, capture_output=True, check=True).stdout
            for body, status in ((whole, 200), (whole + whole, 200), (whole[:-1], 400), (whole + whole[:-1], 400)):
                with server.connect() as client:
                    answer = client.request("POST", "/", body=body, headers={"Content-Encoding": coding})
                    self.assertEqual(answer.status, status, (coding, len(body)))

    def test_br_zstd_chunks_and_http2(self):
        server = self.serve(
            "$response->end(md5($request->rawContent()));",
            settings={"http_decompression_ratio": 1000, "open_http2_protocol": True},
        )
        folder = server.folder
        (folder / "long").write_bytes(LONG)
        subprocess.run([needs("zstd"), "-q", "long"], cwd=folder, check=True)
        subprocess.run([needs("gzip"), "-k", "long"], cwd=folder, check=True)
        expected = hashlib.md5(LONG).hexdigest()
        for name, coding in (("long.zst", "zstd"), ("long.gz", "gzip")):
            for more in (["--http1.1"], ["--http1.1", "-H", "Transfer-Encoding: chunked"], ["--http2-prior-knowledge"]):
                curl = [needs("curl"), "-sS", "--data-binary", f"@{name}", "-H", f"Content-Encoding: {coding}"]
                told = subprocess.run([*curl, *more, server.url("/")], cwd=folder, capture_output=True, check=True)
                self.assertEqual(told.stdout.decode(), expected, (name, more))

    def test_without_the_setting_bodies_are_as_they_were_sent(self):
        server = self.serve("$response->end($request->rawContent() . $request->header['content-encoding']);")
        with server.connect() as client:
            answer = client.request("POST", "/", body=b"any", headers={"Content-Encoding": "x"})
        self.assertEqual(answer.body, b"anyx")
