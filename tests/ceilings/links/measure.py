#!/usr/bin/env python3
"""What an open WebSocket costs, held under ceilings.

    measure.py NAME      prints "ok", or the figures that are above their ceilings
    measure.py --show    measures everything and prints all figures

The ceilings stand above what is measured on a quiet machine, and below what a mistake costs.
"""
import contextlib
import mmap
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent.parent / "e2e"), str(HERE.parent / "http")]
sys.dont_write_bytecode = True

import measure as http  # noqa: E402
from lib.websocket import TEXT, Crowd, WebSocket, deflated, frame  # noqa: E402
from support import Server, needs, until  # noqa: E402

SCRIPT = """<?php
$server = new Apus\\WebSocket\\Server('127.0.0.1', 0);
$server->set(json_decode('SETTINGS', true) + ['worker_num' => 1, 'log_file' => __DIR__ . '/log', 'websocket_ping_interval' => 0, 'backlog' => 16384]);
$server->on('message', function ($server, $frame) { $server->push($frame->fd, $frame->data, $frame->opcode); });
$server->start();
"""


def server(settings="{}", **options):
    return Server(script=SCRIPT.replace("SETTINGS", settings), **options)


def room():
    """How many connections the limit of descriptors allows, up to 10,000."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    count = 10_000 if hard == resource.RLIM_INFINITY or hard >= 10_500 else hard - 500
    http.many_files(count + 500)
    return count


@contextlib.contextmanager
def counted():
    """The environment of a server whose memory is counted, and a function that tells the bytes in use and the
    allocations so far."""
    with tempfile.TemporaryDirectory() as folder:
        shim, counter = pathlib.Path(folder) / "count.so", pathlib.Path(folder) / "count"
        subprocess.run([needs("cc"), "-O2", "-shared", "-fPIC", "-o", str(shim), str(HERE / "count_bytes.c"), "-ldl"], check=True)
        counter.write_bytes(bytes(16))
        with open(counter, "r+b") as file, mmap.mmap(file.fileno(), 16) as view:
            yield {"LD_PRELOAD": str(shim), "BYTES": str(counter)}, lambda: struct.unpack("qq", view[:16])


def grown(settings, extensions, say, heard):
    """What one more connection costs that has exchanged a message and is idle: bytes of malloc, and resident ones."""
    count = room() - 2000
    with counted() as (variables, live), server(settings, env=variables) as running, Crowd(running.port) as crowd:
        worker = running.workers()[0]

        def hold(number):
            # In groups: what is measured is connections that are there, not handshakes that happen at once.
            for _ in range(0, number, 250):
                new = Crowd(running.port)
                assert new.join(250, extensions=extensions) == 250, new.failed[:3]
                new.send_all(say)
                assert all(new.hear_all(heard)), "not all were answered"
                crowd.sockets += new.sockets
        hold(2000)
        resident, allocated = http.settled(worker), live()[0]
        hold(count)
        resident = http.settled(worker) - resident
        return (live()[0] - allocated) / count, resident / count


def idle():
    """An idle connection: aim under 1 KiB. Resident pages are counted whole, the shared table of connections among
    them."""
    allocated, resident = grown("{}", None, frame(TEXT, b"hello"), 7)
    return {"bytes allocated for an idle WebSocket": (allocated, 1024), "resident bytes of an idle WebSocket": (resident, 1536)}


def idle_compressed():
    """The same with compression agreed upon, without context takeover: nothing is kept between messages."""
    settings = '{"websocket_compression": true, "websocket_compression_threshold": 0}'
    allocated, resident = grown(settings, "permessage-deflate", frame(TEXT, deflated(b"hello" * 20), rsv=4), 2)
    return {"bytes allocated for an idle WebSocket with compression": (allocated, 1280), "resident bytes of an idle WebSocket with compression": (resident, 1792)}


def allocations():
    """Calls of malloc a message that is echoed; PHP's own pool apart."""
    count = 5000
    with counted() as (settings, told), server(env=settings) as running, WebSocket.connect(running.port) as ws:
        def echo(times):
            for _ in range(times):
                ws.say("hello world")
                ws.text()
        echo(500)
        before = told()[1]
        echo(count)
        each = (told()[1] - before) / count
    return {"allocations an echo": (each, 1.5)}


def syscalls():
    """System calls an echo: one read, one write, and a wait of each of two nested epoll instances."""
    strace, count = needs("strace"), 2000
    with server() as running, WebSocket.connect(running.port) as ws:
        def echo(times):
            for _ in range(times):
                ws.say("hello world")
                ws.text()
        echo(100)
        trace = running.folder / "strace"
        with subprocess.Popen(
            [strace, "-f", "-c", "-o", str(trace), "-p", str(running.workers()[0])], stderr=subprocess.PIPE, text=True
        ) as tracer:
            until("strace is attached", lambda: "attached" in tracer.stderr.readline())
            echo(count)
            tracer.send_signal(2)
            tracer.wait()
        total = next(int(line.split()[3]) for line in trace.read_text().splitlines() if line.endswith("total"))
    return {"system calls an echo": (total / count, 4.2)}


NAMES = {f.__name__: f for f in (idle, idle_compressed, allocations, syscalls)}


def main(arguments):
    if arguments == ["--show"]:
        for measure in NAMES.values():
            for what, (value, ceiling) in measure().items():
                print(f"{what}: {value:.2f} (ceiling {ceiling})", flush=True)
        return
    found = NAMES[arguments[0]]()
    above = [f"{what}: {value:.2f}, above {ceiling}" for what, (value, ceiling) in found.items() if value > ceiling]
    print("\n".join(above) or "ok")


if __name__ == "__main__":
    main(sys.argv[1:])
