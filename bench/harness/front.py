"""The front door beside nginx and Swoole: files, compression, and what the access log and the figures cost a request."""

import gzip
import http.client
import json
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from .contenders import Contender
from .document import Aim, Document
from .measure import Bench, Cores
from .programs import Column, Tables, cell
from .scenarios import Target
from .suite import Step, Suite, warn_of_busy
from .verify import WrongAnswer

SMALL_BYTES = 1024
LARGE_BYTES = 100 << 20
DATA_BYTES = 32 << 10
# As many as nginx and Apus have in common.
LEVELS = tuple(range(1, 10))

_REQUEST = (Column("cpu_us", "CPU us", 1, 2), Column("rps", "requests/s"), Column("p99_us", "p99 ms", 1000, 2))
_LARGE = (Column("bytes_s", "MB/s", 1e6), Column("cpu_us", "CPU ms", 1000, 1))
_CODED = (Column("size", "bytes"), *_REQUEST)
_COUNTED = (Column("instructions", "instructions"),)
# Requests whose instructions are counted, and those before them.
COUNTED_REQUESTS = 6_400


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    path: str
    columns: tuple[Column, ...] = _REQUEST
    concurrency: int = 64
    level: int = 1
    # Contenders that take part; empty: those without an addition.
    only: tuple[str, ...] = ()

    @property
    def coded(self) -> bool:
        return self.columns is _CODED

    @property
    def target(self) -> Target:
        return Target(self.path, self.concurrency, ("Accept-Encoding: gzip",) if self.coded else ())

    def has(self, contender: str) -> bool:
        return contender in self.only if self.only else not contender.startswith("apus-")


_APUS = ("apus", "apus-log", "apus-metrics")
CASES = (
    Case("small", "A file of 1 KiB, 64 connections", "/small.txt"),
    Case("large", "A file of 100 MiB, 4 connections", "/large.bin", _LARGE, 4),
    *(Case(f"gzip-{level}", f"32 KiB of JSON by gzip, level {level}, 64 connections", "/data", _CODED, level=level) for level in LEVELS),
    Case("hello", "Hello world, 64 connections", "/hello", only=(*_APUS, "nginx", "swoole")),
    Case("counted", "Instructions of a hello world outside the kernel, counted by callgrind, 64 connections", "/hello", _COUNTED, only=_APUS),
)


class FrontResults(Document):
    def times(self, case: str, contender: str) -> str:
        ratio = None if contender == "nginx" else self.ratio(case, "cpu_us", contender, "nginx")
        return "" if ratio is None else f"{ratio:.2f}"

    def coded(self, level: int) -> float | None:
        """CPU of Apus at a level, as so much of what an answer of the same size costs nginx: between the two levels whose
        sizes are next to it, in proportion; at the nearest one where it lies outside."""
        size, ours = (self.value(f"gzip-{level}", "apus", key) for key in ("size", "cpu_us"))
        theirs = [[self.value(f"gzip-{other}", "nginx", key) for key in ("size", "cpu_us")] for other in LEVELS]
        points = sorted(point for point in theirs if None not in point)
        if size is None or ours is None or not points:
            return None
        return ours / between(points, size)

    def aims(self) -> list[Aim]:
        def small(peer: str) -> float | None:
            return self.ratio("small", "cpu_us", "apus", peer)

        def extra(name: str, case: str, key: str) -> float | None:
            times = self.ratio(case, key, name, "apus")
            return times and (times - 1) * 100

        def added(what: str, name: str, limit: float) -> list[Aim]:
            return [
                Aim(f"{what} on, more instructions of a hello world, %, at most", extra(name, "counted", "instructions"), limit),
                Aim(f"{what} on, more CPU of a hello world, %, at most", extra(name, "hello", "cpu_us"), limit),
            ]

        return [
            Aim("CPU, a file of 1 KiB: Apus / nginx, at most", small("nginx"), 1.1),
            Aim("CPU, a file of 1 KiB: Apus / Swoole, at most", small("swoole"), 1),
            Aim("Throughput, a file of 100 MiB: Apus / nginx, at least", self.ratio("large", "bytes_s", "apus", "nginx"), 0.95, True),
            *(
                Aim(f"CPU, JSON by gzip, level {level} of Apus: / nginx at the same size, at most", self.coded(level), 1)
                for level in (1, 6)
            ),
            *added("Access log", "apus-log", 3),
            *added("Figures", "apus-metrics", 1),
        ]


def between(points: list[list[float]], size: float) -> float:
    """What the points (sizes and costs, by size) say of a size."""
    below = [point for point in points if point[0] <= size]
    above = [point for point in points if point[0] >= size]
    if not below or not above:
        return (below[-1] if below else above[0])[1]
    (low, first), (high, last) = below[-1], above[0]
    return first if high == low else first + (last - first) * (size - low) / (high - low)


def _intro(results: Document) -> str:
    options = results.document["options"]
    return (
        f"Measurements of {options['seconds']} s, the median of {options['rounds']} interleaved rounds. Generated by `make bench-front`. "
        "One worker on one core, wrk on the other; CPU is that of all the server's processes, user and system, for one answer. "
        "nginx has sendfile and open_file_cache; it compresses a file, the others what a program answers. No cost of a hello world "
        "is compared across servers: nginx runs no program for it."
    )


class Front(Suite):
    NAME = "front"
    COMMAND = "bench/run front"
    ABOUT = (
        "Files of 1 KiB and 100 MiB, gzip, the access log and the server's figures, beside nginx and Swoole. Writes the raw figures "
        "by date and a Markdown table."
    )
    RESULTS = FrontResults
    REPORT = Tables("The front door", _intro, CASES, (("x nginx", FrontResults.times),))
    ORDER = ("apus", "apus-log", "apus-metrics", "nginx", "swoole")
    CASES = CASES
    QUICK = ("small", "large", "gzip-1", "hello")
    QUICK_HELP = "four cases, one round of 1 s"
    ROUNDS = (3, 1)
    SECONDS = (2, 1)
    WHOLE_SECONDS = True
    TOOLS = {"taskset": "util-linux", "wrk": "wrk", "valgrind": "valgrind"}

    def prepare(self) -> None:
        self.cores = Cores.last_two()

    @contextmanager
    def open(self, ready: list[Contender]) -> Iterator[None]:
        warn_of_busy(self.cores.server, self.cores.client)
        self.site = Path(tempfile.mkdtemp(prefix="apus-bench-front-", dir=self.options.scratch))
        self.site.chmod(0o755)
        try:
            make_site(self.site)
            with closing(Bench(self.options.scratch, self.cores)) as self.bench:
                yield
        finally:
            shutil.rmtree(self.site, ignore_errors=True)

    def settings(self) -> dict:
        return {"rounds": self.options.rounds, "seconds": self.options.seconds}

    def steps(self, ready: list[Contender]) -> list[Step]:
        return [step for step in super().steps(ready) if step.case.has(step.contender.name)]

    def rounds(self, case: Case) -> int:
        """Instructions hardly differ."""
        return 1 if case.columns is _COUNTED else self.options.rounds

    def duration(self, step: Step) -> float:
        return self.options.seconds + 1

    def measure(self, step: Step) -> dict:
        kind = "files" if "." in step.case.path else "programs"
        tokens = {"SITE": str(self.site), "LEVEL": str(step.case.level), "KIND": kind}
        if step.case.columns is _COUNTED:
            return {"instructions": self.counted(step.contender, tokens)}
        with self.bench.serving(step.contender, tokens, "/hello") as (group, port):
            size = answered(port, step.case, self.site)
            figures = self.bench.under_load(group, step.case.target, port, self.options.seconds)
        figures["size"] = size
        figures["bytes_s"] = figures["received_bytes"] / figures["seconds"]
        return figures

    def counted(self, contender: Contender, tokens: dict[str, str]) -> float:
        """Of one request: of two runs of the server, one of which answers more requests, the difference."""
        few, many = (self.instructions(contender, tokens, count) for count in (COUNTED_REQUESTS, 2 * COUNTED_REQUESTS))
        return (many - few) / COUNTED_REQUESTS

    def instructions(self, contender: Contender, tokens: dict[str, str], requests: int) -> int:
        """Of all the server's processes from start to end."""
        with tempfile.TemporaryDirectory(prefix="apus-bench-front-", dir=self.options.scratch) as out:
            tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}/%p"]
            counting = replace(contender, start=[[*tool, *argv] for argv in contender.start])
            with self.bench.serving(counting, tokens, "/hello") as (_, port):
                ask(port, "/hello", requests)
            return sum(totals(file) for file in Path(out).iterdir())

    def line(self, step: Step, figures: dict) -> str:
        shown = ", ".join(f"{column.head} {cell(figures.get(column.key), column)}" for column in step.case.columns)
        if "errors" not in figures:
            return shown
        errors = {name: count for name, count in figures["errors"].items() if count}
        return f"{shown}, errors {errors or 0}, of others {figures['foreign_load']:.0%}"


def make_site(site: Path) -> None:
    random = Random(1)
    (site / "small.txt").write_bytes(random.randbytes(SMALL_BYTES // 2).hex().encode())
    block = random.randbytes(1 << 20)
    with (site / "large.bin").open("wb") as file:
        for _ in range(LARGE_BYTES >> 20):
            file.write(block)
    rows: list[dict] = []
    while len(text := json.dumps(rows)) < DATA_BYTES:
        rows.append(
            {
                "id": len(rows) + 1,
                "name": f"Campaign {random.choice(('spring', 'summer', 'autumn', 'winter'))} {random.randrange(10_000)}",
                "advertiser": random.randrange(1, 500),
                "impressions": random.randrange(10_000_000),
                "clicks": random.randrange(100_000),
                "active": random.random() < 0.7,
                "updated": f"2026-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}T{random.randrange(24):02}:00:00Z",
            }
        )
    (site / "data.json").write_text(text)


def answered(port: int, case: Case, site: Path) -> int:
    """Raises WrongAnswer unless the answer is the right one; how long its body is."""
    right = {"/hello": lambda: b"Hello, World!", "/data": (site / "data.json").read_bytes}
    expected = right.get(case.path, (site / case.path.strip("/")).read_bytes)()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", case.path, headers={"Accept-Encoding": "gzip"} if case.coded else {})
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    coding = answer.headers.get("Content-Encoding")
    if answer.status != 200 or coding != ("gzip" if case.coded else None):
        raise WrongAnswer(f"{case.path}: status {answer.status}, Content-Encoding {coding}")
    if (gzip.decompress(body) if coding else body) != expected:
        raise WrongAnswer(f"{case.path}: wrong body ({len(body)} bytes)")
    return len(body)


def ask(port: int, path: str, times: int) -> None:
    """As many requests at a time as there are connections in the other cases: work that is done once for all answers that
    wait is shared as it is there."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 30)) for _ in range(64)]
        for first in range(0, times, len(sockets)):
            asked = sockets[: times - first]
            for one in asked:
                one.sendall(request)
            for one in asked:
                if not one.recv(65536).startswith(b"HTTP/1.1 200 "):
                    raise WrongAnswer(f"{path}: the answer is not 200")


def totals(file: Path) -> int:
    """Instructions that a file of callgrind's tells of."""
    return sum(int(line.split()[1]) for line in file.read_text(errors="replace").splitlines() if line.startswith("totals:"))
