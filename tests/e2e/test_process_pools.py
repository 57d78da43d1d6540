"""Pools of processes and single ones, while somebody kills them: what is started again, what is left behind, what is
lost."""

import json
import os
import pathlib
import random
import select
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from support import PATIENCE, Server, alive, module, php, state, until


class Script:
    """A PHP script in a process group of its own, whose lines are read one by one."""

    def __init__(self, code):
        self.folder = tempfile.TemporaryDirectory(prefix="apus-e2e-")
        script = pathlib.Path(self.folder.name) / "script.php"
        script.write_text("<?php\nuse Apus\\Process;\nuse Apus\\Process\\Pool;\nuse Apus\\Coroutine;\n$me = getmypid();\n" + code)
        self.errors = open(pathlib.Path(self.folder.name) / "errors", "w+")
        line = [php(), "-n", "-d", f"extension={module()}", str(script)]
        self.process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,
            cwd=self.folder.name,
        )
        self.pid = self.process.pid
        self.buffer = b""

    def said(self):
        self.errors.seek(0)
        return self.errors.read() + self.buffer.decode(errors="replace")

    def line(self, patience=PATIENCE):
        """The next line; None when none comes in time or the output has ended."""
        end = time.monotonic() + patience
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def expect(self, start):
        """The rest of the next line that begins so."""
        while (line := self.line()) is not None:
            if line.startswith(start):
                return line[len(start):]
        raise AssertionError(f"no line {start!r}: {self.said()}")

    def children(self):
        """Process ids and states of the script's children."""
        pids = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return {int(pid): letter for pid in pids if (letter := state(pid))}

    def descriptors(self, pid=None):
        return sorted(os.listdir(f"/proc/{pid or self.pid}/fd"))

    def kill(self, number):
        os.kill(self.pid, number)

    def wait(self):
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the script does not end: {self.said()}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        self.folder.cleanup()


def queues():
    return {line.split()[1] for line in pathlib.Path("/proc/sysvipc/msg").read_text().splitlines()[1:]}


LOOP = """
$pool = new Pool(%d, Apus\\IPC_UNIXSOCK);
$pool->on('start', fn() => print("start\\n"));
$pool->on('shutdown', fn() => print("shutdown\\n"));
$pool->on('workerstart', function (Pool $pool, int $id) {
    echo "worker $id " . getmypid() . "\\n";
    while (true) {
        usleep(50_000);
    }
});
$pool->start();
echo "over\\n";
"""


class KilledWorkers(unittest.TestCase):
    def test_ten_workers_are_started_again_and_nothing_is_left(self):
        with Script(LOOP % 10) as pool:
            pids = {}

            def learn():
                number, pid = map(int, pool.expect("worker ").split())
                pids[number] = pid

            for _ in range(10):
                learn()
            self.assertEqual(set(pids), set(range(10)))
            chance = random.Random(7)
            before = inside = None
            # Those that are killed early again and again would be started more slowly.
            for _ in range(4):
                victims = chance.sample(range(10), chance.randrange(1, 11))
                old = dict(pids)
                for victim in victims:
                    os.kill(pids[victim], signal.SIGKILL)
                for _ in victims:
                    learn()
                self.assertEqual({n for n in pids if pids[n] != old[n]}, set(victims))
                # The first death is the first that the master logs, for which it opens its output.
                before = before or pool.descriptors()
                inside = inside or len(pool.descriptors(pids[victims[0]]))
            until("no zombie is left", lambda: "Z" not in pool.children().values() and len(pool.children()) == 10)
            self.assertEqual(pool.descriptors(), before)
            self.assertEqual(len(pool.descriptors(pids[3])), inside)
            pool.kill(signal.SIGTERM)
            pool.expect("shutdown")
            pool.expect("over")
            self.assertEqual(pool.wait(), 0)
            for pid in pids.values():
                self.assertFalse(alive(pid))

    def test_a_reload_replaces_every_worker_one_after_the_other(self):
        with Script(LOOP % 4) as pool:
            first = dict(tuple(map(int, pool.expect("worker ").split())) for _ in range(4))
            pool.kill(signal.SIGUSR1)
            second = {}
            for _ in range(4):
                number, pid = map(int, pool.expect("worker ").split())
                second[number] = pid
                # At most one is missing at any time.
                self.assertGreaterEqual(len(pool.children()), 3)
            self.assertEqual(set(second), set(range(4)))
            self.assertFalse(set(first.values()) & set(second.values()))
            pool.kill(signal.SIGINT)
            self.assertEqual(pool.wait(), 0)

    def test_workers_do_not_outlive_a_killed_master(self):
        with Script(LOOP % 3) as pool:
            pids = [int(pool.expect("worker ").split()[1]) for _ in range(3)]
            pool.kill(signal.SIGKILL)
            pool.wait()
            until("the workers have ended", lambda: not any(map(alive, pids)))

    def test_a_worker_that_does_not_end_is_killed(self):
        code = """
$pool = new Pool(1);
$pool->set(['max_wait_time' => 1]);
$pool->on('workerstart', function (Pool $pool, int $id) {
    Process::signal(SIGTERM, fn() => print("heard\\n"));
    echo 'worker ' . getmypid() . "\\n";
    while (true) {
        usleep(10_000);
    }
});
$pool->start();
echo "over\\n";
"""
        with Script(code) as pool:
            pid = int(pool.expect("worker "))
            pool.kill(signal.SIGTERM)
            pool.expect("heard")
            pool.expect("over")
            self.assertEqual(pool.wait(), 0)
            self.assertFalse(alive(pid))
            self.assertIn("max_wait_time", pool.said())

    def test_an_end_passes_a_catch_block(self):
        # A worker's end is an exit(), which no catch block sees; the signal that it ends for must not hold it up there.
        code = """
$pool = new Pool(1, Apus\\IPC_UNIXSOCK);
$pool->set(['max_wait_time' => 20]);
$pool->on('message', fn() => null);
$pool->on('workerstart', fn() => print("started\\n"));
try {
    $pool->start();
} catch (Throwable $e) {
    echo 'caught ', $e, "\\n";
}
echo "over\\n";
"""
        with Script(code) as pool:
            pool.expect("started")
            pool.kill(signal.SIGTERM)
            pool.expect("over")
            self.assertEqual(pool.wait(), 0)
            self.assertNotIn("max_wait_time", pool.said())

    def test_a_child_of_a_worker_is_no_worker_that_stops(self):
        code = """
$pool = new Pool(1, Apus\\IPC_UNIXSOCK);
$pool->on('workerstop', fn() => print("stopped\\n"));
$pool->on('workerstart', fn(Pool $pool) => $pool->sendMessage('go', 0));
$pool->on('message', function (Pool $pool) {
    (new Process(fn() => print("child\\n")))->start();
    Process::wait();
    $pool->shutdown();
});
$pool->start();
"""
        with Script(code) as pool:
            self.assertEqual(sorted(iter(pool.line, None)), ["child", "stopped"])
            self.assertEqual(pool.wait(), 0)

    def test_one_that_keeps_failing_is_started_more_and_more_slowly(self):
        code = """
$pool = new Pool(1);
$pool->on('workerstart', function () {
    echo "worker\\n";
    exit(1);
});
$pool->start();
"""
        with Script(code) as pool:
            times = []
            for _ in range(5):
                pool.expect("worker")
                times.append(time.monotonic())
            # The pauses double: 0, 0.1, 0.2, 0.4 seconds.
            self.assertGreater(times[4] - times[0], 0.6)
            pool.kill(signal.SIGTERM)
            self.assertEqual(pool.wait(), 0)

    def test_messages_that_were_taken_by_nobody_are_not_lost(self):
        # A worker gets its predecessor's messages, but for those that it was killed with.
        for coroutine in ("false", "true"):
            code = """
$pool = new Pool(2, Apus\\IPC_UNIXSOCK, 0, %s);
$pool->on('workerstart', function (Pool $pool, int $id) {
    if ($id === 1 && !file_exists('sent')) {
        touch('sent');
        $pool->sendMessage('die', 0);
        for ($i = 0; $i < 50; $i++) {
            $pool->sendMessage("number $i", 0);
        }
    }
});
$pool->on('message', function (Pool $pool, string $data) {
    if ($data === 'die') {
        // When all are there. Nothing here lets other messages be taken.
        while (!file_exists('go')) {
            clearstatcache();
        }
        Process::kill(getmypid(), SIGKILL);
    }
    echo "got $data\\n";
});
$pool->start();
""" % coroutine
            with Script(code) as pool, self.subTest(coroutine=coroutine):
                folder = pathlib.Path(pool.folder.name)
                until("all is sent", lambda: (folder / "sent").exists())
                (folder / "go").touch()
                got = [pool.expect("got ") for _ in range(50)]
                self.assertEqual(got, sorted(got, key=lambda text: int(text.split()[1])))
                self.assertEqual(got[-1], "number 49")
                pool.kill(signal.SIGTERM)
                self.assertEqual(pool.wait(), 0)


class Storms(unittest.TestCase):
    def test_processes_are_started_and_killed_hundreds_of_times(self):
        code = """
$fds = fn() => count(scandir('/proc/self/fd'));
$waiting = [];
$round = function (int $i) use (&$waiting) {
    $process = new Process(function (Process $p) {
        for ($n = 0; ; $n++) {
            $p->write(str_repeat('x', 1000 + $n));
        }
    }, false, $i % 2 ? Apus\\SOCK_STREAM : Apus\\SOCK_DGRAM, $i % 3 === 0);
    $pid = $process->start();
    for ($reads = mt_rand(0, 3); $reads > 0; $reads--) {
        $process->read(65536);
    }
    Process::kill($pid, SIGKILL);
    // What was written before its end can be read, then the end is told.
    while ($process->read(1 << 20) !== '');
    $end = Process::wait();
    if ($end['pid'] !== $pid || $end['signal'] !== SIGKILL) {
        echo "wrong end ", json_encode($end), "\\n";
    }
};
$round(0);
$before = $fds();
for ($i = 0; $i < 400; $i++) {
    $round($i);
}
echo "descriptors ", $fds() - $before, "\\n";
echo "children ", json_encode(Process::wait(false)), "\\n";

// The same from coroutines, with all at once.
$processes = [];
for ($i = 0; $i < 50; $i++) {
    $processes[] = $process = new Process(fn(Process $p) => $p->write((string) strlen($p->read(65536))) && $p->read());
    $process->start();
}
Coroutine\\run(function () use ($processes) {
    $lengths = Coroutine\\batch(array_map(fn($process, $i) => function () use ($process, $i) {
        $process->write(str_repeat('y', $i + 1));
        $length = $process->read();
        Process::kill($process->pid, SIGKILL);
        return $length . ($process->read() === '' ? '' : ' not ended');
    }, $processes, array_keys($processes)));
    echo "lengths ", json_encode($lengths == range(1, 50)), "\\n";
    for ($ended = 0; Process::wait(); $ended++);
    echo "ended $ended\\n";
});
"""
        with Script(code) as script:
            self.assertEqual(script.expect("descriptors "), "0", script.said())
            self.assertEqual(script.expect("children "), "false")
            self.assertEqual(script.expect("lengths "), "true")
            self.assertEqual(script.expect("ended "), "50")
            self.assertEqual(script.wait(), 0, script.said())

    def test_private_queues_do_not_outlive_their_script(self):
        code = """
$queue = new Apus\\MessageQueue;
echo "queue {$queue->id}\\n";
$process = new Process(function () use ($queue) {
    for ($i = 0; ; $i++) {
        $queue->push("message $i");
    }
});
$process->start();
for ($i = 0; $i < 1000; $i++) {
    if ($queue->pop() !== "message $i") {
        echo "wrong\\n";
    }
}
Process::kill($process->pid, SIGKILL);
Process::wait();
echo "done\\n";
"""
        with Script(code) as script:
            number = script.expect("queue ")
            self.assertEqual(script.line(), "done")
            self.assertEqual(script.wait(), 0)
            self.assertNotIn(number, queues())

    def test_pools_of_each_kind_under_fire(self):
        # Clients ask while workers are killed: each question is answered, or its connection broken, and never twice or
        # wrongly.
        code = """
$pool = new Pool(3, Apus\\IPC_SOCKET, 0, true);
$pool->listen('127.0.0.1');
$pool->on('workerstart', fn(Pool $pool, int $id) => print("worker $id " . getmypid() . " {$pool->port}\\n"));
$pool->on('message', function (Pool $pool, string $data) {
    Coroutine::sleep(0.001);
    $pool->write("re: $data");
});
$pool->start();
"""
        with Script(code) as pool:
            pids = {}
            for _ in range(3):
                number, pid, port = map(int, pool.expect("worker ").split())
                pids[number] = pid
            chance = random.Random(3)
            answered = 0
            for i in range(300):
                if i % 50 == 10:
                    victim = chance.randrange(3)
                    os.kill(pids[victim], signal.SIGKILL)
                    number, pid, _ = map(int, pool.expect("worker ").split())
                    self.assertEqual(number, victim)
                    pids[number] = pid
                message = f"question {i}".encode()
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                    client.sendall(len(message).to_bytes(4, "big") + message)
                    answer = b""
                    try:
                        while data := client.recv(4096):
                            answer += data
                    except ConnectionResetError:
                        pass
                if answer:
                    self.assertEqual(answer, (len(message) + 4).to_bytes(4, "big") + b"re: " + message)
                    answered += 1
            self.assertGreater(answered, 250)
            pool.kill(signal.SIGTERM)
            self.assertEqual(pool.wait(), 0)


class Servers(unittest.TestCase):
    def test_a_servers_process_reads_by_its_socket(self):
        # How frameworks do it: exportSocket()->recv() with a limit of time, in coroutines, until the socket says that
        # it is over.
        before = """
$process = new Apus\\Process(function (Apus\\Process $process) use ($folder) {
    $socket = $process->exportSocket();
    while (true) {
        $data = $socket->recv(65535, 0.05);
        if ($data === '') {
            break;
        }
        if ($data === false) {
            if ($socket->errCode !== 110) {
                break;
            }
            continue;
        }
        file_put_contents("$folder/seen", "$data\\n", FILE_APPEND);
    }
}, false, Apus\\SOCK_DGRAM, true);
$server->addProcess($process);
"""
        handler = "$response->end(json_encode($GLOBALS['process']->write('from ' . $path)));"
        with Server(handler, before=before, settings={"worker_num": 2}) as server:
            for i in range(20):
                self.assertEqual(json.loads(server.get(f"/{i}").body), len(f"from /{i}"))
            seen = server.folder / "seen"

            def lines():
                return seen.read_text().splitlines() if seen.exists() else []

            until("all is read", lambda: len(lines()) == 20)
            self.assertEqual(sorted(lines()), sorted(f"from /{i}" for i in range(20)))
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
