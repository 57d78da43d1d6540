"""Coroutine\\Http\\Server and Coroutine\\Server in plain scripts, with real clients: curl, wrk, many sockets, clients
that leave."""

import contextlib
import hashlib
import json
import os
import pathlib
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import unittest

import support
from support import PATIENCE, until

PRELUDE = """<?php
use Apus\\Coroutine;
use Apus\\Coroutine\\{Channel, Server};
use Apus\\Coroutine\\Server\\Connection;
use Apus\\Http\\{Request, Response};
use function Apus\\{go, Coroutine\\run};
/** Tells the test a port, or whatever else it waits for. */
function told(mixed $what): void
{
    fwrite(STDOUT, json_encode($what) . "\\n");
}
function sockets(): int
{
    $links = array_map(fn(string $fd) => @readlink("/proc/self/fd/$fd"), scandir('/proc/self/fd'));
    return count(array_filter($links, fn($link) => is_string($link) && str_starts_with($link, 'socket:')));
}
"""


class Script:
    """A PHP script in a process of its own, that tells lines of JSON."""

    def __init__(self, code, wrapper=(), arguments=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-coserver-"))
        script = self.folder / "script.php"
        script.write_text(PRELUDE + code)
        self.output = open(self.folder / "output", "wb")
        line = [*wrapper, support.php(), "-n", "-d", "display_errors=stderr", "-d", f"extension={support.module()}", str(script), *arguments]
        self.process = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.output, cwd=self.folder, bufsize=0
        )
        self.pipe = self.process.stdout

    def hear(self):
        """The next thing that the script tells."""
        if not select.select([self.pipe], [], [], PATIENCE)[0]:
            raise AssertionError(f"the script tells nothing: {self.said()}")
        line = self.pipe.readline()
        if not line:
            raise AssertionError(f"the script ended: {self.said()}")
        return json.loads(line)

    def said(self):
        return (self.folder / "output").read_text(errors="replace")

    def wait(self):
        """Its exit code."""
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.pipe.close()
        self.output.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def get(port, path="/"):
    with support.Client(connect(port)) as client:
        return client.request("GET", path, close=True)


def curl(*arguments):
    line = [support.needs("curl"), "-s", "--max-time", "20", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE).stdout


class Case(unittest.TestCase):
    def script(self, code, **options):
        return self.enterContext(Script(code, **options))

    def assert_left(self, script, code=0):
        self.assertEqual(script.wait(), code, script.said())


# A server to be tested, and one beside it in the same process that opens gates and tells what is left.
HTTP = """
run(function () {
    $server = new Coroutine\\Http\\Server('127.0.0.1');
    $control = new Coroutine\\Http\\Server('127.0.0.1');
    $gate = new Channel(1000);
    $seen = 0;
    $server->handle('/', fn(Request $request, Response $response) => $response->end("hello {$request->server['request_uri']}"));
    $server->handle('/wait', function (Request $request, Response $response) use ($gate, &$seen): void {
        $seen++;
        $response->end('waited ' . $gate->pop(20));
    });
    $server->handle('/throw', fn() => throw new LogicException('thrown by a test'));
    $server->handle('/upload', function (Request $request, Response $response): void {
        $file = $request->files['file'];
        $response->end($file['name'] . ' ' . hash_file('sha256', $file['tmp_name']) . ' ' . $request->post['a']);
    });
    $control->handle('/seen', function (Request $request, Response $response) use (&$seen): void {
        $response->end(json_encode($seen));
    });
    $control->handle('/open', function (Request $request, Response $response) use ($gate): void {
        for ($i = $gate->stats()['consumer_num']; $i > 0; $i--) {
            $gate->push('open');
        }
        $response->end('"opened"');
    });
    $control->handle('/facts', fn(Request $request, Response $response) => $response->end(json_encode([
        'coroutines' => Coroutine::stats()['coroutine_num'], 'sockets' => sockets(),
    ])));
    $control->handle('/stop', fn(Request $request, Response $response) => $response->end(json_encode($server->shutdown())));
    $control->handle('/end', fn(Request $request, Response $response) => $response->end(json_encode($control->shutdown())));
    told([$server->port, $control->port]);
    $id = go(fn() => told(['start' => $server->start()]));
    $result = $control->start();
    Coroutine::join([$id]);
    told(['control' => $result, 'sockets' => sockets(), 'coroutines' => Coroutine::stats()['coroutine_num']]);
});
"""
# Running: run() itself, the coroutine of the one start(), and the handler that answers /facts. Open: two listening
# sockets with
# a copy of each, and the connection of /facts.
NOTHING_ELSE = {"coroutines": 3, "sockets": 5}


class Served(Case):
    def serve(self):
        self.served = self.script(HTTP)
        self.port, self.controls = self.served.hear()

    def control(self, path):
        return get(self.controls, path).json()

    def end(self):
        """Ends both servers; nothing is left then."""
        self.assertTrue(self.control("/stop"))
        self.assertEqual(self.served.hear(), {"start": True})
        self.assertTrue(self.control("/end"))
        self.assertEqual(self.served.hear(), {"control": True, "sockets": 0, "coroutines": 1})
        self.assert_left(self.served)


class Http(Served):
    def test_curl_keeps_its_connection_and_sends_what_it_likes(self):
        self.serve()
        url = f"http://127.0.0.1:{self.port}"
        self.assertEqual(curl(f"{url}/a", f"{url}/b?c"), "hello /ahello /b")
        self.assertIn("HTTP/1.1 500", curl("-i", f"{url}/throw"))
        self.assertEqual(curl("-I", f"{url}/x").splitlines()[0].strip(), "HTTP/1.1 200 OK")
        data = os.urandom(300_000)
        (self.served.folder / "data").write_bytes(data)
        answer = curl("-F", "a=b", "-F", f"file=@{self.served.folder / 'data'};filename=x.bin", f"{url}/upload")
        self.assertEqual(answer, f"x.bin {hashlib.sha256(data).hexdigest()} b")
        self.end()
        self.assertIn("thrown by a test", self.served.said())

    def test_clients_that_leave_and_a_shutdown_while_requests_run(self):
        self.serve()
        request = b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"
        gone = [connect(self.port) for _ in range(20)]
        for client in gone:
            client.sendall(request)
        with support.Client(connect(self.port)) as stays, support.Client(connect(self.port)) as idle:
            self.assertEqual(idle.request("GET", "/").status, 200)
            stays.send(request)
            until("all wait", lambda: self.control("/seen") == 21)
            for client in gone:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.close()
            self.assertTrue(self.control("/stop"))
            self.assertFalse(self.control("/stop"))
            with self.assertRaises(ConnectionRefusedError):
                connect(self.port)
            self.assertTrue(idle.closed())
            # Handlers of clients that have left are waited for as well.
            self.assertEqual(self.control("/facts")["coroutines"], 24)
            self.control("/open")
            answer = stays.answer()
            self.assertEqual((answer.body, answer.headers["connection"]), (b"waited open", "close"))
        self.assertEqual(self.served.hear(), {"start": True})
        self.assertTrue(self.control("/end"))
        self.assertEqual(self.served.hear(), {"control": True, "sockets": 0, "coroutines": 1})
        self.assert_left(self.served)

    def test_two_processes_share_a_port(self):
        code = """
        $port = (int) ($argv[1] ?? 0);
        run(function () use ($port) {
            $server = new Coroutine\\Http\\Server('127.0.0.1', $port, false, true);
            $server->handle('/', fn(Request $request, Response $response) => $response->end((string) getmypid()));
            $server->handle('/stop', fn(Request $request, Response $response) => $response->end(json_encode($server->shutdown())));
            told($server->port);
            $server->start();
        });
        """
        first = self.script(code)
        port = first.hear()
        second = self.script(code, arguments=[str(port)])
        self.assertEqual(second.hear(), port)
        pids = {str(script.process.pid).encode() for script in (first, second)}
        answered = set()
        until("both answer", lambda: answered.add(get(port).body) or answered == pids)
        self.assertEqual(get(port, "/stop").body, b"true")
        ended = until("one has ended", lambda: [s for s in (first, second) if s.process.poll() is not None])
        self.assertEqual(ended[0].process.returncode, 0)
        left = second if ended[0] is first else first
        self.assertEqual({get(port).body for _ in range(20)}, {str(left.process.pid).encode()})
        self.assertEqual(get(port, "/stop").body, b"true")
        self.assert_left(left)

    def test_a_process_without_descriptors_goes_on_when_there_are_some(self):
        script = self.script("""
        run(function () {
            $server = new Coroutine\\Http\\Server('127.0.0.1');
            $server->handle('/', fn(Request $request, Response $response) => $response->end('hello'));
            $server->handle('/stop', fn(Request $request, Response $response) => $response->end(json_encode($server->shutdown())));
            told($server->port);
            told($server->start());
        });
        """, wrapper=["prlimit", "--nofile=40"])
        port = script.hear()
        with contextlib.ExitStack() as stack:
            for _ in range(60):
                stack.enter_context(connect(port))
            until("it says so", lambda: "cannot accept connections: Too many open files" in script.said())
        self.assertEqual(get(port).body, b"hello")
        self.assertEqual(script.said().count("cannot accept"), 1)
        self.assertEqual(get(port, "/stop").body, b"true")
        self.assertTrue(script.hear())
        self.assert_left(script)

    def test_websocket_clients_that_vanish_end_their_handlers(self):
        script = self.script("""
        run(function () {
            $server = new Coroutine\\Http\\Server('127.0.0.1');
            $ended = 0;
            $server->handle('/', function (Request $request, Response $socket) use (&$ended): void {
                $socket->upgrade();
                while ($frame = $socket->recv()) {
                    $socket->push($frame->data);
                }
                $ended++;
            });
            $server->handle('/ended', function (Request $request, Response $response) use (&$ended): void {
                $response->end(json_encode($ended));
            });
            $server->handle('/stop', fn(Request $request, Response $response) => $response->end(json_encode($server->shutdown())));
            told($server->port);
            $result = $server->start();
            told([$result, $ended, sockets(), Coroutine::stats()['coroutine_num']]);
        });
        """)
        port = script.hear()
        handshake = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        clients = []
        for number in range(30):
            client = support.Client(connect(port))
            client.send(handshake)
            status, _, fields = client.head()
            self.assertEqual((status, fields["sec-websocket-accept"]), (101, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
            # "hi", masked with zeros.
            client.send(b"\x81\x82\0\0\0\0hi")
            self.assertEqual(client.exactly(4), b"\x81\x02hi")
            clients.append(client)
        for number, client in enumerate(clients[:20]):
            if number % 2:
                client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.sock.close()
        until("their handlers end", lambda: get(port, "/ended").json() == 20)
        self.assertEqual(get(port, "/stop").body, b"true")
        for client in clients[20:]:
            # A close frame with 1001, going away; answered, as RFC 6455 wants it.
            first, length = client.exactly(2)
            self.assertEqual((first, client.exactly(length)[:2]), (0x88, b"\x03\xe9"))
            client.send(b"\x88\x82\0\0\0\0\x03\xe9")
            self.assertTrue(client.closed())
            client.sock.close()
        self.assertEqual(script.hear(), [True, 30, 0, 1])
        self.assert_left(script)

    def test_beside_the_requests_of_a_worker(self):
        before = """
$server->on('workerstart', function () use ($folder): void {
    Apus\\go(function () use ($folder): void {
        $admin = new Coroutine\\Http\\Server("unix:$folder/admin");
        $admin->handle('/', function (Request $request, Response $response): void {
            $fd = $response->fd;
            $response->detach();
            Apus\\go(fn() => Response::create($fd)->end(json_encode([$fd, getmypid()])));
        });
        $admin->start();
    });
});
"""
        with support.Server("$response->end(json_encode([$response->fd, getmypid()]));", before=before) as server:
            admin = str(server.folder / "admin")
            until("it listens", lambda: os.path.exists(admin))
            ask = lambda: json.loads(curl("--unix-socket", admin, "http://a/"))
            fd, pid = ask()
            own, worker = server.get().json()
            self.assertEqual(pid, worker)
            self.assertNotEqual(ask()[0], fd)
            # The sessions of the two servers are told apart.
            self.assertTrue(own < 2**52 < fd < 2**53, (own, fd))
            self.assertEqual(server.stop(), 0)
            self.assertNotIn("error", server.log())


STREAM = """
run(function () {
    $server = new Server('127.0.0.1');
    $server->set(json_decode($GLOBALS['argv'][1] ?? '{}', true));
    $open = 0;
    $server->handle(function (Connection $connection) use ($server, &$open): void {
        $open++;
        while (is_string($data = $connection->recv()) && $data !== '') {
            if ($data === 'throw') {
                $open--;
                throw new LogicException('thrown by a test');
            }
            $connection->send(match ($data) {
                'facts' => json_encode(['open' => $open, 'coroutines' => Coroutine::stats()['coroutine_num'], 'sockets' => sockets()]),
                'stop' => json_encode($server->shutdown()),
                default => strtoupper($data),
            });
        }
        $open--;
    });
    told($server->port);
    $result = $server->start();
    while (Coroutine::stats()['coroutine_num'] > 1) {
        Coroutine::sleep(0.002);
    }
    told(['start' => $result, 'open' => $open, 'sockets' => sockets()]);
});
"""


def say(port, data):
    with connect(port) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


class Stream(Case):
    def end(self, script, port):
        self.assertEqual(say(port, b"stop"), b"true")
        self.assertEqual(script.hear(), {"start": True, "open": 0, "sockets": 0})
        self.assert_left(script)

    def test_clients_that_leave_in_every_way_and_handlers_that_fail(self):
        script = self.script(STREAM)
        port = script.hear()
        for number in range(60):
            client = connect(port)
            if number % 3 == 1:
                client.sendall(b"x" * 100_000)
            if number % 3 == 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        self.assertEqual(say(port, b"throw"), b"")
        self.assertEqual(say(port, b"goes on"), b"GOES ON")
        until("all is closed", lambda: json.loads(say(port, b"facts")) == {"open": 1, "coroutines": 2, "sockets": 3})
        self.end(script, port)
        self.assertIn("thrown by a test", script.said())

    def test_frames_that_come_in_pieces_and_frames_that_are_wrong(self):
        script = self.script(STREAM, arguments=[json.dumps({"open_eof_check": True, "package_eof": "\n", "package_max_length": 1000})])
        port = script.hear()
        with connect(port) as client:
            for byte in b"in pieces\nand":
                client.sendall(bytes([byte]))
            self.assertEqual(client.recv(100), b"IN PIECES\n")
            client.sendall(b" more\nlast\n")
            answer = b""
            while len(answer) < 14:
                answer += client.recv(100)
            self.assertEqual(answer, b"AND MORE\nLAST\n")
            client.sendall(b"y" * 1001)
            self.assertEqual(client.recv(100), b"")
        script.process.terminate()

    def test_a_process_without_descriptors_goes_on_when_there_are_some(self):
        script = self.script(STREAM, wrapper=["prlimit", "--nofile=40"])
        port = script.hear()
        with contextlib.ExitStack() as stack:
            for _ in range(60):
                stack.enter_context(connect(port))
            until("it says so", lambda: "cannot accept connections: Too many open files" in script.said())
        self.assertEqual(say(port, b"goes on"), b"GOES ON")
        self.assertEqual(script.said().count("cannot accept"), 1)
        self.end(script, port)

    def test_more_connections_than_allowed_wait(self):
        script = self.script(STREAM, arguments=[json.dumps({"max_connection": 3})])
        port = script.hear()
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(connect(port)) for _ in range(5)]
            for client in clients:
                client.sendall(b"hi")
            for client in clients[:3]:
                self.assertEqual(client.recv(10), b"HI")
            self.assertEqual(select.select(clients[3:], [], [], 0.3)[0], [])
            clients[0].close()
            self.assertEqual(len(select.select(clients[3:], [], [], PATIENCE)[0]), 1)
        self.end(script, port)
        self.assertIn("3 connections are open, which is max_connection", script.said())

    def test_the_example_talks_over_everything_and_ends_at_sigterm(self):
        example = support.ROOT / "examples" / "coroutine-server" / "server.php"
        script = self.script(f"ob_implicit_flush(); $argv = ['server.php', '0']; require {json.dumps(str(example))};")
        self.assertTrue(select.select([script.pipe], [], [], PATIENCE)[0], script.said())
        web, lines = (int(part.rsplit(":", 1)[1]) for part in script.pipe.readline().decode().split(","))
        with support.Client(connect(lines)) as one, support.Client(connect(lines)) as two:
            self.assertEqual(one.exactly(13), b"guest1: came\n")
            self.assertEqual(two.exactly(13), b"guest2: came\n")
            self.assertEqual(one.exactly(13), b"guest2: came\n")
            two.send(b"hello\n")
            self.assertEqual(one.exactly(14), b"guest2: hello\n")
            self.assertEqual(get(web).json(), ["guest1", "guest2"])
            self.assertEqual(curl("-d", "to all", f"http://127.0.0.1:{web}/"), '["guest1","guest2"]\n')
            self.assertEqual(one.exactly(17), b"somebody: to all\n")
            script.process.terminate()
            self.assert_left(script)


class Many(Served):
    """A thousand sockets in the process of the tests are more than the select() of others can bear."""

    alone = True

    def test_a_load_is_answered_whole(self):
        self.serve()
        load = support.Wrk(f"http://127.0.0.1:{self.port}/", connections=50, seconds=1)
        requests, errors, failed, text = load.result(stop=False)
        self.assertGreater(requests, 100, text)
        self.assertEqual((errors, failed), ({}, 0), text)
        until("the connections close", lambda: self.control("/facts") == NOTHING_ELSE)
        self.end()

    def test_a_thousand_wait_at_once_and_others_go_on(self):
        self.serve()
        with contextlib.ExitStack() as stack:
            waiting = [stack.enter_context(support.Client(connect(self.port))) for _ in range(1000)]
            for client in waiting:
                client.send(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            until("all wait", lambda: self.control("/seen") == 1000)
            self.assertEqual(self.control("/facts"), {"coroutines": 1003, "sockets": 1005})
            self.assertEqual(get(self.port, "/other").body, b"hello /other")
            self.control("/open")
            for client in waiting:
                self.assertEqual(client.answer().body, b"waited open")
        until("all is closed", lambda: self.control("/facts") == NOTHING_ELSE)
        self.end()

    def test_a_thousand_connections_at_once(self):
        script = self.script(STREAM)
        port = script.hear()
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(connect(port)) for _ in range(1000)]
            for number, client in enumerate(clients):
                client.sendall(b"number %d" % number)
            for number, client in enumerate(clients):
                self.assertEqual(client.recv(100), b"NUMBER %d" % number)
            # run() with start(), and a coroutine for each; two listening descriptors.
            self.assertEqual(json.loads(say(port, b"facts")), {"open": 1001, "coroutines": 1002, "sockets": 1003})
        until("all is closed", lambda: json.loads(say(port, b"facts")) == {"open": 1, "coroutines": 2, "sockets": 3})
        self.assertEqual(say(port, b"stop"), b"true")
        self.assertEqual(script.hear(), {"start": True, "open": 0, "sockets": 0})
        self.assert_left(script)


if __name__ == "__main__":
    unittest.main()
