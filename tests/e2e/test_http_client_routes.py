"""Apus\\Coroutine\\Http\\Client: redirections, downloads, proxies, TLS, Unix sockets, and real servers."""

import base64
import gzip
import hashlib
import json
import os
import socket
import ssl
import subprocess
import threading
import unittest

from http_client_peers import ClientCase, Peer, WebSocketPeer, answers
from support import needs, until


def echo(conn, method, target, fields, body):
    shown = {name: fields[name] for name in ("host", "authorization", "cookie", "content-type", "proxy-authorization") if name in fields}
    conn.answer(json.dumps([method, target, shown, body.decode("latin-1")]).encode())


class Streams(ClientCase):
    def test_a_body_is_given_as_it_comes(self):
        heard = []

        def handle(conn, method, target, fields, body):
            if target == "/gzip":
                data = gzip.compress(b"words " * 100_000)
                return conn.answer(data, fields=[("Content-Encoding", "gzip")])
            conn.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for i in range(3):
                conn.send(b"7\r\nevent %d\r\n" % i)
                # The next one is sent when the program says that it has this one.
                heard.append(confirmed.acquire(timeout=30))
            conn.send(b"0\r\n\r\n")

        confirmed = threading.Semaphore(0)
        control = self.peer(answers(lambda conn, *_: (confirmed.release(), conn.answer(b"ok"))[0]))
        peer = self.peer(answers(handle))
        out = self.run_php(
            """
            $seen = [];
            $c = client(['write_func' => function (Client $client, string $data) use (&$seen) {
                $seen[] = $data;
                client([], CONTROL)->get('/');
            }]);
            $out[] = [$c->get('/events'), $c->statusCode, $c->body, $c->connected, $seen];
            $total = 0;
            $c->set(['write_func' => function ($client, string $data) use (&$total) { $total += strlen($data); }]);
            $out[] = [$c->get('/gzip'), $total, $c->body];
            $c->set(['write_func' => function () { throw new LogicException('enough'); }]);
            $out[] = [thrown(fn() => $c->get('/gzip')), $c->connected];
            $c->set(['write_func' => null]);
            $out[] = [$c->get('/gzip'), strlen($c->body)];
            // Held by the client's own setting, the closure and the client are a cycle that PHP collects.
            $gone = 0;
            for ($i = 0; $i < 10; $i++) {
                $d = new #[AllowDynamicProperties] class('127.0.0.1', PORT) extends Client {};
                $d->witness = new class($gone) { function __construct(private &$gone) {} function __destruct() { $this->gone++; } };
                $d->set(['write_func' => function () use ($d) {}]);
            }
            unset($d);
            gc_collect_cycles();
            $out[] = $gone;
            """,
            peer.port,
            control=control.port,
        )
        self.assertEqual(out[0], [True, 200, "", True, ["event 0", "event 1", "event 2"]])
        self.assertEqual(out[1], [True, 600_000, ""])
        self.assertEqual(out[2], ["LogicException: enough", False])
        self.assertEqual(out[3:], [[True, 600_000], 10])
        self.assertEqual(heard, [True] * 3)

    def test_one_request_by_its_url(self):
        peer = self.peer(answers(echo))
        out = self.run_php(
            """
            $url = 'http://127.0.0.1:' . PORT;
            $a = Coroutine\\Http\\get("$url/a?b=c", headers: ['Authorization' => 'x'], cookies: ['k' => 'v']);
            $out[] = [get_class($a), $a instanceof Client, $a->getStatusCode(), json_decode($a->getBody()), $a->connected];
            $out[] = json_decode(Coroutine\\Http\\post("$url/p", ['f' => '1'])->body);
            $out[] = json_decode(Coroutine\\Http\\request($url, 'put', 'data', ['timeout' => 5])->body);
            """,
            peer.port,
        )
        host = f"127.0.0.1:{peer.port}"
        self.assertEqual(out[0], ["Apus\\Coroutine\\Http\\ClientProxy", True, 200, ["GET", "/a?b=c", {"host": host, "authorization": "x", "cookie": "k=v"}, ""], False])
        self.assertEqual(out[1], ["POST", "/p", {"host": host, "content-type": "application/x-www-form-urlencoded"}, "f=1"])
        self.assertEqual(out[2], ["PUT", "/", {"host": host}, "data"])

    def test_nothing_is_left_behind(self):
        def handle(conn, method, target, fields, body):
            if target == "/cut":
                conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx")
                return True
            conn.answer(b"x" * 10_000)

        peer = self.peer(answers(handle))
        out = self.run_php(
            """
            class Child extends Client
            {
                public array $more = [];
                public function __construct(public string $name, int $port) { parent::__construct('127.0.0.1', $port); }
                public function get($path): bool { $this->more[] = $path; return parent::get($path); }
            }
            $round = function () {
                for ($i = 0; $i < 100; $i++) {
                    $c = new Child("client $i", PORT);
                    $c->get('/');
                    $c->post('/cut', 'data');
                    $c->setDefer();
                    $c->get('/');
                    if ($i % 2) {
                        $c->recv();
                    }
                    $d = client(['timeout' => 0.0001]);
                    $d->get('/');
                }
            };
            $round();
            Coroutine::sleep(0.05);
            [$memory, $files] = [memory_get_usage(), count(scandir('/proc/self/fd'))];
            $round();
            $round();
            Coroutine::sleep(0.05);
            $out[] = [memory_get_usage() - $memory < 50_000, count(scandir('/proc/self/fd')) - $files];
            """,
            peer.port,
        )
        self.assertEqual(out, [[True, 0]])


class Redirections(ClientCase):
    def test_they_are_followed_by_option(self):
        other = self.peer(answers(echo))

        def handle(conn, method, target, fields, body):
            status, where = {
                "/found": ("302 Found", "/end?x#y"),
                "/other": ("303 See Other", "end"),
                "/temporary": ("307 Temporary Redirect", "/end"),
                "/permanent": ("308 Permanent Redirect", "/found"),
                "/abroad": ("302 Found", f"http://localhost:{other.port}/abroad"),
                "/loop": ("301 Moved Permanently", "/loop"),
                "/ftp": ("301 Moved Permanently", "http://"),
            }.get(target, (None, None))
            if status:
                conn.answer(b"moved", status=status, fields=[("Location", where)])
            else:
                echo(conn, method, target, fields, body)

        peer = self.peer(answers(handle))
        out = self.run_php(
            """
            $c = client();
            $c->get('/found');
            $out[] = [$c->statusCode, $c->headers['location'], $c->body];
            $c->set(['max_redirects' => 3]);
            foreach (['/found', '/other', '/temporary', '/permanent'] as $path) {
                $c->post($path, ['a' => 1]);
                $out[] = [$c->statusCode, json_decode($c->body)];
            }
            $c->setBasicAuth('u', 'p');
            $c->setCookies(['k' => 'v']);
            $c->get('/abroad');
            $out[] = [$c->statusCode, json_decode($c->body), $c->connected];
            $c->get('/loop');
            $out[] = [$c->statusCode, $c->errCode];
            $c->get('/ftp');
            $out[] = [$c->statusCode, $c->errCode];
            $out[] = [$c->get('/end'), $c->statusCode];
            """,
            peer.port,
        )
        host = f"127.0.0.1:{peer.port}"
        form = {"host": host, "content-type": "application/x-www-form-urlencoded"}
        self.assertEqual(out[0], [302, "/end?x#y", "moved"])
        self.assertEqual(out[1], [200, ["GET", "/end?x", {"host": host}, ""]])
        self.assertEqual(out[2], [200, ["GET", "/end", {"host": host}, ""]])
        self.assertEqual(out[3], [200, ["POST", "/end", form, "a=1"]])
        self.assertEqual(out[4], [200, ["GET", "/end?x", {"host": host}, ""]])
        # What was meant for one server is not told to another one.
        self.assertEqual(out[5], [200, ["GET", "/abroad", {"host": f"localhost:{other.port}"}, ""], True])
        self.assertEqual(out[6:], [[-3, 40], [-3, 7102], [True, 200]])


class Files(ClientCase):
    def test_downloads(self):
        content = os.urandom(3_000_000)

        def handle(conn, method, target, fields, body):
            begin = int(fields.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
            if target == "/missing":
                return conn.answer(b"no such thing", status="404 Not Found")
            if target == "/cut":
                conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
                return True
            conn.answer(content[begin:], status="206 Partial Content" if begin else "200 OK")

        peer = self.peer(answers(handle))
        folder = self.folder()
        out = self.run_php(
            """
            $c = client();
            $out[] = [$c->download('/', FOLDER . '/whole'), $c->statusCode, $c->body, $c->downloadFile];
            file_put_contents(FOLDER . '/rest', substr(file_get_contents(FOLDER . '/whole'), 0, 1000));
            $c->setHeaders(['Range' => 'bytes=1000-']);
            $out[] = [$c->download('/', FOLDER . '/rest', 1000), $c->statusCode];
            $c->setHeaders([]);
            $out[] = [$c->download('/missing', FOLDER . '/missing'), $c->statusCode, $c->body, file_exists(FOLDER . '/missing')];
            $out[] = [$c->download('/', FOLDER . '/no/folder'), $c->statusCode, $c->errCode];
            $out[] = [$c->download('/cut', FOLDER . '/cut'), $c->statusCode];
            $c->set(['max_download' => '1M']);
            $out[] = [$c->download('/', FOLDER . '/large'), $c->errCode];
            $out[] = strlen($c->get('/') ? $c->body : '');
            $out[] = thrown(fn() => $c->download('/', FOLDER . '/x', -1));
            """,
            peer.port,
            folder=str(folder),
        )
        self.assertEqual(out[:3], [[True, 200, "", None], [True, 206], [True, 404, "no such thing", False]])
        self.assertEqual(out[3:7], [[False, -3, 2], [False, -3], [False, 90], len(content)])
        self.assertIn("ValueError", out[7])
        self.assertEqual((folder / "whole").read_bytes(), content)
        self.assertEqual((folder / "rest").read_bytes(), content)


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def join(conn, host, port, greeting):
    """Connects a proxy's client with a server."""
    try:
        with socket.create_connection((host, port), timeout=30) as server:
            conn.send(greeting)
            thread = threading.Thread(target=pump, args=(server, conn.sock), daemon=True)
            thread.start()
            while data := conn.file.read1(65536):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
            thread.join(30)
    except OSError:
        pass


class Proxies(ClientCase):
    def test_http(self):
        heard = []

        def proxy(conn):
            while head := conn.head():
                method, target, fields = head
                heard.append((method, target, fields.get("proxy-authorization")))
                if method != "CONNECT":
                    echo(conn, method, target, fields, conn.body(fields))
                elif fields.get("proxy-authorization") != "Basic " + base64.b64encode(b"u:p").decode():
                    return conn.answer(b"", status="407 Proxy Authentication Required")
                else:
                    host, port = target.rsplit(":", 1)
                    return join(conn, host, int(port), b"HTTP/1.1 200 Connection established\r\n\r\n")

        key, cert = self.certificate()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server = self.peer(answers(echo), tls=context)
        peer = self.peer(proxy)
        websocket = self.peer(lambda conn: WebSocketPeer(conn, conn.head()[2]).say(1, b"through the proxy"))
        out = self.run_php(
            """
            $proxy = ['http_proxy_host' => '127.0.0.1', 'http_proxy_port' => PORT, 'http_proxy_user' => 'u', 'http_proxy_password' => 'p'];
            $c = new Client('plain.test', 8080);
            $c->set($proxy);
            $c->get('/path');
            $out[] = [$c->statusCode, json_decode($c->body)];
            $c = client([...$proxy, 'ssl_cafile' => CERT], SERVER, true);
            $c->get('/secret');
            $out[] = [$c->statusCode, json_decode($c->body)[1] ?? $c->errMsg];
            $c->get('/kept');
            $out[] = $c->statusCode;
            $c = client([...$proxy, 'http_proxy_password' => 'wrong', 'ssl_cafile' => CERT], SERVER, true);
            $out[] = [$c->get('/'), $c->statusCode, $c->errCode];
            $out[] = thrown(fn() => client(['http_proxy_host' => 'x']));
            // The kept connection leads to the proxy itself; the WebSocket gets one through it.
            $c = client($proxy, WEBSOCKET);
            $out[] = [$c->get('/plain'), $c->connected, $c->upgrade('/'), $c->recv()->data ?? $c->errMsg];
            """,
            peer.port,
            server=server.port,
            cert=str(cert),
            websocket=websocket.port,
        )
        authorization = "Basic " + base64.b64encode(b"u:p").decode()
        self.assertEqual(out[0], [200, ["GET", "http://plain.test:8080/path", {"host": "plain.test:8080", "proxy-authorization": authorization}, ""]])
        self.assertEqual(out[1:4], [[200, "/secret"], 200, [False, -1, 7103]])
        self.assertIn("both its host and its port", out[4])
        self.assertEqual(out[5], [True, True, True, "through the proxy"])
        self.assertEqual(heard[1][:2], ("CONNECT", f"127.0.0.1:{server.port}"))
        self.assertEqual([method for method, *_ in heard], ["GET", "CONNECT", "CONNECT", "GET", "CONNECT"])

    def test_socks5(self):
        def proxy(conn):
            _, count = conn.file.read(2)
            if 2 in conn.file.read(count):
                conn.send(b"\x05\x02")
                _, size = conn.file.read(2)
                user = conn.file.read(size)
                password = conn.file.read(conn.file.read(1)[0])
                conn.send(b"\x01" + bytes([(user, password) != (b"u", b"p")]))
            else:
                conn.send(b"\x05\x00")
            request = conn.file.read(5)
            if not request:
                return
            _, _, _, kind, size = request
            assert kind == 3
            name = conn.file.read(size).decode()
            port = int.from_bytes(conn.file.read(2), "big")
            if name == "forbidden.test":
                return conn.send(b"\x05\x02\x00\x01" + bytes(6))
            join(conn, "127.0.0.1", port, b"\x05\x00\x00\x01" + bytes(6))

        server, peer = self.peer(answers(echo)), self.peer(proxy)
        out = self.run_php(
            """
            foreach ([[], ['socks5_username' => 'u', 'socks5_password' => 'p'], ['socks5_username' => 'u', 'socks5_password' => 'x']] as $login) {
                $c = new Client('only-the-proxy-knows.test', SERVER);
                $c->set(['socks5_host' => '127.0.0.1', 'socks5_port' => PORT, ...$login]);
                $out[] = [$c->get('/'), $c->statusCode, $c->errCode];
            }
            $c = new Client('forbidden.test', SERVER);
            $c->set(['socks5_host' => '127.0.0.1', 'socks5_port' => PORT]);
            $out[] = [$c->get('/'), $c->statusCode, $c->errMsg];
            """,
            peer.port,
            server=server.port,
        )
        self.assertEqual(out[:3], [[True, 200, 0], [True, 200, 0], [False, -1, 7103]])
        self.assertEqual(out[3], [False, -1, "the proxy made no connection: its rules forbid it"])


class Secure(ClientCase):
    def test_tls(self):
        key, cert = self.certificate()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        peer = self.peer(answers(echo), tls=context)
        plain = self.peer(lambda conn: conn.send(b"220 this is no TLS\r\n"))
        out = self.run_php(
            """
            $try = function (array $set, string $host = '127.0.0.1', int $port = PORT) use (&$out) {
                $c = new Client($host, $port, true);
                $c->set($set);
                $out[] = [$c->get('/'), $c->statusCode, $c->errCode, is_string($c->getPeerCert()) && openssl_free($c->getPeerCert())];
            };
            function openssl_free(string $pem): bool { return trim($pem) === trim(file_get_contents(CERT)); }
            $try([]);
            $try(['ssl_verify_peer' => false]);
            $try(['ssl_allow_self_signed' => true]);
            $try(['ssl_cafile' => CERT]);
            $try(['ssl_cafile' => CERT], 'localhost');
            $try(['ssl_cafile' => CERT, 'ssl_host_name' => 'other.test']);
            $try(['ssl_cafile' => '/nonexistent.pem']);
            $try([], '127.0.0.1', PLAIN);
            """,
            peer.port,
            cert=str(cert),
            plain=plain.port,
        )
        good = [True, 200, 0, True]
        self.assertEqual(out[:6], [[False, -1, 1014, False], good, good, good, good, [False, -1, 1014, False]])
        self.assertEqual([row[:2] for row in out[6:]], [[False, -1]] * 2)

    def test_a_unix_socket(self):
        path = str(self.folder() / "s")
        self.enterContext(Peer(answers(echo), unix=path))
        out = self.run_php("$c = new Client('unix:' . PATH); $c->get('/x'); $out[] = json_decode($c->body); $c = new Client('unix://' . PATH); $out[] = $c->get('/');", path=path)
        self.assertEqual(out, [["GET", "/x", {"host": "localhost"}, ""], True])


NGINX = """
daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log {folder}/log;
events {{ worker_connections 64; }}
http {{
    access_log off; gzip on; gzip_types *; gzip_min_length 1; root {folder}; client_max_body_size 64m;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    keepalive_requests 3; etag off;
    server {{
        listen unix:{folder}/s;
        location /file {{ default_type text/plain; dav_methods PUT; client_body_buffer_size 1k; }}
        location /old {{ return 301 /file.txt; }}
    }}
}}
"""


class RealServers(ClientCase):
    def test_nginx(self):
        folder = self.folder()
        folder.chmod(0o755)
        (folder / "conf").write_text(NGINX.format(folder=folder))
        (folder / "file.txt").write_text("line\n" * 10000)
        process = subprocess.Popen([needs("nginx"), "-c", str(folder / "conf"), "-e", str(folder / "log")], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until("nginx listens", lambda: process.poll() is not None or (folder / "s").exists())
        out = self.run_php(
            """
            $c = new Client('unix:' . SOCKET);
            $c->set(['max_redirects' => 2]);
            for ($i = 0; $i < 10; $i++) {
                $out[] = [$c->get($i % 2 ? '/old' : '/file.txt'), $c->statusCode, $c->headers['content-encoding'] ?? null, md5($c->body)];
            }
            $out[] = [$c->get('/none'), $c->statusCode];
            """,
            socket=str(folder / "s"),
        )
        expected = hashlib.md5((folder / "file.txt").read_bytes()).hexdigest()
        # nginx closes the connection after each third request.
        self.assertEqual(out[:10], [[True, 200, "gzip", expected]] * 10)
        self.assertEqual(out[10], [True, 404])

    def test_node(self):
        port = self.node(
            """
            const http = require('http');
            const server = http.createServer((request, response) => {
                const parts = [];
                request.on('data', (d) => parts.push(d)).on('end', () => {
                    const body = Buffer.concat(parts);
                    response.setHeader('X-Length', body.length);
                    if (request.url === '/continue') response.writeContinue();
                    response.write('piece ');
                    setTimeout(() => { response.addTrailers({ 'X-Trailer': 'end' }); response.end(request.headers['expect'] || 'done'); }, 5);
                });
            });
            server.on('checkContinue', (request, response) => { response.writeContinue(); server.emit('request', request, response); });
            server.listen(0, '127.0.0.1', () => console.log(server.address().port));
            """
        )
        out = self.run_php(
            """
            $c = client();
            $c->setHeaders(['Trailer' => 'X']);
            $out[] = [$c->get('/'), $c->body, $c->headers['x-length']];
            $c->setHeaders(['Expect' => '100-continue']);
            $out[] = [$c->post('/', str_repeat('x', 5_000_000)), $c->body, $c->headers['x-length'], $c->connected];
            """,
            port,
        )
        self.assertEqual(out, [[True, "piece done", "0"], [True, "piece 100-continue", "5000000", True]])


if __name__ == "__main__":
    unittest.main()
