#!/usr/bin/env python3
"""Instructions in user mode that a switch and a request take, counted by valgrind: the same on a busy machine.

    measure.py NAME      prints "ok", or the figures that are above their ceilings
    measure.py --show    measures everything and prints all figures

The ceilings are for the build that is tested (profile ci, about 8 % above release), a few per cent above what it takes.
"""
import pathlib
import platform
import re
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "e2e"), str(HERE.parent.parent / "lib")]
sys.dont_write_bytecode = True

import websocket  # noqa: E402
from support import PATIENCE, Server, module, needs, php  # noqa: E402

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: measure\r\nAccept: */*\r\n\r\n"
HELLO = "$response->header('Content-Type', 'text/plain'); $response->end('hello world');"


def missing():
    """Why nothing can be measured here; empty when it can."""
    if platform.machine() != "x86_64":
        return "the ceilings are those of x86-64"
    if pathlib.Path(module()).resolve().parent.name == "debug":
        return "the module is not optimised"
    version = subprocess.run([php(), "-n", "-r", "echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;"], capture_output=True, text=True, check=True).stdout
    return "" if version == "8.2" else "the ceilings are those of PHP 8.2"


def callgrind(folder):
    return [needs("valgrind"), "-q", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/%p"]


def counted(folder):
    """Instructions of the process that took the most."""
    totals = (
        line.split()[1]
        for file in pathlib.Path(folder).iterdir()
        for line in file.read_text(errors="replace").splitlines()
        if line.startswith("totals:")
    )
    return max(map(int, totals))


def per_piece(run, few, many):
    """What one piece of work takes: the difference between many and few."""
    counts = []
    for pieces in (few, many):
        with tempfile.TemporaryDirectory() as folder:
            run(folder, pieces)
            counts.append(counted(folder))
    return (counts[1] - counts[0]) / (many - few)


YIELDS = """
use Apus\\Coroutine;
$n = (int) $argv[1];
Apus\\Coroutine\\run(function () use ($n) {
    $id = Apus\\go(function () use ($n) { for ($i = 0; $i < $n; $i++) { Coroutine::yield(); } });
    for ($i = 0; $i < $n; $i++) { Coroutine::resume($id); }
});
"""
CHANNELS = """
use Apus\\Coroutine\\Channel;
$n = (int) $argv[1];
Apus\\Coroutine\\run(function () use ($n) {
    [$ping, $pong] = [new Channel(1), new Channel(1)];
    Apus\\go(function () use ($n, $ping, $pong) { for ($i = 0; $i < $n; $i++) { $pong->push($ping->pop()); } });
    for ($i = 0; $i < $n; $i++) { $ping->push($i); $pong->pop(); }
});
"""


def switch():
    """A resume() and the yield() that answers it; a value that goes to another coroutine by a channel, and the answer.
    Where these functions are seen, what enters a coroutine is called: one more is returned through (decision 0031)."""
    called = set()

    def run(code):
        def piecewise(folder, pieces):
            subprocess.run([*callgrind(folder), php(), "-n", "-d", f"extension={module()}", "-r", code, str(pieces)], check=True)
            for file in pathlib.Path(folder).iterdir():
                called.update(re.findall(r"\) (apus_fiber_(?:enter|leave))$", file.read_text(errors="replace"), re.M))
        return piecewise
    return {
        "instructions a resume() and yield()": (per_piece(run(YIELDS), 1_000, 11_000), 1_040),
        "instructions there and back by channels": (per_piece(run(CHANNELS), 1_000, 11_000), 1_900),
        "functions that enter or leave as a whole": (len(called), 0),
    }


def hello():
    """A request with one field set, one after the other on one connection. The looks at the kernel that bring nothing
    are part of it: how many there are, 10,000 to 11,500 instructions in all, is the client's doing."""
    def run(folder, pieces):
        with Server(HELLO, wrapper=callgrind(folder)) as server, server.connect() as client:
            for _ in range(pieces):
                client.send(REQUEST)
                client.answer()
            # Its processes write what they have counted when they end.
            server.stop()
    return {"instructions a request": (per_piece(run, 200, 2_200), 12_300)}


def stream():
    """A request of HTTP/2, 32 streams at a time on one connection. In clear: TLS seals what many of them say at once."""
    def run(folder, pieces):
        settings = {"open_http2_protocol": True}
        with Server(HELLO, settings=settings, wrapper=callgrind(folder)) as server:
            line = [needs("h2load"), "-n", str(pieces), "-c", "1", "-m", "32", server.url("/")]
            said = subprocess.run(line, capture_output=True, text=True, check=True, timeout=PATIENCE * 4).stdout
            if f"{pieces} succeeded" not in said:
                raise AssertionError(said)
            server.stop()
    return {"instructions a request of HTTP/2": (per_piece(run, 320, 3_520), 15_000)}


ECHO = """<?php
$server = new Apus\\WebSocket\\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'blocked_loop_warn' => 0]);
$server->on('message', fn ($server, $frame) => $server->push($frame->fd, $frame->data));
$server->start();
"""


def echo():
    """A WebSocket message of 64 bytes and its echo, one after the other on one connection."""
    message, answer = websocket.frame(websocket.TEXT, b"x" * 64), b"\x81\x40" + b"x" * 64

    def run(folder, pieces):
        with (
            Server(script=ECHO, wrapper=callgrind(folder)) as server,
            socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as sock,
        ):
            stream = sock.makefile("rb")
            sock.sendall(websocket.request())
            while stream.readline() != b"\r\n":
                pass
            for _ in range(pieces):
                sock.sendall(message)
                if stream.read(len(answer)) != answer:
                    raise AssertionError("another answer")
            server.stop()
    return {"instructions a message": (per_piece(run, 200, 2_200), 8_900)}


MEASURES = {f.__name__: f for f in (switch, hello, stream, echo)}


def main():
    if missing():
        print(f"skip {missing()}")
        return
    if sys.argv[1:] == ["--missing"]:
        return
    chosen = list(MEASURES) if sys.argv[1:] == ["--show"] else sys.argv[1:]
    above = False
    for name in chosen:
        for what, (figure, ceiling) in MEASURES[name]().items():
            above |= figure > ceiling
            if figure > ceiling or len(chosen) > 1:
                print(f"{what}: {figure:.0f} (ceiling {ceiling:,})", flush=True)
    if not above:
        print("ok")


if __name__ == "__main__":
    main()
