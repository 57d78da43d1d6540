"""Queries a second: what the database lets a number of connections have, and what it is asked while the load generator
keeps all its connections at work."""

import re
import subprocess
import threading
import time

from ..contenders import environment
from ..procs import pinned
from .mariadb import DatabaseFailed, MariaDb

EVERY_SECONDS = 0.05
_COUNT = "SHOW GLOBAL STATUS LIKE 'Com_select';\n"
# How long the database alone is measured, and how often each connection asks at the least.
ALONE_SECONDS = 1.0
ALONE_QUERIES = 10
_ALONE = re.compile(r"Average number of seconds to run all queries: ([\d.]+) seconds")


class Pace(threading.Thread):
    """Asks MariaDB for its number of queries, as a context."""

    def __init__(self, database: MariaDb):
        super().__init__(daemon=True)
        argv = ["mariadb", *database.as_root(), "--skip-column-names", "--unbuffered"]
        self._client = subprocess.Popen(
            argv, env=environment({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._ended = threading.Event()
        self.samples: list[tuple[float, int]] = []

    def run(self) -> None:
        while not self._ended.wait(EVERY_SECONDS):
            self._client.stdin.write(_COUNT)
            fields = self._client.stdout.readline().split()
            if len(fields) != 2:
                return
            self.samples.append((time.monotonic(), int(fields[1])))

    def __enter__(self) -> "Pace":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()
        self._client.communicate()


def between(samples: list[tuple[float, int]], first: float, last: float) -> float | None:
    """Queries a second from the first sample within these times to the last one; None where there are no two."""
    inside = [sample for sample in samples if first <= sample[0] <= last]
    if len(inside) < 2:
        return None
    (began, before), (ended, after) = inside[0], inside[-1]
    return (after - before) / (ended - began)


def alone(database: MariaDb, sleep: float, connections: int, cores: str) -> float:
    """Queries a second of threads that do nothing but ask, each on a connection of its own: to sleep for 10 ms and to
    be told of it takes longer than 10 ms."""
    number = connections * max(ALONE_QUERIES, round(ALONE_SECONDS / sleep))
    argv = ["mariadb-slap", *database.as_user(), f"--concurrency={connections}", f"--number-of-queries={number}"]
    argv += [f"--query=SELECT id, name, SLEEP({sleep}) AS slept FROM item WHERE id = 1234", "--no-drop"]
    done = subprocess.run(pinned(cores, argv), env=environment({}), capture_output=True, text=True, check=False)
    found = _ALONE.search(done.stdout)
    if done.returncode or not found:
        raise DatabaseFailed(f"mariadb-slap failed: {(done.stderr or done.stdout).strip()[-400:]}")
    return number / float(found[1])
