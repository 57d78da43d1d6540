"""`ab -k`, as W5 was taken, but with a number of requests that fits the server: all are answered when a measurement
ends, so that the CPU time of requests that were still under way is charged to nobody."""

import re
import resource
import subprocess
from pathlib import Path

from ..load import LoadFailed, parse_ab
from ..procs import pinned

# ab gives up when it hears nothing for so long; a thousand requests of a slow server take their time.
SILENCE_SECONDS = 30
MOST_SECONDS = 180
MOST_REQUESTS = 1_000_000
# A pilot shorter than this tells nothing about the pace.
PILOT_SECONDS = 0.25
LONG_SECONDS = 4.0

_FAILED = re.compile(r"\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)")
_WRITE = re.compile(r"^Write errors:\s+(\d+)", re.MULTILINE)


def pilot(url: str, concurrency: int, core: int, table: Path) -> float:
    """Warms up: each connection gets an answer at least. Returns requests a second."""
    requests = concurrency
    while True:
        load = run(url, requests, concurrency, core, table)
        if load.seconds >= PILOT_SECONDS or requests >= MOST_REQUESTS:
            return load.requests / load.seconds if load.seconds else float(MOST_REQUESTS)
        requests *= 8


def requests_for(rate: float, seconds: float, concurrency: int, sleeps: bool = False) -> int:
    """As many as take `seconds`, but two for each connection, for one alone would measure the start; one where even
    that takes long. Four where queries sleep: the time is looked at in which all connections have a request under way,
    which is not the first one's, nor the last one's."""
    least = 4 if sleeps else 1 if concurrency / rate > LONG_SECONDS else 2
    return max(least * concurrency, min(MOST_REQUESTS, int(rate * seconds)))


def run(url: str, requests: int, concurrency: int, core: int, table: Path):
    table.unlink(missing_ok=True)
    argv = ["ab", "-q", "-r", "-k", "-s", str(SILENCE_SECONDS), "-n", str(requests), "-c", str(concurrency)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            pinned(core, [*argv, "-e", str(table), url]),
            capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise LoadFailed(f"{requests} requests were not answered in {MOST_SECONDS} s") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise LoadFailed(f"ab ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
    load = parse_ab(done.stdout, table)
    load.errors = failures(done.stdout, requests - load.requests, load.errors["status"])
    load.client_cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return load


def failures(output: str, unanswered: int, status: int) -> dict[str, int]:
    """Of each kind: connections refused, reset or ended, answers of another length, other statuses than 2xx, requests
    that could not be sent, and those never answered."""
    found = _FAILED.search(output)
    connect, receive, length, exceptions = (int(number) for number in found.groups()) if found else (0, 0, 0, 0)
    # An answer with another status has another length as well: it is counted once.
    length = max(0, length - status)
    write = _WRITE.search(output)
    return {
        "connect": connect, "receive": receive, "length": length, "exceptions": exceptions, "status": status,
        "write": int(write[1]) if write else 0, "unanswered": max(0, unanswered),
    }  # fmt: skip
