"""Apus\\Server over TCP and Unix sockets: events, reading, heartbeat, several ports, peers, examples."""

import json
import socket
import subprocess
import time
import unittest

from streams import EVAL, LINES, EvalCase, RawCase, unread
from support import PATIENCE, ROOT, Case, Client, module, needs, php, until


class Events(EvalCase):
    def test_a_connection_from_its_beginning_to_its_end(self):
        server = self.raw("""
            $server->on('connect', function (Server $server, int $fd, int $workerId) { note("connect $fd $workerId"); $server->send($fd, "hello\\n"); });
            $server->on('receive', function (Server $server, int $fd, int $workerId, string $data) { note("receive $fd $workerId $data"); });
            $server->on('close', function (Server $server, int $fd, int $workerId) { note("close $fd $workerId " . json_encode($server->exist($fd))); });
        """, LINES)
        with server.connect() as client:
            self.assertEqual(client.exactly(6), b"hello\n")
            client.send(b"a\nb\n")
            server.noted("receive 4096 0 b")
        server.noted("close 4096 0 false")
        self.assertEqual(server.notes(), ["connect 4096 0", "receive 4096 0 a", "receive 4096 0 b", "close 4096 0 false"])
        self.assertEqual(server.stop(), 0)

    def test_what_is_sent_before_the_end_is_received_and_answered(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) { Coroutine::sleep(0.05); $server->send($fd, strrev($data) . "\\n"); });
        """, LINES)
        client = self.client(server)
        client.send(b"abc\n")
        client.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(client.rest(), b"cba\n")
        notes = self.raw("$server->on('receive', function ($server, $fd, $workerId, $data) { note($data); });", LINES)
        client = notes.connect()
        client.send(b"last words\n")
        client.sock.close()
        notes.noted("last words")

    def test_what_the_server_knows_of_a_client(self):
        server = self.raw(EVAL, LINES)
        client = self.client(server)
        info = self.ask(client, "return $server->getClientInfo($fd);")
        ip, port = client.sock.getsockname()
        self.assertEqual((info["remote_ip"], info["remote_port"], info["server_port"], info["socket_type"]), (ip, port, server.port_of(0), 1))
        self.assertEqual(info["send_queued_bytes"], 0)
        self.assertNotIn("websocket_status", info)
        fd = self.ask(client, "return $fd;")
        self.assertEqual(self.ask(client, "return iterator_to_array($server->connections);"), [fd])
        self.assertEqual(self.ask(client, "return [$server->exist($fd), $server->exist($fd + 1), $server->getClientInfo($fd + 1)];"), [True, False, False])

    def test_messages_of_one_connection_wait_for_each_other_where_asked_to(self):
        handler = """
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                if ($data === 'slow') { Coroutine::sleep(0.1); }
                $server->send($fd, "$data\\n");
            });
        """
        for concurrency, wanted in ((1, b"slow\nquick\n"), (2, b"quick\nslow\n")):
            server = self.raw(handler, {**LINES, "connection_concurrency": concurrency})
            client = self.client(server)
            client.send(b"slow\nquick\n")
            self.assertEqual(client.exactly(11), wanted)

    def test_without_coroutines(self):
        server = self.raw(EVAL, {**LINES, "enable_coroutine": False})
        client = self.client(server)
        self.assertEqual(self.ask(client, "return Apus\\Coroutine::getCid();"), -1)
        client.send(b'return $server->send($fd, "x\\n");\n')
        self.assertEqual(client.exactly(7), b"x\ntrue\n")

    def test_an_exception_ends_its_event_only_and_a_fatal_error_its_worker(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                if ($data === 'throw') { throw new Exception('thrown'); }
                if ($data === 'fatal') { nothing_of_that_name(); }
                if ($data === 'exit') { exit(3); }
                $server->send($fd, getmypid() . "\\n");
            });
        """, LINES)
        client = self.client(server)
        for word in (b"throw", b"fatal", b"exit"):
            client.send(word + b"\n")
        client.send(b"pid\n")
        self.assertEqual(int(client.exactly(len(str(server.workers()[0])) + 1)), server.workers()[0])
        self.assertIn("thrown", server.log())
        self.assertIn("nothing_of_that_name", server.log())


    def test_a_message_that_finds_no_coroutine_ends_its_connection(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                note("begin $data");
                while (!file_exists(__DIR__ . '/go')) { Coroutine::sleep(0.01); }
                $server->send($fd, "$data\\n");
            });
        """, {**LINES, "max_coroutine": 3})
        client, other = self.client(server), self.client(server)
        client.send(b"1\n2\n")
        server.noted("begin 2")
        other.send(b"3\n4\n")
        # Its third coroutine is the last one; the message after it is not dropped silently.
        until("it is closed", lambda: "3 coroutines exist, which is the limit" in server.log())
        (server.folder / "go").touch()
        self.assertEqual(sorted(client.exactly(4).split()), [b"1", b"2"])
        other.rest()
        with server.connect() as client:
            client.send(b"5\n")
            self.assertEqual(client.exactly(2), b"5\n")


class Peers(RawCase):
    def test_a_redis_client(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                static $values = [];
                $parts = preg_split('/\\r\\n/', $data);
                [$command, $key, $value] = [strtoupper($parts[2]), $parts[4] ?? '', $parts[6] ?? ''];
                $server->send($fd, match ($command) {
                    'SET' => ($values[$key] = $value) === null ?: "+OK\\r\\n",
                    'GET' => '$' . strlen($values[$key]) . "\\r\\n{$values[$key]}\\r\\n",
                    default => "-ERR unknown\\r\\n",
                });
            });
        """, {"open_redis_protocol": True})
        line = [needs("redis-cli"), "-p", str(server.port_of(0))]
        said = subprocess.run(line, input="SET name swift\nGET name\nNOTHING\n", capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        self.assertEqual(said.split("\n")[:3], ["OK", "swift", "ERR unknown"])


class Reading(EvalCase):
    def test_pause_and_resume(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                static $paused;
                if ($data === 'pause') { note(json_encode($server->pause($paused = $fd))); }
                elseif ($data === 'resume') { $server->send($fd, json_encode([$server->resume($paused), $server->resume(99)]) . "\\n"); }
                else { note("got $data"); }
            });
        """, LINES)
        client, other = self.client(server), self.client(server)
        client.send(b"pause\n")
        server.noted("true")
        client.send(b"held back\n")
        until("the data is there", lambda: unread(client.sock) == 10)
        other.send(b"next\n")
        server.noted("got next")
        self.assertEqual((unread(client.sock), server.notes()), (10, ["true", "got next"]))
        other.send(b"resume\n")
        self.assertEqual(other.exactly(13), b"[true,false]\n")
        server.noted("got held back")

    def test_nothing_is_read_before_it_is_confirmed(self):
        server = self.raw("""
            $server->on('connect', function ($server, $fd) { note("connect $fd"); });
            $server->on('receive', function ($server, $fd, $workerId, $data) { note($data); });
            $port = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $port->set(['enable_delay_receive' => false]);
            $port->on('connect', function () {});
            $port->on('receive', function ($server, $fd, $workerId, $data) { note(json_encode($server->confirm((int) $data))); });
        """, {**LINES, "enable_delay_receive": True})
        client, other = self.client(server), self.client(server, 1)
        client.send(b"early\n")
        server.noted("connect 4096")
        other.send(b"4095\n")
        server.noted("false")
        self.assertEqual((unread(client.sock), server.notes()), (6, ["connect 4096", "false"]))
        other.send(b"4096\n")
        server.noted("early")

    def test_silent_connections_are_closed_and_protected_ones_are_not(self):
        server = self.raw("""
            $server->on('connect', function ($server, $fd) { note("connect $fd"); });
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                if ($data === 'protect') { note(json_encode($server->protect($fd))); }
                if ($data === 'unprotect') { note('un' . json_encode($server->protect($fd, false))); }
            });
            $server->on('close', function ($server, $fd) { note("close $fd"); });
        """, {**LINES, "heartbeat_idle_time": 0.4})
        silent, busy, protected = (self.client(server) for _ in range(3))
        protected.send(b"protect\n")
        server.noted("true")
        end = time.monotonic() + PATIENCE
        while not any(note.startswith("close") for note in server.notes()):
            self.assertLess(time.monotonic(), end)
            busy.send(b"beat\n")
            time.sleep(0.02)
        self.assertEqual(silent.rest(), b"")
        self.assertEqual([note for note in server.notes() if note.startswith("close")], ["close 4096"])
        protected.send(b"unprotect\n")
        server.noted("untrue")
        self.assertEqual(protected.rest(), b"")

    def test_twice_the_check_interval_is_the_idle_time(self):
        server = self.raw("$server->on('receive', fn () => null);", {**LINES, "heartbeat_check_interval": 0.2})
        self.assertEqual(self.client(server).rest(), b"")

    def test_the_heartbeat_can_be_asked(self):
        server = self.raw(EVAL, {**LINES, "heartbeat_idle_time": 3600})
        client = self.client(server)
        self.assertEqual(self.ask(client, "return $server->heartbeat();"), [])
        self.assertEqual(self.ask(self.client(self.raw(EVAL, LINES)), "return $server->heartbeat();"), False)
        server = self.raw(EVAL, {**LINES, "heartbeat_idle_time": 1})
        client, silent = self.client(server), self.client(server)
        fd = self.ask(silent, "return $fd;")
        found = until("a silent one is found", lambda: self.ask(client, "return $server->heartbeat(false);") or silent_is_gone(silent))
        self.assertIn(found, ([fd], True))

    def test_keepalive_of_the_kernel(self):
        needs("ss")
        server = self.raw(EVAL, {**LINES, "open_tcp_keepalive": True, "tcp_keepidle": 77})
        client = self.client(server)
        self.ask(client, "return 1;")
        shown = subprocess.run(
            [
                "ss",
                "-tnoH",
                "sport",
                "=",
                f":{server.port_of(0)}",
                "and",
                "dport",
                "=",
                f":{client.sock.getsockname()[1]}",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        self.assertRegex(shown, r"timer:\(keepalive,(1min(1\d|\d)|[67]\d)")


def silent_is_gone(client):
    client.sock.setblocking(False)
    try:
        return client.sock.recv(1) == b""
    except BlockingIOError:
        return False
    finally:
        client.sock.settimeout(PATIENCE)


class Ports(EvalCase):
    def test_protocols_side_by_side(self):
        server = self.raw("""
            $server->on('request', function ($request, $response) { $response->end("http {$request->server['server_port']}"); });
            $server->on('close', function ($server, $fd) { note("close $fd"); });
            $tcp = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $tcp->set(['open_http_protocol' => false]);
            $tcp->on('receive', function ($server, $fd, $workerId, $data) { $server->send($fd, "raw $data"); });
            $lines = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $lines->set(['open_line_protocol' => true]);
            $lines->on('receive', function ($server, $fd, $workerId, $data) { $server->send($fd, "line $data"); });
            $udp = $server->listen('127.0.0.1', 0, Apus\\SOCK_UDP);
            $udp->on('packet', function ($server, $data, $client) { $server->sendto($client['address'], $client['port'], "udp $data"); });
            $more = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $own = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $own->on('receive', function ($server, $fd, $workerId, $data) { $server->send($fd, "own $data"); });
            $own->on('close', function ($server, $fd) { note('own close'); });
        """, kind="Apus\\Http\\Server")
        for place in (0, 4):
            client = self.client(server, place)
            self.assertEqual(client.request("GET", "/").body, f"http {server.port_of(place)}".encode())
        for place, data, wanted in ((1, b"a\nb", b"raw a\nb"), (2, b"a\n", b"line a"), (5, b"x", b"own x")):
            with server.connect(place) as client:
                client.send(data)
                self.assertEqual(client.exactly(len(wanted)), wanted)
        server.noted("own close")
        with server.udp(3) as sock:
            sock.send(b"hello")
            self.assertEqual(sock.recv(100), b"udp hello")

    def test_http_on_a_port_of_a_plain_server(self):
        server = self.raw("""
            $port = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $port->set(['open_http_protocol' => true]);
            $port->on('request', function ($request, $response) { $response->end('http'); });
        """ + EVAL, LINES)
        self.assertEqual(self.client(server, 1).request("GET", "/").body, b"http")
        client = self.client(server)
        self.assertEqual(self.ask(client, "return count($server->ports);"), 2)
        # send() is for streams.
        http = self.client(server, 1)
        http.send(b"GET / HTTP/1.1\r\n")
        fds = until("the other connection", lambda: [fd for fd in self.ask(client, "return iterator_to_array($server->connections);") if fd != self.ask(client, "return $fd;")])
        self.assertEqual(self.ask(client, f"return [$server->send({fds[-1]}, 'x'), $server->getLastError()];"), [False, 1006])

    def test_unix_sockets(self):
        server = self.raw(EVAL, LINES, construct="$folder . '/socket', 0, 1, Apus\\SOCK_UNIX_STREAM")
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(PATIENCE)
        sock.connect(str(server.folder / "socket"))
        client = self.enterContext(Client(sock))
        info = self.ask(client, "return $server->getClientInfo($fd);")
        self.assertEqual((info["socket_type"], info["remote_ip"], info["remote_port"]), (5, "", 0))
        self.assertEqual(self.ask(client, "return $server->host;"), str(server.folder / "socket"))
        client.sock.close()
        self.assertEqual(server.stop(), 0)
        self.assertFalse((server.folder / "socket").exists())

    def test_ipv6(self):
        server = self.raw(EVAL, LINES, construct="'::1', 0, 1, Apus\\SOCK_TCP6")
        sock = socket.create_connection(("::1", server.port_of(0)), timeout=PATIENCE)
        client = self.enterContext(Client(sock))
        info = self.ask(client, "return $server->getClientInfo($fd);")
        self.assertEqual((info["socket_type"], info["remote_ip"]), (3, "::1"))


class Examples(Case):
    def example(self, name, *args):
        script = ROOT / "examples" / name / "server.php"
        return self.serve(script=f"<?php $argv = ['server.php', {', '.join(args)}]; require {json.dumps(str(script))};")

    def test_echo(self):
        server = self.example("tcp-echo", "0", "0")
        with server.connect() as client:
            client.send(b"line\r\n")
            self.assertEqual(client.exactly(11), b"hello\nline\n")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(PATIENCE)
            sock.connect(("127.0.0.1", int(server.ready["listen"][1].rsplit(":", 1)[1])))
            sock.send(b"packet")
            self.assertEqual(sock.recv(100), b"packet")

    def test_json_with_its_client(self):
        server = self.example("tcp-json", "0")
        client = [php(), "-n", "-d", f"extension={module()}", str(ROOT / "examples" / "tcp-json" / "client.php"), str(server.port)]
        said = subprocess.run(client, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        answers = [json.loads(line) for line in said.splitlines()]
        self.assertEqual(answers, [{"id": 1, "result": 6}, {"id": 2, "error": 'there is no call "nothing"'}, {"id": 0, "result": 0.2}])


if __name__ == "__main__":
    unittest.main()
