"""Datagram ports: UDP and Unix datagrams."""

import json
import signal
import socket
import subprocess
import unittest

from streams import RawCase
from support import PATIENCE, needs, until

ECHO = """
$server->on('packet', function (Server $server, string $data, array $client) {
    $server->sendto($client['address'], $client['port'], $data, $client['server_socket']);
});
"""
UDP = "'127.0.0.1', 0, 1, Apus\\SOCK_UDP"


class Udp(RawCase):
    def test_echo_of_every_size(self):
        server = self.raw(ECHO, construct=UDP)
        with server.udp() as sock:
            for size in (0, 1, 1400, 9000, 65507):
                data = bytes(range(256)) * 256
                sock.send(data[:size])
                self.assertEqual(sock.recv(70000), data[:size])
        self.assertEqual(server.stop(), 0)

    def test_what_the_program_knows_of_a_sender(self):
        server = self.raw("""
            $second = $server->listen('127.0.0.1', 0, Apus\\SOCK_UDP);
            $server->on('packet', function ($server, $data, $client) {
                $client['cid'] = Coroutine::getCid() > 0;
                $server->sendto($client['address'], $client['port'], json_encode($client));
            });
        """, construct=UDP)
        for place in (0, 1):
            with server.udp(place) as sock:
                ip, port = sock.getsockname()
                sock.send(b"x")
                # Without $serverSocket the first port answers.
                wanted = {"address": ip, "port": port, "server_socket": place, "server_port": server.port_of(place), "cid": True}
                if place == 0:
                    self.assertEqual(json.loads(sock.recv(1000)), wanted)

    def test_a_port_sends_for_another(self):
        server = self.raw("""
            $server->listen('127.0.0.1', 0, Apus\\SOCK_UDP);
            $server->on('packet', function ($server, $data, $client) { $server->sendto($client['address'], $client['port'], 'x', (int) $data); });
        """, construct=UDP)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(PATIENCE)
            sock.bind(("127.0.0.1", 0))
            for place in (1, 0):
                sock.sendto(str(place).encode(), ("127.0.0.1", server.port_of(0)))
                self.assertEqual(sock.recvfrom(10), (b"x", ("127.0.0.1", server.port_of(place))))

    def test_a_flood_stops_nothing(self):
        server = self.raw(ECHO, {"worker_num": 2}, construct=UDP)
        with server.udp() as flood, server.udp() as sock:
            flood.setblocking(False)
            for number in range(20_000):
                try:
                    flood.send(b"x" * 100)
                except BlockingIOError:
                    pass
            # Datagrams may be lost while the flood goes on.
            sock.settimeout(0.2)

            def answered():
                sock.send(b"still there")
                try:
                    return sock.recv(100) == b"still there"
                except TimeoutError:
                    return False
            until("an answer", answered)

    def test_handlers_at_once_are_bounded(self):
        server = self.raw("""
            $server->on('packet', function ($server, $data, $client) {
                note("begin $data");
                while (!file_exists(__DIR__ . '/go')) { Coroutine::sleep(0.01); }
                $server->sendto($client['address'], $client['port'], $data);
            });
        """, {"max_concurrency": 3}, construct=UDP)
        with server.udp() as sock:
            for number in range(10):
                sock.send(str(number).encode())
            until("the bound is told", lambda: "a datagram port drops what it receives: 3 handlers" in server.log())
            (server.folder / "go").touch()
            self.assertEqual(sorted(sock.recv(10) for _ in range(3)), [b"0", b"1", b"2"])
            self.assertEqual(len(server.notes()), 3)
            # What came meanwhile is lost; the port goes on.
            def answered():
                sock.send(b"next")
                sock.settimeout(0.2)
                try:
                    return sock.recv(10) == b"next"
                except TimeoutError:
                    return False
            until("an answer", answered)

    def test_without_a_coroutine_datagrams_are_dropped_quietly(self):
        server = self.raw("""
            $server->on('packet', function ($server, $data, $client) {
                note("begin $data");
                while (!file_exists(__DIR__ . '/go')) { Coroutine::sleep(0.01); }
            });
        """, {"max_coroutine": 2}, construct=UDP)
        with server.udp() as sock:
            for number in range(50):
                sock.send(str(number).encode())
            until("it is told", lambda: "a datagram port drops what it receives: 2 handlers" in server.log())
            (server.folder / "go").touch()

            def again():
                sock.send(b"again")
                return "begin again" in server.notes()
            until("it goes on", again)
        self.assertEqual(server.notes()[:2], ["begin 0", "begin 1"])
        self.assertEqual(server.log().count("drops what it receives"), 1)
        self.assertNotIn("which is the limit", server.log())

    def test_a_socket_of_systemd(self):
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as passed,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
        ):
            passed.bind(("127.0.0.1", 0))
            port = passed.getsockname()[1]
            # As systemd does it: descriptor 3, and the variables of the process that becomes the server.
            wrapper = ["/bin/bash", "-c", f'exec 3<&{passed.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@"', "activate"]
            self.raw(ECHO, construct=f"'127.0.0.1', {port}, 1, Apus\\SOCK_UDP", wrapper=wrapper, pass_fds=(passed.fileno(),))
            sock.settimeout(PATIENCE)
            sock.sendto(b"passed", ("127.0.0.1", port))
            self.assertEqual(sock.recv(100), b"passed")

    def test_the_kernels_memory(self):
        line = [needs("ss"), "-uanmH"]
        server = self.raw(ECHO, {"kernel_socket_recv_buffer_size": "64K", "kernel_socket_send_buffer_size": "32K"}, construct=UDP)
        shown = subprocess.run([*line, "sport", "=", f":{server.port_of(0)}"], capture_output=True, text=True, check=True).stdout
        # The kernel doubles it, for its own book-keeping.
        self.assertIn("rb131072", shown)
        self.assertIn("tb65536", shown)

    def test_what_cannot_be_sent(self):
        server = self.raw("""
            $server->on('packet', function ($server, $data, $client) {
                $answers = [];
                foreach ([['nobody.invalid', 1, 'x'], ['127.0.0.1', 70000, 'x'], ['127.0.0.1', $client['port'], str_repeat('x', 65508)], ['::1', 1, 'x'], ['/no/such', 0, 'x'],
                    ['127.0.0.1', $client['port'], 'x', 7]] as $arguments) {
                    try { $answers[] = $server->sendto(...$arguments) ?: $server->getLastError(); } catch (Throwable $e) { $answers[] = get_class($e) . ': ' . $e->getMessage(); }
                }
                $server->sendto($client['address'], $client['port'], json_encode($answers));
            });
        """, construct=UDP)
        with server.udp() as sock:
            sock.send(b"x")
            name, port, long, family, path, place = json.loads(sock.recv(9000))
        self.assertIn("ValueError: Argument #1 ($ip) must be an IP address or the path of a Unix socket, \"nobody.invalid\" given", name)
        self.assertIn("must be from 0 to 65535", port)
        self.assertEqual(long, 90)
        for text in (family, path, place):
            self.assertIn("needs a datagram port of the receiver's family", text)

    def test_ipv6(self):
        server = self.raw(ECHO, construct="'::1', 0, 1, Apus\\SOCK_UDP6")
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(("::1", server.port_of(0)))
            sock.send(b"six")
            self.assertEqual(sock.recv(100), b"six")

    def test_without_coroutines(self):
        server = self.raw(ECHO, {"enable_coroutine": False}, construct=UDP)
        with server.udp() as sock:
            sock.send(b"plain")
            self.assertEqual(sock.recv(100), b"plain")

    def test_a_reload_loses_no_datagram(self):
        server = self.raw("""
            $server->on('packet', function ($server, $data, $client) { $server->sendto($client['address'], $client['port'], getmypid() . " $data"); });
        """, construct=UDP)
        old = server.workers()[0]
        with server.udp() as sock:
            server.kill(signal.SIGUSR1)
            seen, number = set(), 0

            def renewed():
                nonlocal number
                number += 1
                sock.send(str(number).encode())
                pid, answer = sock.recv(100).split()
                self.assertEqual(int(answer), number)
                seen.add(int(pid))
                return old not in server.workers() and int(pid) != old
            until("only the new worker answers", renewed)


class Unix(RawCase):
    def test_datagrams_between_paths(self):
        server = self.raw(ECHO, construct="$folder . '/server', 0, 1, Apus\\SOCK_UNIX_DGRAM")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.settimeout(PATIENCE)
            sock.bind(str(server.folder / "client"))
            sock.connect(str(server.folder / "server"))
            for data in (b"x", b"y" * 100_000):
                sock.send(data)
                self.assertEqual(sock.recv(200_000), data)
        self.assertEqual(server.stop(), 0)
        self.assertFalse((server.folder / "server").exists())

    def test_a_sender_without_a_path_and_send_to_a_path(self):
        server = self.raw("""
            $server->on('packet', function ($server, $data, $client) {
                note(json_encode([$client['address'], $client['port']]));
                note(json_encode([$server->send(__DIR__ . '/other', "for you: $data"), $server->send(__DIR__ . '/none', 'x'), $server->getLastError()]));
            });
        """, construct="$folder . '/server', 0, 1, Apus\\SOCK_UNIX_DGRAM")
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other,
        ):
            other.settimeout(PATIENCE)
            other.bind(str(server.folder / "other"))
            sock.sendto(b"hello", str(server.folder / "server"))
            self.assertEqual(other.recv(100), b"for you: hello")
        server.noted("[true,false,2]")
        self.assertEqual(server.notes(), ['["",0]', "[true,false,2]"])


if __name__ == "__main__":
    unittest.main()
