"""What a TLS port has beside its certificates: limits of handshakes, HSTS, a redirect from the plain port, stapled OCSP
responses, the certificate that `apus run --tls` makes."""

import json
import os
import pathlib
import select
import signal
import socket
import ssl
import subprocess
import textwrap

from support import PATIENCE, Client, command, module, needs, php
from tls_cases import TlsCase, servers


class Limits(TlsCase):
    def silent(self, server, count, data=b"\x16\x03\x01\x02\x00\x01"):
        """Clients that begin a handshake and do not go on."""
        socks = [socket.create_connection(("127.0.0.1", server.port), PATIENCE) for _ in range(count)]
        for sock in socks:
            self.addCleanup(sock.close)
            sock.sendall(data)
        return socks

    def ended(self, socks):
        for sock in socks:
            try:
                while sock.recv(4096):
                    pass
            except ConnectionResetError:
                pass

    def test_a_half_handshake_ends(self):
        server = self.https(settings={"ssl_handshake_timeout": 0.3, "header_timeout": 3600})
        self.ended(self.silent(server, 5) + self.silent(server, 5, b""))
        self.assertEqual(self.ask(server).status, 200)

    def test_on_a_port_of_streams_too(self):
        server = self.serve(script=f"""<?php
        $server = new Apus\\Server('127.0.0.1', 0);
        $server->set(['worker_num' => 1, 'ssl_handshake_timeout' => 0.3, 'ssl_cert_file' => '{self.cert}', 'ssl_key_file' => '{self.key}']);
        $server->on('receive', fn ($server, $fd, $worker, $data) => $server->send($fd, $data));
        $server->start();
        """)
        done = self.sealed(server)
        self.ended(self.silent(server, 5) + self.silent(server, 5, b""))
        # Who has shaken hands may be silent for longer.
        done.sendall(b"still here")
        self.assertEqual(done.recv(100), b"still here")

    def test_so_many_handshakes_a_second(self):
        server = self.https("$response->end('x');", settings={"ssl_handshake_rate": 3})
        first = [self.sealed(server) for _ in range(3)]
        later = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        self.addCleanup(later.close)
        later.setblocking(False)
        # It waits in the backlog; the others are served meanwhile, and it is when its turn comes.
        later = self.trusting().wrap_socket(later, server_hostname="localhost", do_handshake_on_connect=False)
        with self.assertRaises(ssl.SSLWantReadError):
            later.do_handshake()
        for sock in first:
            self.assertEqual(Client(sock).request().body, b"x")
        later.settimeout(PATIENCE)
        later.do_handshake()
        self.assertEqual(Client(later).request().body, b"x")


class Headers(TlsCase):
    def both(self, **settings):
        """A server with a TLS port and a plain one; their ports."""
        before = "$plain = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP); $plain->set(['https_redirect' => 8443, 'ssl_cert_file' => '']);"
        server = self.https("$path === '/own' && $response->header('strict-transport-security', 'max-age=1'); $response->end('x');",
                            before=before, settings=settings)
        return server, int(server.ready["listen"][1].rsplit(":", 1)[1])

    def test_hsts_and_a_redirect_from_the_plain_port(self):
        server, plain = self.both(ssl_hsts="max-age=31536000; includeSubDomains", open_http2_protocol=True)
        context = self.trusting()
        context.set_alpn_protocols(["http/1.1"])
        for path, value in (("/", "max-age=31536000; includeSubDomains"), ("/own", "max-age=1")):
            answer = self.ask(server, path=path, context=context)
            self.assertEqual(answer.headers["strict-transport-security"], value)
            line = [needs("curl"), "-sSI", "--http2", "--cacert", self.cert, f"https://localhost:{server.port}{path}"]
            said = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE).stdout.splitlines()
            self.assertEqual(said[0].split()[0], "HTTP/2")
            self.assertIn(f"strict-transport-security: {value}", said)
        for request, location in [
            (b"GET /a?b=c%20d HTTP/1.1\r\nHost: shop.test:8080\r\n\r\n", "https://shop.test:8443/a?b=c%20d"),
            (b"POST / HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\n\r\nabc", "https://[::1]:8443/"),
            (b"GET http://else.test/x HTTP/1.1\r\nHost: shop.test\r\n\r\n", "https://else.test:8443/x"),
            (b"OPTIONS * HTTP/1.1\r\nHost: shop.test\r\n\r\n", "https://shop.test:8443/"),
        ]:
            with self.subTest(request=request), Client(socket.create_connection(("127.0.0.1", plain), PATIENCE)) as client:
                client.send(request)
                answer = client.answer()
                self.assertEqual((answer.status, answer.headers["location"]), (308, location))
                # A promise made in clear counts for nothing (RFC 6797 section 7.2).
                self.assertNotIn("strict-transport-security", answer.headers)
                self.assertTrue(client.closed())
        with Client(socket.create_connection(("127.0.0.1", plain), PATIENCE)) as client:
            client.send(b"GET / HTTP/1.0\r\n\r\n")
            self.assertEqual(client.answer().status, 400)

    def test_curl_follows_the_redirect(self):
        curl = needs("curl")
        server = self.https("$response->end($path);", before="$plain = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP); "
                            "$plain->set(['ssl_cert_file' => '', 'https_redirect' => $server->port]);")
        plain = int(server.ready["listen"][1].rsplit(":", 1)[1])
        line = [curl, "-sSL", "--cacert", self.cert, f"http://localhost:{plain}/there"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.stdout, done.stderr), ("/there", ""))

    def test_what_makes_no_sense_is_refused(self):
        for settings, why in [
            ({"ssl_hsts": "forever"}, "ssl_hsts"),
            ({"ssl_hsts": "max-age=1\r\nSet-Cookie: a=b"}, "ssl_hsts"),
            ({"ssl_stapling_file": str(self.cert)}, "no successful OCSP response"),
        ]:
            with self.subTest(why=why), self.assertRaisesRegex(AssertionError, why):
                self.https(settings=settings)

    def test_datagrams_are_not_sealed(self):
        with self.assertRaisesRegex(AssertionError, "DTLS"):
            self.https(before="$server->listen('127.0.0.1', 0, Apus\\SOCK_UDP | 512)->on('packet', fn () => 0);")


class Stapling(TlsCase):
    def authority(self):
        """An authority, a certificate of it, and its answer that the certificate is good."""
        folder = self.folder()
        openssl = servers.program("openssl")

        def run(*words):
            servers.run([openssl, *words], cwd=folder)

        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        run("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2")
        run("req", *curve, "-keyout", "key.pem", "-out", "asked.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        run("x509", "-req", "-in", "asked.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "4711", "-copy_extensions", "copy",
            "-out", "cert.pem", "-days", "2")
        (folder / "index.txt").write_text("V\t350101000000Z\t\t1267\tunknown\t/CN=localhost\n")
        run("ocsp", "-index", "index.txt", "-rsigner", "ca.pem", "-rkey", "ca.key", "-CA", "ca.pem", "-issuer", "ca.pem", "-cert", "cert.pem",
            "-respout", "good.der", "-ndays", "1")
        return folder

    def test_a_client_is_shown_it_with_the_certificate(self):
        folder = self.authority()
        files = {"ssl_cert_file": str(folder / "cert.pem"), "ssl_key_file": str(folder / "key.pem"), "ssl_stapling_file": str(folder / "good.der")}
        server = self.https(settings={**files, "ssl_sni_certs": {"other.test": files}})
        for name in ("localhost", "other.test"):
            for version in ("-tls1_2", "-tls1_3"):
                line = [servers.program("openssl"), "s_client", "-connect", f"127.0.0.1:{server.port}", "-servername", name, "-status", version]
                line += ["-CAfile", folder / "ca.pem"]
                said = subprocess.run(line, input="", capture_output=True, text=True, timeout=PATIENCE).stdout
                self.assertIn("OCSP Response Status: successful", said)
                self.assertIn("Cert Status: good", said)


class Clients(TlsCase):
    """Clients of other makes."""

    def test_openssl_and_curl(self):
        server = self.https()
        openssl, curl = servers.program("openssl"), needs("curl")
        for version in ("-tls1_2", "-tls1_3"):
            line = [openssl, "s_client", "-connect", f"127.0.0.1:{server.port}", "-servername", "localhost", "-CAfile", self.cert, version]
            said = subprocess.run([*line, "-verify_return_error"], input="", capture_output=True, text=True, timeout=PATIENCE).stdout
            self.assertIn("Verify return code: 0 (ok)", said)
        for version in ("-tls1", "-tls1_1"):
            line = [openssl, "s_client", "-connect", f"127.0.0.1:{server.port}", version, "-cipher", "ALL:@SECLEVEL=0"]
            self.assertNotEqual(subprocess.run(line, input="", capture_output=True, timeout=PATIENCE).returncode, 0)
        done = subprocess.run([curl, "-sS", "--cacert", self.cert, f"https://localhost:{server.port}/big"], capture_output=True, timeout=PATIENCE)
        self.assertEqual((len(done.stdout), done.stderr), (3_000_000, b""))

    def test_renegotiation_is_refused(self):
        server = self.https("$response->end('x');")
        line = [servers.program("openssl"), "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_2", "-legacy_renegotiation"]
        # "R" alone on a line asks for it.
        done = subprocess.run(line, input="R\n", capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("no renegotiation", (done.stdout + done.stderr).lower().replace("_", " "))
        self.assertEqual(self.ask(server).status, 200)

    def test_go(self):
        go = needs("go")
        folder = self.folder()
        (folder / "main.go").write_text(textwrap.dedent("""\
            package main

            import ("crypto/tls"; "crypto/x509"; "fmt"; "io"; "net/http"; "os")

            func main() {
                roots := x509.NewCertPool()
                pem, _ := os.ReadFile(os.Args[2])
                roots.AppendCertsFromPEM(pem)
                config := &tls.Config{RootCAs: roots, ServerName: "localhost", ClientSessionCache: tls.NewLRUClientSessionCache(8)}
                for i := 0; i < 2; i++ {
                    client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
                    answer, err := client.Get(os.Args[1])
                    if err != nil { fmt.Println(err); os.Exit(1) }
                    body, _ := io.ReadAll(answer.Body)
                    fmt.Println(answer.Status, answer.TLS.DidResume, tls.VersionName(answer.TLS.Version), string(body))
                    client.CloseIdleConnections()
                }
            }
            """))
        server = self.https("$response->end('x');")
        env = {**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        done = subprocess.run([go, "run", "main.go", f"https://127.0.0.1:{server.port}/", str(self.cert)], cwd=folder, env=env,
                              capture_output=True, text=True, timeout=PATIENCE * 10)
        self.assertEqual(done.stdout.splitlines(), ["200 OK false TLS 1.3 x", "200 OK true TLS 1.3 x"], done.stderr)

    def test_the_key_exchange_that_quantum_computers_cannot_break(self):
        openssl = servers.program("openssl")
        server = self.https("$response->end('x');")
        line = [openssl, "s_client", "-connect", f"127.0.0.1:{server.port}", "-groups", "X25519MLKEM768"]
        done = subprocess.run(line, input="", capture_output=True, text=True, timeout=PATIENCE)
        if "X25519MLKEM768" not in done.stdout:
            self.skipTest("needs OpenSSL 3.5, which knows X25519MLKEM768")
        self.assertRegex(done.stdout, "Negotiated TLS1.3 group: X25519MLKEM768")


class Development(TlsCase):
    def run_tls(self, home, *words):
        script = self.folder() / "server.php"
        script.write_text("""<?php
            $server = new Apus\\Http\\Server('127.0.0.1', 0);
            $server->set(['worker_num' => 1]);
            $server->on('request', fn ($request, $response) => $response->end($request->server['https'] ?? 'plain'));
            $server->start();
        """)
        reader, writer = os.pipe()
        env = {**os.environ, "HOME": str(home), "APUS_READY_FD": str(writer), "APUS_PHP": php(), "APUS_EXTENSION": module()}
        env.pop("XDG_DATA_HOME", None)
        line = [command(), "run", *words, "--ini", "log_errors=0", str(script)]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(line, env=env, pass_fds=(writer,), **pipes)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.send_signal, signal.SIGTERM)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            self.assertTrue(select.select([pipe], [], [], PATIENCE)[0], "it is not ready")
            line = pipe.readline()
        self.assertTrue(line, process.stdout.read() if not line else "")
        address = json.loads(line)["listen"][0]
        return process, int(address.rsplit(":", 1)[1])

    def test_a_certificate_for_this_user(self):
        home = self.folder()
        process, port = self.run_tls(home, "--tls")
        folder = home / ".local/share/apus/tls"
        self.assertEqual([path.stat().st_mode & 0o777 for path in (folder, folder / "localhost.key")], [0o700, 0o600])
        context = ssl.create_default_context(cafile=folder / "localhost.pem")
        for name in ("localhost", "127.0.0.1"):
            with context.wrap_socket(socket.create_connection(("127.0.0.1", port), PATIENCE), server_hostname=name) as sock:
                with Client(sock) as client:
                    self.assertEqual(client.request(close=True).body, b"on")
        made = (folder / "localhost.pem").read_bytes()
        process.send_signal(signal.SIGTERM)
        self.assertIn("--cacert", process.stdout.read())

        # Once is enough.
        process, port = self.run_tls(home, "--tls")
        self.assertEqual((folder / "localhost.pem").read_bytes(), made)
        process.send_signal(signal.SIGTERM)
        said = process.stdout.read()
        self.assertIn("localhost.pem", said)
        self.assertNotIn("--cacert", said)

    def test_nothing_is_made_unasked(self):
        home = self.folder()
        _, port = self.run_tls(home)
        with Client(socket.create_connection(("127.0.0.1", port), PATIENCE)) as client:
            self.assertEqual(client.request(close=True).body, b"plain")
        self.assertEqual(list(pathlib.Path(home).iterdir()), [])


if __name__ == "__main__":
    import unittest
    unittest.main()
