"""Coroutine\\Socket, Coroutine\\Client and Client against servers and clients of Python: TLS, resets, silence, slow
peers."""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import unittest

import support
from support import PATIENCE

PRELUDE = """<?php
use Apus\\Coroutine;
use Apus\\Coroutine\\{Client, Socket};
use function Apus\\{go, Coroutine\\run};
$got = [];
function told(string $what, mixed $result, object $client): void
{
    global $got;
    $got[$what] = ['result' => $result, 'code' => $client->errCode, 'text' => $client->errMsg];
}
register_shutdown_function(function () {
    echo json_encode($GLOBALS['got'], JSON_THROW_ON_ERROR), "\\n";
});
"""


def run_php(code, folder):
    """Runs a script; gives back what it told()."""
    script = pathlib.Path(folder) / "script.php"
    script.write_text(PRELUDE + code)
    line = [support.php(), "-n", "-d", f"extension={support.module()}", str(script)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=2 * PATIENCE)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or len(lines) != 1:
        raise AssertionError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(lines[0])


class Keys:
    """Certificates of an authority of our own, made by openssl."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=An authority", "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", "ca.key", "-out", "ca.pem")
        self.signed("good", "DNS:localhost,IP:127.0.0.1")
        self.signed("elsewhere", "DNS:elsewhere.example")
        self.signed("client", "DNS:client.example")
        # As most people make one: it calls itself an authority.
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "own.key", "-out", "own.pem")

    def openssl(self, *arguments):
        subprocess.run([support.needs("openssl"), *arguments], cwd=self.folder, check=True, capture_output=True)

    def signed(self, name, names):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (self.folder / "extensions").write_text(f"subjectAltName={names}\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions", "-out", f"{name}.pem")

    def path(self, name):
        return str(self.folder / name)

    def server(self, name, **options):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path(f"{name}.pem"), self.path(f"{name}.key"))
        if options.get("versions"):
            context.minimum_version = context.maximum_version = options["versions"]
        if options.get("demand"):
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.path("ca.pem"))
        return context


class Peer:
    """A server of ours: each connection is served by `serve(connection)` in a thread."""

    def __init__(self, serve, tls=None):
        self.serve, self.tls = serve, tls
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.threads, self.failures = [], []
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            thread.start()
            self.threads.append(thread)

    def _serve(self, connection):
        connection.settimeout(PATIENCE)
        with contextlib.suppress(ConnectionError, ssl.SSLError, EOFError), connection:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection:
                self.serve(connection)
                if self.tls:
                    # Python ends TLS only when asked to.
                    with contextlib.suppress(OSError, ValueError):
                        connection.unwrap()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A listener that another thread waits at does not wake by close() alone.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE)
        for thread in self.threads:
            thread.join(PATIENCE)


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


def exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="apus-sockets-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def php(self, code):
        return run_php(code, self.folder)


class Tls(WithFolder):
    def setUp(self):
        super().setUp()
        self.keys = Keys(self.folder)

    def client(self, port, settings, more="", host="localhost", type="Apus\\SOCK_TCP | Apus\\SSL"):
        return self.php(f"""
            run(function () {{
                $client = new Client({type});
                $client->set({support.php_array(settings)});
                told('connect', $client->connect('{host}', {port}, 20), $client);
                {more}
            }});""")

    def test_a_certificate_of_a_named_authority(self):
        with Peer(echo, self.keys.server("good")) as peer:
            got = self.client(peer.port, {"ssl_cafile": self.keys.path("ca.pem")}, """
                told('send', $client->send('hello'), $client);
                told('recv', $client->recv(20), $client);
                told('cert', $client->getPeerCert(), $client);
                told('verify', $client->verifyPeerCert(), $client);
                $large = random_bytes(3_000_000);
                $id = go(fn() => $client->send($large));
                $socket = $client->exportSocket();
                told('large', $socket->recvAll(strlen($large), 20) === $large, $socket);
                told('nothing', $client->recv(0.01), $client);
                $client->send('abcdef');
                Coroutine::sleep(0.05);
                told('peek', $client->peek(2), $client);
                told('part', $socket->recv(3), $client);
                told('rest', $socket->recvAll(3), $client);
                told('end writing', $socket->shutdown(1), $socket);
                told('end', $client->recv(20), $client);
            """)
        pem = ssl.PEM_cert_to_DER_cert(pathlib.Path(self.keys.path("good.pem")).read_text())
        self.assertEqual(got["connect"]["text"], "")
        self.assertEqual([got[k]["result"] for k in ("connect", "send", "recv", "verify", "large", "peek", "part", "rest", "end writing", "end")],
                         [True, 5, "hello", True, True, "ab", "abc", "def", True, ""])
        self.assertEqual(ssl.PEM_cert_to_DER_cert(got["cert"]["result"]), pem)
        self.assertEqual(got["nothing"]["code"], 110)

    def test_refusals_say_why(self):
        cases = [
            ("good", {}, "no known authority"),
            ("own", {}, "ssl_allow_self_signed"),
            ("elsewhere", {"ssl_cafile": self.keys.path("ca.pem")}, "ssl_host_name"),
            ("good", {"ssl_cafile": self.keys.path("own.pem")}, "no known authority"),
        ]
        for name, settings, words in cases:
            with self.subTest(name=name, words=words), Peer(echo, self.keys.server(name)) as peer:
                got = self.client(peer.port, settings, "told('recv', $client->recv(), $client);")
                self.assertEqual((got["connect"]["result"], got["connect"]["code"]), (False, 1014), got)
                self.assertIn(words, got["connect"]["text"])
                self.assertEqual(got["recv"]["code"], 5001)

    def test_ways_to_trust(self):
        cases = [
            ("good", {"ssl_capath": str(self.keys.folder)}),
            ("good", {"ssl_verify_peer": False}),
            ("own", {"ssl_allow_self_signed": True}),
            ("own", {"ssl_cafile": self.keys.path("own.pem")}),
            ("elsewhere", {"ssl_cafile": self.keys.path("ca.pem"), "ssl_host_name": "elsewhere.example"}),
        ]
        for name, settings in cases:
            with self.subTest(name=name, settings=settings), Peer(echo, self.keys.server(name)) as peer:
                got = self.client(peer.port, settings, "$client->send('x'); told('recv', $client->recv(20), $client);")
                self.assertEqual((got["connect"]["result"], got["recv"]["result"]), (True, "x"), got)

    def test_verified_later(self):
        with Peer(echo, self.keys.server("own")) as peer:
            got = self.client(peer.port, {"ssl_verify_peer": False}, """
                told('strict', $client->verifyPeerCert(), $client);
                told('lenient', $client->verifyPeerCert(true), $client);""")
        self.assertEqual((got["strict"]["code"], got["lenient"]["result"]), (1014, True))

    def test_an_address_and_an_older_version(self):
        with Peer(echo, self.keys.server("good", versions=ssl.TLSVersion.TLSv1_2)) as peer:
            settings = {"ssl_cafile": self.keys.path("ca.pem")}
            self.assertTrue(self.client(peer.port, settings, host="127.0.0.1")["connect"]["result"])
            got = self.client(peer.port, {**settings, "ssl_protocols": 64})
            self.assertEqual((got["connect"]["result"], got["connect"]["code"]), (False, 1018), got)

    def test_a_client_certificate(self):
        def greet(connection):
            subject = dict(field[0] for field in connection.getpeercert()["subject"])
            connection.sendall(subject["commonName"].encode())

        with Peer(greet, self.keys.server("good", demand=True)) as peer:
            settings = {"ssl_cafile": self.keys.path("ca.pem"), "ssl_cert_file": self.keys.path("client.pem"), "ssl_key_file": self.keys.path("client.key")}
            got = self.client(peer.port, settings, "told('recv', $client->recv(20), $client);")
            self.assertEqual(got["recv"]["result"], "client", got)
            got = self.client(peer.port, {"ssl_cafile": self.keys.path("ca.pem")}, "told('recv', $client->recv(20), $client);")
            self.assertFalse(got["connect"]["result"] and got["recv"]["result"], got)
            got = self.client(peer.port, {**settings, "ssl_key_file": self.keys.path("ca.key")})
            self.assertEqual((got["connect"]["code"], "cannot be used with its key" in got["connect"]["text"]), (1019, True), got)
            got = self.client(peer.port, {**settings, "ssl_cafile": self.keys.path("none.pem")})
            self.assertEqual((got["connect"]["code"], "none.pem" in got["connect"]["text"]), (1019, True), got)

    def test_tls_on_a_connection_that_began_without(self):
        context = self.keys.server("good")

        def serve(connection):
            self.assertEqual(exactly(connection, 9), b"STARTTLS\n")
            connection.sendall(b"go\n")
            with context.wrap_socket(connection, server_side=True) as secure:
                echo(secure)

        with Peer(serve) as peer:
            got = self.client(peer.port, {"ssl_cafile": self.keys.path("ca.pem")}, """
                told('no certificate', $client->getPeerCert(), $client);
                $client->send("STARTTLS\\n");
                told('go', $client->recv(20), $client);
                told('enable', $client->enableSSL(), $client);
                told('twice', $client->enableSSL(), $client);
                $client->send('secret');
                told('recv', $client->recv(20), $client);
            """, type="Apus\\SOCK_TCP")
        self.assertEqual([got[k]["result"] for k in ("go", "enable", "twice", "recv")], ["go\n", True, False, "secret"], got)
        self.assertEqual((got["no certificate"]["code"], got["twice"]["code"]), (1011, 106))

    def test_a_peer_that_is_silent_or_speaks_something_else(self):
        silent = threading.Event()
        with Peer(lambda connection: silent.wait(PATIENCE)) as peer:
            got = self.php(f"""
                run(function () {{
                    $client = new Client(Apus\\SOCK_TCP | Apus\\SSL);
                    told('time', $client->connect('127.0.0.1', {peer.port}, 0.05), $client);
                    $id = go(fn() => told('cancelled', $client->connect('127.0.0.1', {peer.port}, 20), $client));
                    Coroutine::sleep(0.05);
                    Coroutine::cancel($id);
                    Coroutine::join([$id]);
                    $id = go(fn() => told('closed', $client->connect('127.0.0.1', {peer.port}, 20), $client));
                    Coroutine::sleep(0.05);
                    $client->close();
                    Coroutine::join([$id]);
                }});""")
            silent.set()
        self.assertEqual([got[k]["code"] for k in ("time", "cancelled", "closed")], [110, 125, 125], got)
        with Peer(lambda connection: (connection.recv(10), connection.sendall(b"SSH-2.0-nothing\r\n"), connection.recv(1000))) as peer:
            got = self.client(peer.port, {})
        self.assertEqual(got["connect"]["code"], 1018, got)

    def test_a_connection_that_is_cut_off_is_no_end(self):
        def cut(connection):
            connection.sendall(b"half a mess")
            # The bare socket ends, TLS does not.
            os.close(connection.detach())

        with Peer(cut, self.keys.server("good")) as peer:
            got = self.client(peer.port, {"ssl_cafile": self.keys.path("ca.pem")}, """
                told('part', $client->recv(20), $client);
                told('end', $client->recv(20), $client);""")
        self.assertEqual((got["part"]["result"], got["end"]["result"], got["end"]["code"]), ("half a mess", False, 104), got)

    def test_a_server_of_coroutines(self):
        """sslHandshake() on accepted connections; clients of Python and of Apus; both at once."""
        context = ssl.create_default_context(cafile=self.keys.path("ca.pem"))
        with subprocess.Popen([support.php(), "-n", "-d", f"extension={support.module()}", "-r", f"""
                use Apus\\Coroutine\\{{Client, Socket}};
                Apus\\Coroutine\\run(function () {{
                    $server = new Socket(Apus\\AF_INET, Apus\\SOCK_STREAM);
                    $server->bind('127.0.0.1');
                    $server->listen();
                    $server->setProtocol(['ssl_cert_file' => '{self.keys.path("good.pem")}', 'ssl_key_file' => '{self.keys.path("good.key")}']);
                    echo $server->getsockname()['port'], "\\n";
                    while ($peer = $server->accept()) {{
                        Apus\\go(function () use ($peer) {{
                            if (!$peer->sslHandshake()) {{
                                return;
                            }}
                            while (($data = $peer->recv()) !== '' && $data !== false) {{
                                $peer->sendAll(strrev($data));
                            }}
                            $peer->close();
                        }});
                    }}
                }});"""], stdout=subprocess.PIPE, text=True) as server:
            try:
                port = int(server.stdout.readline())
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain:
                    plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    for _ in range(3):
                        with (
                            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as bare,
                            context.wrap_socket(bare, server_hostname="localhost") as secure,
                        ):
                            secure.sendall(b"hello")
                            self.assertEqual(exactly(secure, 5), b"olleh")
                got = self.php(f"""
                    run(function () {{
                        $right = 0;
                        $ids = [];
                        for ($i = 0; $i < 50; $i++) {{
                            $ids[] = go(function () use ($i, &$right) {{
                                $client = new Client(Apus\\SOCK_TCP | Apus\\SSL);
                                $client->set(['ssl_cafile' => '{self.keys.path("ca.pem")}', 'timeout' => 20]);
                                $client->connect('localhost', {port});
                                $client->send("client $i.");
                                $right += $client->recv() === strrev("client $i.");
                            }});
                        }}
                        Coroutine::join($ids);
                        told('right', $right, new Client(Apus\\SOCK_TCP));
                    }});""")
                self.assertEqual(got["right"]["result"], 50)
            finally:
                server.kill()

    def test_the_blocking_client(self):
        with Peer(echo, self.keys.server("good")) as peer:
            got = self.php(f"""
                $client = new Apus\\Client(Apus\\SOCK_TCP | Apus\\SSL);
                $client->set(['ssl_cafile' => '{self.keys.path("ca.pem")}']);
                told('connect', $client->connect('localhost', {peer.port}, 20), $client);
                told('send', $client->send(str_repeat('x', 200_000)), $client);
                told('recv', strlen($client->recv(200_000, Apus\\Client::MSG_WAITALL)), $client);
                told('verify', $client->verifyPeerCert(), $client);
                told('cert', str_starts_with($client->getPeerCert(), '-----BEGIN CERTIFICATE-----'), $client);
                told('refused', (new Apus\\Client(Apus\\SOCK_TCP | Apus\\SSL))->connect('localhost', {peer.port}, 20), $client);""")
        self.assertEqual(
            [got[k]["result"] for k in ("connect", "send", "recv", "verify", "cert", "refused")],
            [True, 200_000, 200_000, True, True, False],
            got,
        )


class Tcp(WithFolder):
    def test_the_blocking_client_waits_for_a_slow_peer(self):
        gate = threading.Event()

        def slow(connection):
            self.assertEqual(exactly(connection, 4), b"ping")
            gate.wait(PATIENCE)
            for byte in b"\0\5hello\0\2hi":
                connection.sendall(bytes([byte]))
            connection.recv(1)

        with Peer(slow) as peer:
            gate.set()
            got = self.php(f"""
                $client = new Apus\\Client(Apus\\SOCK_TCP);
                $client->set(['open_length_check' => true, 'package_length_type' => 'n', 'package_body_offset' => 2]);
                told('connect', $client->connect('127.0.0.1', {peer.port}, 20), $client);
                $client->send('ping');
                told('one', substr($client->recv(), 2), $client);
                told('two', substr($client->recv(), 2), $client);""")
        self.assertEqual((got["one"]["result"], got["two"]["result"]), ("hello", "hi"))

    def test_a_reset_and_an_end(self):
        def reset(connection):
            exactly(connection, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        with Peer(reset) as peer:
            for client, outside in (("Client", False), ("Apus\\Client", True)):
                body = f"""
                    $client = new {client}(Apus\\SOCK_TCP);
                    $client->connect('127.0.0.1', {peer.port}, 20);
                    $client->send('x');
                    told('recv', $client->recv(), $client);
                    told('send', $client->send('x'), $client);
                    told('alive', $client->isConnected(), $client);"""
                got = self.php(body if outside else f"run(function () {{ {body} }});")
                self.assertEqual((got["recv"]["code"], got["send"]["code"], got["alive"]["result"]), (104, 32, False), got)

    def test_half_close(self):
        def sort(connection):
            data = b""
            while more := connection.recv(65536):
                data += more
            connection.sendall(bytes(sorted(data)))

        with Peer(sort) as peer:
            got = self.php(f"""
                run(function () {{
                    $socket = new Socket(Apus\\AF_INET, Apus\\SOCK_STREAM);
                    $socket->connect('127.0.0.1', {peer.port});
                    $socket->sendAll(str_repeat('ba', 100_000));
                    told('shutdown', $socket->shutdown(1), $socket);
                    told('sorted', $socket->recvAll(1_000_000) === str_repeat('a', 100_000) . str_repeat('b', 100_000), $socket);
                }});""")
        self.assertTrue(got["sorted"]["result"], got)

    def test_a_hundred_slow_peers_at_once(self):
        """Each answer takes 0.1 s; one after the other they would take ten."""
        begun = threading.Barrier(100)

        def slow(connection):
            exactly(connection, 1)
            # No answer before all have asked: only clients that wait side by side get there.
            begun.wait(PATIENCE)
            connection.sendall(b"y")
            connection.recv(1)

        with Peer(slow) as peer:
            got = self.php(f"""
                run(function () {{
                    $answers = 0;
                    $ids = [];
                    for ($i = 0; $i < 100; $i++) {{
                        $ids[] = go(function () use (&$answers) {{
                            $client = new Client(Apus\\SOCK_TCP);
                            $client->connect('127.0.0.1', {peer.port}, 20);
                            $client->send('x');
                            $answers += $client->recv(20) === 'y';
                        }});
                    }}
                    Coroutine::join($ids);
                    told('answers', $answers, new Client(Apus\\SOCK_TCP));
                }});""")
        self.assertEqual(got["answers"]["result"], 100)

    def test_messages_of_a_client_that_dribbles(self):
        """A server of coroutines reads messages that a client of Python sends byte by byte, cut everywhere."""
        messages = [b"", b"a", b"bcd", bytes(range(256)) * 3]
        stream = b"".join(struct.pack("!I", len(m)) + m for m in messages)
        with subprocess.Popen([support.php(), "-n", "-d", f"extension={support.module()}", "-r", """
                use Apus\\Coroutine\\Socket;
                Apus\\Coroutine\\run(function () {
                    $server = new Socket(Apus\\AF_INET, Apus\\SOCK_STREAM);
                    $server->bind('127.0.0.1');
                    $server->listen();
                    echo $server->getsockname()['port'], "\\n";
                    while ($peer = $server->accept()) {
                        Apus\\go(function () use ($peer) {
                            $peer->setProtocol(['open_length_check' => true, 'package_body_offset' => 4, 'package_max_length' => 1000]);
                            while (($message = $peer->recvPacket()) !== '' && $message !== false) {
                                $peer->sendAll(pack('n', strlen($message) - 4) . hash('sha256', substr($message, 4), true));
                            }
                            $peer->sendAll($peer->errMsg);
                            $peer->close();
                        });
                    }
                });"""], stdout=subprocess.PIPE, text=True) as server:
            try:
                port = int(server.stdout.readline())
                for size in (1, 2, 3, 5, 7, 1000):
                    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        for at in range(0, len(stream), size):
                            client.sendall(stream[at:at + size])
                        for message in messages:
                            head = exactly(client, 34)
                            self.assertEqual(struct.unpack("!H", head[:2])[0], len(message))
                            self.assertEqual(head[2:], hashlib.sha256(message).digest())
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                    client.sendall(struct.pack("!I", 997))
                    self.assertEqual(client.recv(1), b"")
            finally:
                server.kill()

    def test_a_forked_child_leaves_its_parents_registrations(self):
        """A worker inherits a socket that its master's loop watches, and ends; the master's goes on."""
        with Peer(echo) as peer:
            got = self.php(f"""
                run(function () {{
                    $socket = new Socket(Apus\\AF_INET, Apus\\SOCK_STREAM);
                    $socket->connect('127.0.0.1', {peer.port});
                    $socket->recv(1, 0.01);
                    $GLOBALS['socket'] = $socket;
                }});
                if (!($pid = pcntl_fork())) {{
                    unset($GLOBALS['socket']);
                    // Ends the child without the end of a script.
                    pcntl_exec('/bin/true');
                }}
                pcntl_waitpid($pid, $status);
                run(function () {{
                    $socket = $GLOBALS['socket'];
                    $socket->send('still here');
                    told('recv', $socket->recv(100, 20), $socket);
                }});""")
        self.assertEqual(got["recv"]["result"], "still here")


if __name__ == "__main__":
    unittest.main()
