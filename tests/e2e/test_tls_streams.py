"""TLS that begins later, or inside a coroutine: STARTTLS on stream ports, Coroutine\\Server."""

import smtplib
import socket
import subprocess

from support import PATIENCE, Client, module, php
from tls_cases import TlsCase, servers


class Starttls(TlsCase):
    """A little of SMTP (RFC 3207)."""

    def mail(self, **settings):
        files = f"'ssl_cert_file' => '{self.cert}', 'ssl_key_file' => '{self.key}'"
        more = "".join(f", '{name}' => {value}" for name, value in settings.items())
        return self.serve(script=f"""<?php
        $server = new Apus\\Server('127.0.0.1', 0);
        $server->set(['worker_num' => 1, 'ssl_starttls' => true, 'open_eof_split' => true, 'package_eof' => "\\r\\n", {files}{more}]);
        $server->on('connect', fn ($server, $fd) => $server->send($fd, "220 mail.test\\r\\n"));
        $server->on('receive', function ($server, $fd, $worker, $line) {{
            $sealed = isset($server->getClientInfo($fd)['ssl_version']);
            $answer = match (strtoupper(explode(' ', trim($line))[0])) {{
                'EHLO' => $sealed ? "250 sealed" : "250-mail.test\\r\\n250 STARTTLS",
                'STARTTLS' => $sealed ? '503 no' : '220 go',
                'NOOP' => $sealed ? '250 sealed' : '250 clear',
                'BIG' => str_repeat('x', 4_000_000),
                'QUIT' => '221 bye',
                default => '500 what',
            }};
            $server->send($fd, $answer . "\\r\\n");
            if ($answer === '221 bye') {{
                $server->close($fd);
            }}
            if ($answer === '220 go' || $answer[0] === 'x') {{
                var_dump($server->enableSSL($fd), $server->enableSSL($fd));
            }}
        }});
        $server->start();
        """)

    def test_a_client_of_mail(self):
        server = self.mail()
        with smtplib.SMTP("localhost", server.port, timeout=PATIENCE) as client:
            self.assertEqual(client.noop(), (250, b"clear"))
            self.assertEqual(client.starttls(context=self.trusting())[0], 220)
            self.assertEqual(client.noop(), (250, b"sealed"))
            self.assertEqual(client.ehlo(), (250, b"sealed"))
        self.assertIn("bool(true)\nbool(false)", server.said())

    def test_openssl(self):
        server = self.mail()
        line = [servers.program("openssl"), "s_client", "-connect", f"127.0.0.1:{server.port}", "-starttls", "smtp", "-crlf", "-quiet"]
        line += ["-CAfile", self.cert, "-verify_return_error"]
        said = subprocess.run(line, input="NOOP\nQUIT\n", capture_output=True, text=True, timeout=PATIENCE).stdout
        self.assertIn("250 sealed", said)

    def test_what_is_sent_behind_the_command_ends_the_connection(self):
        # CVE-2011-0411: whoever sits between may put commands there, which the server would do as the client's own.
        server = self.mail()
        with Client(socket.create_connection(("127.0.0.1", server.port), PATIENCE)) as client:
            self.assertEqual(client.line(), "220 mail.test")
            client.send(b"STARTTLS\r\nNOOP\r\n")
            # Nothing but the end of TLS, an alert.
            self.assertRegex(client.rest(), rb"^220 go\r\n\x15[^2]*$")
        self.assertIn("bytes in clear came behind the command that began TLS", server.said())

    def test_a_long_answer_leaves_before_it_begins(self):
        server = self.mail(buffer_output_size=8 << 20, socket_buffer_size=8 << 20)
        with Client(socket.create_connection(("127.0.0.1", server.port), PATIENCE)) as client:
            self.assertEqual(client.line(), "220 mail.test")
            client.send(b"BIG\r\n")
            self.assertEqual(len(client.line()), 4_000_000)
            self.assertEqual(client.buffer, b"")
            sealed = Client(self.trusting().wrap_socket(client.sock, server_hostname="localhost"))
            sealed.send(b"NOOP\r\n")
            self.assertEqual(sealed.line(), "250 sealed")

    def test_who_never_shakes_hands_is_closed(self):
        server = self.mail(ssl_handshake_timeout=0.3)
        with Client(socket.create_connection(("127.0.0.1", server.port), PATIENCE)) as client:
            client.send(b"NOOP\r\n")
            self.assertEqual([client.line(), client.line()], ["220 mail.test", "250 clear"])
            client.send(b"STARTTLS\r\n")
            self.assertRegex(client.rest(), rb"^220 go\r\n\x15[^2]*$")


class Coroutines(TlsCase):
    def code(self, body):
        code = f"""
        use Apus\\Coroutine;
        $files = ['ssl_cert_file' => '{self.cert}', 'ssl_key_file' => '{self.key}'];
        Coroutine\\run(function () use ($files) {{ {body} }});
        """
        line = [php(), "-n", "-d", f"extension={module()}", "-d", "display_errors=1", "-r", code]
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout

    def test_a_server_of_streams(self):
        for begin in ("new Coroutine\\Server('127.0.0.1', 0, true)", "new Coroutine\\Server('127.0.0.1', 0)"):
            with self.subTest(begin=begin):
                said = self.code(f"""
                    $server = {begin};
                    $server->set($files + ['open_ssl' => true, 'open_eof_check' => true, 'package_eof' => "\\n", 'ssl_handshake_timeout' => 3]);
                    $server->handle(function ($connection) {{
                        while ($line = $connection->recv()) {{ $connection->send(strtoupper($line)); }}
                    }});
                    Apus\\go(fn () => $server->start());
                    // Silent ones, and one that speaks no TLS, keep nobody from being served.
                    $silent = stream_socket_client("tcp://127.0.0.1:$server->port");
                    $plain = stream_socket_client("tcp://127.0.0.1:$server->port");
                    fwrite($plain, "hello\\n");
                    echo 'plain: ', stripos(stream_get_contents($plain), 'hello') === false ? 'refused' : 'served', "\\n";
                    $client = new Apus\\Coroutine\\Client(Apus\\SOCK_TCP | Apus\\SSL);
                    $client->set(['ssl_cafile' => '{self.cert}']);
                    $client->connect('localhost', $server->port, 10) || print($client->errMsg);
                    $client->send("abc\\n");
                    echo $client->recv(), 'silent: ', strlen(stream_get_contents($silent)), "\\n";
                    $client->close();
                    $server->shutdown();
                """)
                self.assertEqual(said.splitlines(), ["plain: refused", "ABC", "silent: 0"])

    def test_it_says_what_it_needs(self):
        said = self.code("""
            $server = new Coroutine\\Server('127.0.0.1', 0, true);
            $server->handle(fn () => 0);
            try { $server->start(); } catch (Apus\\Server\\Exception $e) { echo $e->getMessage(); }
        """)
        self.assertRegex(said, "TLS: .* needs a certificate and its key")

    def test_a_socket_of_ones_own(self):
        said = self.code(f"""
            $listener = new Coroutine\\Socket(2, 1, 0);
            $listener->bind('127.0.0.1', 0);
            $listener->listen();
            Apus\\go(function () use ($listener, $files) {{
                $peer = $listener->accept();
                $peer->send("ready\\n");
                $peer->setProtocol($files);
                echo json_encode($peer->sslHandshake()), "\\n";
                $peer->sendAll(strtoupper($peer->recv()));
                $peer->close();
            }});
            $client = new Coroutine\\Client(Apus\\SOCK_TCP);
            $client->connect('127.0.0.1', $listener->getsockname()['port'], 10);
            echo $client->recv();
            $client->set(['ssl_cafile' => '{self.cert}', 'ssl_host_name' => 'localhost']);
            $client->enableSSL();
            $client->send('abc');
            echo $client->recv(), "\\n";
        """)
        self.assertEqual(sorted(said.splitlines()), ["ABC", "ready", "true"])


if __name__ == "__main__":
    import unittest
    unittest.main()
