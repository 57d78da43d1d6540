"""What a server writes: its log and what its handlers print; readers that are gone, readers that stall, peers that make
it write."""

import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile

from support import PATIENCE, Case, Client, module, php, until

ECHO = """<?php
use Apus\\Http\\{Request, Response, Server};
$server = new Server('127.0.0.1', 0);
$server->set(json_decode($argv[1], true));
$server->on('request', function (Request $request, Response $response) use ($server) {
    match ($request->server['path_info']) {
        '/echo' => print("debug output\\n"),
        '/much' => print(str_repeat("more output\\n", 30_000)),
        '/warn' => print($undefined),
        '/log' => error_log(str_repeat('to the log ', 1000)),
        default => null,
    };
    $response->end((string) getmypid());
});
$server->start();
"""

SCRIPT = """<?php
use Apus\\Coroutine;
Coroutine\\run(function () {
    $server = new Coroutine\\Http\\Server('127.0.0.1', 0);
    $server->handle('/', function ($request, $response) use ($server) {
        echo "debug output\\n";
        print $undefined;
        $response->end((string) getmypid());
        $request->server['path_info'] === '/end' && $server->shutdown();
    });
    $ready = fopen('php://fd/' . getenv('APUS_READY_FD'), 'w');
    fwrite($ready, json_encode(['listen' => ["127.0.0.1:$server->port"]]) . "\\n");
    fclose($ready);
    $server->start();
});
"""

STREAMS = """<?php
$server = new Apus\\Server('127.0.0.1', 0);
$server->set(['worker_num' => 2, 'open_length_check' => true, 'package_max_length' => 1024, 'blocked_loop_warn' => 0]);
$server->on('receive', fn ($server, $fd, $reactor, $data) => $server->send($fd, $data));
$server->start();
"""


class Process:
    """A server whose standard output and error are what a test says."""

    def __init__(self, script, *args, stdout, stderr, ini=()):
        self.folder = tempfile.TemporaryDirectory(prefix="apus-e2e-")
        path = pathlib.Path(self.folder.name) / "server.php"
        path.write_text(script)
        reader, writer = os.pipe()
        line = [php(), "-n", "-d", f"extension={module()}", *(word for setting in ini for word in ("-d", setting)), str(path), *args]
        self.process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(writer,),
            env={**os.environ, "APUS_READY_FD": str(writer)},
            start_new_session=True,
        )
        os.close(writer)
        with open(reader, "rb") as ready:
            assert select.select([ready], [], [], PATIENCE)[0], "not ready"
            self.port = int(json.loads(ready.readline())["listen"][0].rsplit(":", 1)[1])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def get(self, path):
        with Client(self.connect()) as client:
            return client.request("GET", path, close=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.folder.cleanup()


class Output(Case):
    def start(self, script, *args, **options):
        return self.enterContext(Process(script, *args, **options))

    def pipe(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        return reader, writer

    def check_serves(self, server, paths=("/echo", "/warn", "/much", "/log", "/")):
        pids = set()
        for path in paths * 2:
            answer = server.get(path)
            self.assertEqual(answer.status, 200, path)
            pids.add(answer.body)
        self.assertEqual(len(pids), 1, "the worker was replaced")

    def test_a_reader_that_is_gone_ends_no_request(self):
        for ini in ("display_errors=1", "display_errors=stderr"):
            with self.subTest(ini):
                reader, writer = os.pipe()
                server = self.start(ECHO, '{"worker_num": 1}', stdout=writer, stderr=writer, ini=(ini,))
                os.close(reader)
                os.close(writer)
                self.check_serves(server)
                self.assertEqual(server.stop(), 0)

    def test_a_reader_that_is_gone_ends_no_script_that_serves(self):
        reader, writer = os.pipe()
        server = self.start(SCRIPT, stdout=writer, stderr=subprocess.DEVNULL, ini=("display_errors=1",))
        os.close(reader)
        os.close(writer)
        bodies = {server.get(path).body for path in ("/", "/", "/end")}
        self.assertEqual(bodies, {str(server.process.pid).encode()})
        self.assertEqual(server.process.wait(PATIENCE), 0)

    def test_closed_standard_descriptors_are_no_connections(self):
        # The shell closes them: Popen itself would give pipes.
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "server.php"
            script.write_text(ECHO)
            reader, writer = os.pipe()
            line = f"exec {php()} -n -d extension={module()} -d display_errors=1 {script} '{{\"worker_num\":1,\"log_file\":\"{folder}/log\"}}' <&- >&- 2>&-"
            process = subprocess.Popen(
                ["sh", "-c", line],
                pass_fds=(writer,),
                env={**os.environ, "APUS_READY_FD": str(writer)},
                start_new_session=True,
            )
            try:
                os.close(writer)
                with open(reader, "rb") as ready:
                    self.assertTrue(select.select([ready], [], [], PATIENCE)[0])
                    port = int(json.loads(ready.readline())["listen"][0].rsplit(":", 1)[1])
                for path in ("/echo", "/warn", "/log", "/echo"):
                    with Client(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)) as client:
                        answer = client.request("GET", path, close=True)
                    self.assertEqual(answer.status, 200)
                    self.assertTrue(answer.body.isdigit(), answer.body)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(PATIENCE), 0)
                # Of output that was lost; that a handler prints is said, too.
                self.assertNotRegex((pathlib.Path(folder) / "log").read_text(), "output(?!, not to the client)")
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def test_output_waits_for_no_reader_and_arrives(self):
        reader, writer = self.pipe()
        server = self.start(ECHO, '{"worker_num": 1}', stdout=writer, stderr=subprocess.DEVNULL)
        self.check_serves(server, ("/much", "/echo"))
        got, whole = b"", (b"more output\n" * 30_000 + b"debug output\n") * 2
        while len(got) < len(whole) and select.select([reader], [], [], PATIENCE)[0]:
            got += os.read(reader, 65536)
        self.assertEqual(len(got), len(whole))
        self.assertEqual(got, whole)
        self.assertTrue(os.get_blocking(writer), "a shared description was toggled")
        self.assertEqual(server.stop(), 0)

    def test_a_stalled_reader_of_the_log_holds_up_nothing(self):
        reader, writer = self.pipe()
        server = self.start(STREAMS, stdout=writer, stderr=writer)
        os.set_blocking(writer, False)
        # Full before the first line: as if its reader had stalled long ago.
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * 4096)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x")
        os.set_blocking(writer, True)
        for _ in range(50):
            with server.connect() as client:
                client.sendall(b"\xff\xff\xff\xff")
                self.assertEqual(client.recv(10), b"")
        with server.connect() as client:
            message = b"\0\0\0\x09hello"
            client.sendall(message)
            self.assertEqual(client.recv(100), message)
        self.assertEqual(server.stop(), 0)

    def test_notices_of_bad_frames_are_summed_up(self):
        with tempfile.TemporaryFile() as log:
            server = self.start(STREAMS, stdout=subprocess.DEVNULL, stderr=log)
            for _ in range(400):
                with server.connect() as client:
                    client.sendall(b"\xff\xff\xff\xff")
                    self.assertEqual(client.recv(10), b"")
            self.assertEqual(server.stop(), 0)
            log.seek(0)
            lines = log.read().decode().splitlines()
        said = [line for line in lines if " is closed: " in line]
        sums = [int(line.split(": ")[1].split()[0]) for line in lines if "more within a second: connections closed" in line]
        self.assertEqual(len(said) + sum(sums), 400)
        # Five a second and worker, and their sum.
        self.assertTrue(sums)
        self.assertGreater(400, 4 * len(said))

    def test_a_deep_stack_is_cut(self):
        server = self.serve(
            """
    $deep = function (int $depth) use (&$deep): int {
        if ($depth) {
            return 1 + $deep($depth - 1);
        }
        for ($i = 0; $i < 2_000_000; $i++) {
        }
        return 0;
    };
    $response->end((string) $deep(20_000));
""",
            settings={"blocked_loop_warn": "5ms"},
            ini=("memory_limit=1G",),
        )
        # One may come while the stack is still low.
        reported = lambda: "#63 " in server.log()

        def once():
            self.assertEqual(server.get().status, 200)
            return reported()

        until("a report", once)
        self.assertEqual(server.stop(), 0)
        report = server.log()
        self.assertLess(len(report) / report.count("has kept its worker busy"), 64 * 1024)
        self.assertIn("frames further out are left out", report)
        self.assertNotIn("#64 ", report)
