#!/usr/bin/env python3
"""How long a server takes to serve: measure.py start|reload TIMES COMMAND...; the last line is JSON.

The command starts a server with two workers on port $PORT of 127.0.0.1 ({PORT} in its words), and is its master. `start` is the time from its
start to the first answer; `reload` that from SIGUSR1 until none of the workers is left that were there, and a request is
answered.
"""

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
# Seconds after which something is wrong.
PATIENCE = 20
# Seconds that a server has to end.
PARTING = 3
# Seconds between two reloads.
PAUSE = 0.5
# Seconds between two looks.
LOOK = 0.0005


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
            client.sendall(REQUEST)
            return client.recv(100)[8:].startswith(b" 200")
    except OSError:
        return False


def until(what: str, done) -> float:
    """Milliseconds until it is so."""
    begun = time.monotonic()
    while not done():
        if time.monotonic() - begun > PATIENCE:
            raise SystemExit(f"in vain: {what}")
        time.sleep(LOOK)
    return (time.monotonic() - begun) * 1000


@contextmanager
def server(command: list[str], port: int):
    command = [word.replace("{PORT}", str(port)) for word in command]
    environment = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=sys.stderr, start_new_session=True
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PARTING)
        # Not all masters that have just begun end at a signal, and take their workers with them.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def children(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def start(command: list[str], times: int) -> list[float]:
    took = []
    for _ in range(times):
        port, begun = free_port(), time.monotonic()
        with server(command, port):
            until("it serves", lambda port=port: answers(port))
            took.append((time.monotonic() - begun) * 1000)
    return took


def reload(command: list[str], times: int) -> list[float]:
    port, took = free_port(), []
    with server(command, port) as pid:
        until("it serves", lambda: answers(port))
        for _ in range(times):
            until("two workers", lambda: len(children(pid)) == 2)
            old = children(pid)
            # A master that has not ended the last reload for itself does nothing for the next signal.
            time.sleep(PAUSE)
            os.kill(pid, signal.SIGUSR1)
            took.append(until("new workers", lambda: not old & children(pid) and answers(port)))
    return took


def main() -> None:
    case, times, *command = sys.argv[1:]
    took = {"start": start, "reload": reload}[case](command, int(times))
    print(json.dumps({"ms": statistics.median(took), "least_ms": min(took), "most_ms": max(took)}))


if __name__ == "__main__":
    main()
