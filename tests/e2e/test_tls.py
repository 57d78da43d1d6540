"""TLS on a server's ports: the same handlers, answers and messages as without, certificates by name, of clients, replaced by a reload."""

import hashlib
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys

from support import PATIENCE, Client, module, php, until
from tls_cases import TlsCase

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

import servers  # noqa: E402
import websocket  # noqa: E402

class Requests(TlsCase):
    def test_answers_of_every_kind(self):
        server = self.https()
        with Client(self.sealed(server)) as client:
            told = client.request().json()
            self.assertEqual((told["https"], told["ssl_version"], told["ssl_protocol"], told["ssl_server_name"]), ("on", "TLSv1.3", "http/1.1", "localhost"))
            self.assertEqual(client.request(path="/big").body, b"0123456789" * 300_000)
            self.assertEqual(client.request(path="/file").body, server.script.read_bytes())
            self.assertEqual(client.request(path="/pieces").body, b"".join(bytes([65 + i % 26]) * 5000 for i in range(50)))
            body = bytes(range(256)) * 8_000
            self.assertEqual(client.request("POST", "/upload", body=body).body.decode(), hashlib.md5(body).hexdigest())

    def test_many_requests_in_one_piece_are_answered_in_order(self):
        server = self.https("$response->end($path);")
        with Client(self.sealed(server)) as client:
            client.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % i for i in range(500)))
            self.assertEqual([client.answer().body for _ in range(500)], [b"/%d" % i for i in range(500)])

    def test_a_slow_reader_gets_all(self):
        server = self.https(settings={"buffer_output_size": 4 << 20, "socket_buffer_size": 4 << 20})
        sock = self.sealed(server)
        sock.sendall(b"GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        got = b""
        while piece := sock.recv(1000):
            got += piece
        self.assertTrue(got.endswith(b"0123456789" * 300_000))

    def test_the_end_is_said(self):
        server = self.https("$response->end('x');")
        sock = self.sealed(server)
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        # Without a close_notify Python raises SSLEOFError here.
        sock.suppress_ragged_eofs = False
        while sock.recv(4096):
            pass

    def test_what_speaks_no_tls_is_told_so(self):
        server = self.https()
        answer = server.get("/")
        self.assertEqual(answer.status, 400)
        self.assertIn(b"use https://", answer.body)
        # Anything else ends, and the next client is served.
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as sock:
            sock.sendall(bytes([0x16, 3, 1, 0, 5]) + b"xxxxx" * 10)
            while sock.recv(4096):
                pass
        self.assertEqual(self.ask(server).status, 200)

    def test_a_client_that_leaves_in_its_handshake_takes_nothing_along(self):
        server = self.https()
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as sock:
                sock.sendall(bytes([0x16, 3, 1, 2, 0, 1]))
        self.assertEqual(self.ask(server).status, 200)
        until("all are closed", lambda: server.status()["totals"]["connections"] == 0)


class Settings(TlsCase):
    def test_certificates_by_name(self):
        other, other_key = self.made("other.test")
        server = self.https(settings={"ssl_sni_certs": {"other.test": {"ssl_cert_file": str(other), "ssl_key_file": str(other_key)}}})
        self.assertEqual(self.ask(server).status, 200)
        self.assertEqual(self.ask(server, context=self.trusting(other), name="other.test").json()["ssl_server_name"], "other.test")
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.sealed(server, context=self.trusting(other), name="third.test")

    def test_certificates_of_clients(self):
        mine, mine_key = self.made("client")
        server = self.https(settings={"ssl_verify_peer": True, "ssl_client_cert_file": str(mine)})
        context = self.trusting()
        context.load_cert_chain(mine, mine_key)
        told = self.ask(server, context=context).json()
        self.assertEqual(ssl.PEM_cert_to_DER_cert(told["ssl_client_cert"]), ssl.PEM_cert_to_DER_cert(mine.read_text()))
        self.assertEqual(told["shown"], told["ssl_client_cert"])
        with self.assertRaises((ssl.SSLError, ConnectionResetError)):
            self.ask(server)

    def test_a_client_of_ours_shows_its_certificate_with_an_encrypted_key(self):
        mine, mine_key = self.made("client", "-passout", "pass:sesame", nodes=False)
        server = self.https(settings={"ssl_verify_peer": True, "ssl_client_cert_file": str(mine)})
        code = f"""
        Apus\\Coroutine\\run(function () {{
            foreach (['sesame', 'wrong'] as $passphrase) {{
                try {{
                    $client = new Apus\\Coroutine\\Http\\Client('localhost', {server.port}, true);
                    $client->set(['ssl_cafile' => '{self.cert}', 'ssl_cert_file' => '{mine}', 'ssl_key_file' => '{mine_key}', 'ssl_passphrase' => $passphrase]);
                    $client->get('/');
                    echo isset(json_decode($client->body, true)['ssl_client_cert']) ? 'shown' : $client->errMsg, "\\n";
                }} catch (Throwable $thrown) {{
                    echo $thrown->getMessage(), "\\n";
                }}
            }}
        }});
        """
        line = [php(), "-n", "-d", f"extension={module()}", "-r", code]
        said = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE).stdout.splitlines()
        self.assertEqual(said[:1], ["shown"], said)
        self.assertIn("the passphrase is wrong", said[1])

    def test_versions_and_suites(self):
        server = self.https(settings={"ssl_protocols": 32, "ssl_ciphers": "ECDHE-ECDSA-AES128-GCM-SHA256"})
        told = self.ask(server).json()
        self.assertEqual((told["ssl_version"], told["ssl_cipher"]), ("TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"))
        # The server's order rules, whatever the client's is.
        suites = ["ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES128-GCM-SHA256"]
        ordered = self.https(settings={"ssl_protocols": 32, "ssl_ciphers": ":".join(suites)})
        context = self.trusting()
        context.set_ciphers(":".join(reversed(suites)))
        self.assertEqual(self.sealed(ordered, context=context).cipher()[0], suites[0])
        context = self.trusting()
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        with self.assertRaises((ssl.SSLError, ConnectionResetError)):
            self.sealed(server, context=context)

    def test_an_encrypted_key(self):
        path = self.folder() / "locked.pem"
        servers.run([servers.program("openssl"), "pkcs8", "-topk8", "-in", self.key, "-out", path, "-passout", "pass:sesame"], cwd=path.parent)
        server = self.https(settings={"ssl_key_file": str(path), "ssl_passphrase": "sesame"})
        self.assertEqual(self.ask(server).status, 200)

    def test_what_cannot_be_used_keeps_the_server_from_starting(self):
        for settings, why in [
            ({"ssl_cert_file": "/nowhere/cert.pem"}, "/nowhere/cert.pem: No such file"),
            ({"ssl_key_file": str(self.made("x")[1])}, "cannot be used with the key of"),
            ({"ssl_verify_peer": True}, "ssl_client_cert_file"),
            ({"ssl_ciphers": "RC4-SHA"}, "leaves no cipher suite"),
            ({"ssl_ecdh_curve": "nistx"}, "is not one of"),
            ({"ssl_protocols": 8}, "ssl_protocols leaves no version"),
            ({"ssl_sni_certs": {"a": "b"}}, "ssl_sni_certs"),
        ]:
            with self.subTest(why=why), self.assertRaisesRegex(AssertionError, why):
                self.https(settings=settings)

    def test_a_kind_with_ssl_needs_a_certificate(self):
        with self.assertRaisesRegex(AssertionError, "set ssl_cert_file"):
            self.serve(listen="'127.0.0.1', 0, 2, Apus\\SOCK_TCP | 512")


class Life(TlsCase):
    def resumed(self, server, session, context):
        sock = self.sealed(server, context=context, session=session)
        with Client(sock) as client:
            answer = client.request()
            return answer.json(), sock.session

    def test_a_session_is_resumed_on_any_worker_and_after_a_reload(self):
        server = self.https(settings={"worker_num": 2})
        context = self.trusting()
        told, session = self.resumed(server, None, context)
        self.assertFalse(told["ssl_resumed"])
        workers = set()
        for _ in range(40):
            told, _ = self.resumed(server, session, context)
            self.assertTrue(told["ssl_resumed"])
            workers.add(told["worker_id"])
        server.control("reload wait")
        told, _ = self.resumed(server, session, context)
        self.assertTrue(told["ssl_resumed"])


class Messages(TlsCase):
    def test_websocket(self):
        script = f"""<?php
        $server = new Apus\\WebSocket\\Server('127.0.0.1', 0);
        $server->set(['worker_num' => 1, 'ssl_cert_file' => '{self.cert}', 'ssl_key_file' => '{self.key}']);
        $server->on('message', fn ($server, $frame) => $server->push($frame->fd, strtoupper($frame->data)));
        $server->start();
        """
        server = self.serve(script=script)
        ws = websocket.WebSocket(self.sealed(server))
        ws.raw(websocket.request("/"))
        ws.greeted("dGhlIHNhbXBsZSBub25jZQ==", None, None)
        for size in (1, 100, 5_000, 200_000):
            ws.say("a" * size)
            self.assertEqual(ws.text(), "A" * size)
        self.assertEqual(ws.close(1000), (1000, ""))

    def test_a_server_in_a_coroutine(self):
        code = f"""
        Apus\\Coroutine\\run(function () {{
            $server = new Apus\\Coroutine\\Http\\Server('127.0.0.1', 0, true);
            try {{ $server->start(); }} catch (Throwable $thrown) {{ echo $thrown->getMessage(), "\\n"; }}
            $server = new Apus\\Coroutine\\Http\\Server('127.0.0.1', 0, true);
            $server->set(['ssl_cert_file' => '{self.cert}', 'ssl_key_file' => '{self.key}']);
            $server->handle('/', fn ($request, $response) => $response->end($request->server['https']));
            Apus\\go(fn () => $server->start());
            $client = new Apus\\Coroutine\\Http\\Client('localhost', $server->port, true);
            $client->set(['ssl_cafile' => '{self.cert}']);
            $client->get('/');
            echo $server->ssl ? 'ssl ' : '', $client->body, "\\n";
            $server->shutdown();
        }});
        """
        line = [php(), "-n", "-d", f"extension={module()}", "-r", code]
        said = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE).stdout.splitlines()
        self.assertEqual(said, ["TLS: a certificate is needed: set ssl_cert_file and ssl_key_file", "ssl on"])

    def test_streams(self):
        script = f"""<?php
        $server = new Apus\\Server('127.0.0.1', 0, 2, Apus\\SOCK_TCP | 512);
        $server->set(['worker_num' => 1, 'open_eof_check' => true, 'package_eof' => "\\n", 'ssl_cert_file' => '{self.cert}', 'ssl_key_file' => '{self.key}']);
        $server->on('receive', fn ($server, $fd, $worker, $data) => $server->send($fd, strrev(trim($data)) . "\\r\\n"));
        $server->start();
        """
        server = self.serve(script=script)
        with Client(self.sealed(server)) as client:
            for text in (b"abc", b"x" * 100_000):
                client.send(text + b"\n")
                self.assertEqual(client.line(), text[::-1].decode())


if __name__ == "__main__":
    import unittest
    unittest.main()
