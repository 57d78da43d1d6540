#!/usr/bin/env python3
"""What a request and a connection cost, held under ceilings.

    measure.py NAME      prints "ok", or the figures that are above their ceilings
    measure.py --show    measures everything and prints all figures

The ceilings stand above what is measured on a quiet machine, and below what a mistake costs.
"""
import contextlib
import mmap
import os
import pathlib
import re
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "e2e"))
sys.dont_write_bytecode = True

from support import Server, Wrk, needs, php, rss, until  # noqa: E402

HELLO = "$response->end('hello world');"
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def many_files(count):
    """Lets this process and the servers it starts have that many descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        raise SystemExit(f"needs {count} descriptors, {hard} are allowed")
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def ask(client, times):
    for _ in range(times):
        client.send(REQUEST)
        answer = client.answer()
        assert answer.status == 200, answer.body


def settled(pid):
    """Resident bytes once they stand still."""
    last = [0, 0]

    def still():
        now = rss(pid)
        last[1] = last[1] + 1 if now == last[0] else 0
        last[0] = now
        return last[1] >= 5
    until("memory stands still", still)
    return last[0]


def traced(server, work):
    """System calls of the only worker while `work` is done: (reads, writes, waits for readiness, others)."""
    needs("strace")
    trace = server.folder / "strace"
    with subprocess.Popen(
        ["strace", "-f", "-c", "-o", str(trace), "-p", str(server.workers()[0])], stderr=subprocess.PIPE, text=True
    ) as strace:
        until("strace is attached", lambda: "attached" in strace.stderr.readline())
        work()
        strace.send_signal(2)
        strace.wait()
    calls = {}
    for line in trace.read_text().splitlines():
        words = line.split()
        if words[-1:] != ["total"] and len(words) >= 5 and words[3].isdigit() and re.fullmatch(r"\d+\.\d+", words[0]):
            calls[words[-1]] = int(words[3])
    kinds = (("read", "recvfrom", "recvmsg", "readv"), ("write", "sendto", "sendmsg", "writev"), ("epoll_wait", "epoll_pwait", "epoll_pwait2"))
    known = [sum(calls.get(name, 0) for name in kind) for kind in kinds]
    return (*known, sum(calls.values()) - sum(known))


def syscalls():
    """System calls a request that comes alone: one read, one write, and a wait each of the runtime and of the loop's
    instance within it. Where others are ready they share these two."""
    count = 2000
    with Server(HELLO) as server, server.connect() as client:
        ask(client, 100)
        reads, writes, waits, rest = (calls / count for calls in traced(server, lambda: ask(client, count)))
    return {"reads a request": (reads, 1.02), "writes a request": (writes, 1.02), "epoll waits a request": (waits, 2.1), "other system calls a request": (rest, 0.05)}


ASKING = """
    static $socket = null;
    $socket ??= stream_socket_client("unix://$folder/answers");
    for ($i = 0; $i < 20; $i++) {
        fwrite($socket, str_repeat('q', 60));
        fread($socket, 8192) === 'answer' || throw new Exception('another answer');
    }
    $response->end('asked');
"""


def answer_all(listener):
    """Answers every question of a client, until it goes."""
    client, _ = listener.accept()
    with client:
        while client.recv(4096):
            client.sendall(b"answer")


def questions():
    """System calls of a question that a coroutine asks over a socket which stays, and waits for: a send, a receive, a
    wait of the event loop, and one of the instance that blocking calls wait on."""
    count = 100
    with Server(ASKING) as server, server.connect() as client, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(server.folder / "answers"))
        listener.listen()
        threading.Thread(target=answer_all, args=(listener,), daemon=True).start()
        ask(client, 3)
        calls = traced(server, lambda: ask(client, count))
        # A request has a read, a write and a wait of its own.
        own = (count, count, count, 0)
        reads, writes, waits, rest = ((all - own) / count / 20 for all, own in zip(calls, own, strict=True))
    return {"reads a question": (reads, 1.02), "writes a question": (writes, 1.1), "epoll waits a question": (waits, 2.1), "other system calls a question": (rest, 0.05)}


def syscalls_pipelined():
    """Sixteen requests in one packet: one read, one write, the two waits."""
    count = 500

    def ask_sixteen():
        for _ in range(count):
            client.send(REQUEST * 16)
            for _ in range(16):
                client.answer()

    with Server(HELLO) as server, server.connect() as client:
        ask(client, 10)
        total = sum(traced(server, ask_sixteen))
    return {"system calls for sixteen pipelined requests": (total / count, 4.2)}


@contextlib.contextmanager
def counted():
    """The environment of a server whose allocations are counted, and a function that tells the count."""
    with tempfile.TemporaryDirectory() as folder:
        shim, counter = pathlib.Path(folder) / "count.so", pathlib.Path(folder) / "count"
        subprocess.run([needs("cc"), "-O2", "-shared", "-fPIC", "-o", str(shim), str(HERE.parent / "links" / "count_bytes.c"), "-ldl"], check=True)
        counter.write_bytes(bytes(16))
        with open(counter, "r+b") as file, mmap.mmap(file.fileno(), 16) as view:
            yield {"LD_PRELOAD": str(shim), "BYTES": str(counter)}, lambda: struct.unpack("qq", view[:16])[1]


AWAITING = """
    for ($i = 0; $i < 20; $i++) {
        $server->taskwait($i) === $i || throw new Exception('another answer');
    }
    $response->end('awaited');
"""


def sleeps(pid):
    """How often the kernel has put a process to sleep because it waited."""
    return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def awaited_tasks():
    """Sleeps of all processes for a task that is awaited: who waits for it sleeps once, its worker once, and no other
    worker is woken."""
    count = 100
    before = "$server->on('task', static fn (Server $server, \\Apus\\Server\\Task $task): int => $task->data);"
    settings = {"task_worker_num": 3, "task_enable_coroutine": True}
    with Server(AWAITING, settings=settings, before=before) as server, server.connect() as client:
        ask(client, 3)
        pids = server.workers()
        assert len(pids) == 4, pids
        slept = [sleeps(pid) for pid in pids]
        ask(client, count)
        slept = [(sleeps(pid) - before) / count / 20 for pid, before in zip(pids, slept, strict=True)]
    return {"sleeps an awaited task": (sum(slept), 2.15), "sleeps of the two task workers that need not wake": (sum(sorted(slept)[:2]), 0.05)}


def allocations_of(handler, env):
    count = 5000
    with counted() as (settings, told), Server(handler, env={**settings, **env}) as server, server.connect() as client:
        ask(client, 500)
        before = told()
        ask(client, count)
        return (told() - before) / count


def allocations():
    """Calls of malloc a request; PHP's own pool apart, then with PHP's values as single allocations, too."""
    reading = "$request->header; $request->get; $response->header('X-A', 'b'); $response->end('hello world');"
    return {
        "allocations a request": (allocations_of(HELLO, {}), 3.1),
        "allocations a request, PHP's values among them": (allocations_of(HELLO, {"USE_ZEND_ALLOC": "0"}), 8),
        "allocations a request that reads and sets headers": (allocations_of(reading, {}), 4.1),
    }


def idle_connections():
    """Bytes of user memory that a kept connection without a request costs: aim under 2 KiB."""
    count = 4000
    many_files(count + 500)
    with Server(HELLO) as server:
        worker = server.workers()[0]

        def hold(number):
            clients = [server.connect() for _ in range(number)]
            for client in clients:
                ask(client, 1)
            return clients
        held = hold(200)
        before = settled(worker)
        held += hold(count)
        grown = settled(worker) - before
        for client in held:
            client.sock.close()
    return {"bytes an idle connection": (grown / count, 2048)}


def php_version():
    """The major and minor version of the PHP under test."""
    text = subprocess.run([php(), "-n", "-r", "echo PHP_MAJOR_VERSION, ' ', PHP_MINOR_VERSION;"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, text.split()))


def sleeping_handlers():
    """Bytes of a handler that sleeps: its coroutine with stacks, request, response, connection."""
    count = 2000
    many_files(count + 500)
    handler = "while (!file_exists(\"$folder/go\")) { Coroutine::sleep(0.5); } $response->end('done');"
    with Server(handler) as server:
        worker = server.workers()[0]

        def begin(number):
            clients = [server.connect() for _ in range(number)]
            for client in clients:
                client.send(REQUEST)
            return clients
        clients = begin(100)
        running = lambda: server.status()["totals"]["coroutines"]
        until("they sleep", lambda: running() == 100)
        before = settled(worker)
        clients += begin(count)
        until("they sleep", lambda: running() == 100 + count)
        grown = settled(worker) - before
        (server.folder / "go").touch()
        for client in clients:
            assert client.answer().body == b"done"
            client.sock.close()
    # From PHP 8.4 on each of these stacks has one page more in use.
    return {"bytes a sleeping handler": (grown / count, (24 if php_version() < (8, 4) else 28) * 1024)}


def flat_memory():
    """Growth of a worker between 200,000 and 1,000,000 requests."""
    total = int(os.environ.get("APUS_CEILING_REQUESTS", 1_000_000))
    with Server("$name = $request->get['name'] ?? 'x'; $response->header('X-Name', $name); $response->end(\"hello $name\");") as server:
        worker = server.workers()[0]
        answered = lambda: server.status()["totals"]["requests"]

        def load(until_requests):
            wrk = Wrk(server.url("/?name=swift"), connections=64, seconds=600)
            try:
                while answered() < until_requests:
                    time.sleep(0.1)
                requests, errors, failed, text = wrk.result()
                assert not errors and not failed, text
            finally:
                wrk.process.poll() is None and wrk.process.kill()
        load(total // 5)
        before = settled(worker)
        load(total)
        grown = settled(worker) - before
    return {"bytes grown over 800,000 requests": (grown, 1 << 20)}


MEASURES = {
    f.__name__: f
    for f in (
        syscalls,
        syscalls_pipelined,
        questions,
        awaited_tasks,
        allocations,
        idle_connections,
        sleeping_handlers,
        flat_memory,
    )
}


def main():
    chosen = list(MEASURES) if sys.argv[1:] == ["--show"] else sys.argv[1:]
    above = False
    for name in chosen:
        for what, (figure, ceiling) in MEASURES[name]().items():
            if figure > ceiling:
                above = True
            if figure > ceiling or len(chosen) > 1:
                print(f"{what}: {figure:.2f} (ceiling {ceiling})", flush=True)
    if not above:
        print("ok")


if __name__ == "__main__":
    main()
