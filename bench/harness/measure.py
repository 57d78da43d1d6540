"""One contender under one load: start, verify, warm up, measure, stop."""

import http.client
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from . import load, procs
from .contenders import Contender, environment, fill
from .load import Failed
from .scenarios import ECHO_BYTES, ROUTES, UPLOAD_BYTES, Scenario, Target
from .verify import WrongAnswer, verify

START_SECONDS = 15.0
SETTLE_SECONDS = 15.0
WARM_UP_SECONDS = 0.3
# A framework's: every process that PHP is started anew in loads hundreds of classes first.
PAGE_WARM_UP_SECONDS = 3.0
# Below the ephemeral range, so that no client connection of the last run holds the port.
PORTS = range(20_000, 30_000)


class StartFailed(Failed):
    """The server did not start, or gave a wrong answer; with the end of its log."""


@dataclass(frozen=True)
class Cores:
    server: int
    client: int

    @classmethod
    def last_two(cls) -> "Cores":
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2:
            raise ValueError("two cores are needed: one for the server, one for the load generator")
        return cls(allowed[-2], allowed[-1])


class Bench:
    """The scratch directory and the posted files; one contender runs at a time."""

    def __init__(self, scratch: Path, cores: Cores):
        self._cores = cores
        self._scratch = Path(tempfile.mkdtemp(prefix="apus-bench-", dir=scratch))
        # Servers that give up root must reach the run directory and write where the bodies are kept.
        self._scratch.chmod(0o755)
        random = Random(1)
        self._upload, self._echo = random.randbytes(UPLOAD_BYTES), random.randbytes(ECHO_BYTES)
        self._bodies = {"upload": self._scratch / "upload.bin", "echo": self._scratch / "echo.bin"}
        self._bodies["upload"].write_bytes(self._upload)
        self._bodies["echo"].write_bytes(self._echo)
        self._ports = Ports()

    def close(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)

    def measure(self, contender: Contender, scenario: Scenario, seconds: int) -> dict:
        with run_directory(self._scratch) as run:
            files, port = files_directory(run), self._ports.free()
            tokens = {"FILES": str(files), "PORT": str(port), "CHILDREN": str(scenario.concurrency + 16)}
            with started(contender, run, tokens, self._cores.server) as group:
                await_answer(group, port)
                verify(port, files, self._upload, self._echo)
                body = self._bodies[scenario.route] if ROUTES[scenario.route].body_bytes else None
                return self.under_load(group, scenario, port, seconds, body)

    @contextmanager
    def serving(
        self, contender: Contender, tokens: dict[str, str], path: str = "/"
    ) -> Iterator[tuple[procs.Group, int]]:
        """The contender's processes and its port, when GET of the path has answered 200."""
        with run_directory(self._scratch) as run:
            port = self._ports.free()
            tokens = {"FILES": str(files_directory(run)), "PORT": str(port), **tokens}
            with started(contender, run, tokens, self._cores.server) as group:
                await_answer(group, port, path)
                yield group, port

    def measure_page(self, contender: Contender, scenario: Scenario, seconds: int, tokens: dict[str, str]) -> dict:
        """The same of a server that answers `/` alone, which has to answer 200."""
        with self.serving(contender, tokens) as (group, port):
            return self.under_load(group, scenario, port, seconds, warm_up=PAGE_WARM_UP_SECONDS)

    def under_load(
        self,
        group: procs.Group,
        scenario: Scenario | Target,
        port: int,
        seconds: int,
        body: Path | None = None,
        warm_up: float = WARM_UP_SECONDS,
    ) -> dict:
        load.warm_up(scenario, port, self._cores.client, body, warm_up)
        settle(group)
        cores = (self._cores.server, self._cores.client)
        before, cpu_before = [procs.core_busy_ticks(core) for core in cores], procs.cpu_seconds(group.tree())
        began = time.monotonic()
        figures = load.run(scenario, port, self._cores.client, body, scenario.seconds(seconds), self._scratch)
        elapsed = time.monotonic() - began
        stats = group.tree()
        cpu = procs.cpu_seconds(stats) - cpu_before
        ticks = [procs.core_busy_ticks(core) - then for core, then in zip(cores, before)]
        busy, client_busy = (count / procs.TICKS_PER_SECOND for count in ticks)
        rss, pss = procs.memory_kib(stats)
        return {
            **figures.record(),
            "rps": figures.requests / figures.seconds if figures.seconds else 0.0,
            "cpu_us": cpu / figures.requests * 1e6 if figures.requests else None,
            "server_cpu": cpu,
            "server_load": cpu / elapsed,
            "client_load": figures.client_cpu / elapsed,
            # The client's and what shares its core: a database.
            "client_core_load": client_busy / elapsed,
            # What others took of the server's core meanwhile: not zero means that the machine was not quiet.
            "foreign_load": max(0.0, busy - cpu) / elapsed,
            "rss_kib": rss,
            "pss_kib": pss,
            "worker_kib": procs.busiest_kib(stats),
            "processes": len(stats),
        }


@contextmanager
def started(contender: Contender, run: Path, tokens: dict[str, str], core: int | str) -> Iterator[procs.Group]:
    """The contender's processes, while the block runs. What fails in it is told with the end of their log."""
    tokens = {**contender.tokens(), "RUN": str(run), **tokens}
    contender.render(run, tokens)
    env = environment({name: fill(value, tokens) for name, value in contender.env.items()})
    group = procs.Group(core, env, run, run / "log")
    try:
        for argv in contender.start:
            group.start([fill(word, tokens) for word in argv])
        yield group
    except Failed as error:
        raise type(error)(f"{error}\n{group.log_tail()}".rstrip()) from error
    except (OSError, WrongAnswer) as error:
        raise StartFailed(f"{error}\n{group.log_tail()}".rstrip()) from error
    finally:
        group.stop()


@contextmanager
def run_directory(scratch: Path) -> Iterator[Path]:
    """A directory for one run; servers that give up root must reach it."""
    run = Path(tempfile.mkdtemp(prefix="run-", dir=scratch))
    run.chmod(0o755)
    try:
        yield run
    finally:
        shutil.rmtree(run, ignore_errors=True)


def files_directory(run: Path) -> Path:
    """Where a server may write."""
    files = run / "files"
    files.mkdir()
    files.chmod(0o777 if os.getuid() == 0 else 0o700)
    return files


class Ports:
    def __init__(self):
        self._last = PORTS[os.getpid() % 5000]

    def free(self) -> int:
        """A new port for each run: its address pairs have no connection left in TIME-WAIT."""
        for _ in PORTS:
            self._last = self._last + 1 if self._last + 1 in PORTS else PORTS.start
            with socket.socket() as probe:
                try:
                    probe.bind(("127.0.0.1", self._last))
                    return self._last
                except OSError:
                    continue
        raise StartFailed("no free port between 20000 and 29999")


def await_answer(group: procs.Group, port: int, path: str = "/") -> None:
    """A listening port is not enough: nginx listens before php-fpm does, and answers 502 until then."""
    deadline = time.monotonic() + START_SECONDS
    last = "does not listen"
    while time.monotonic() < deadline:
        if group.ended():
            raise StartFailed("the server ended at once")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status == 200:
                return
            last = f"answers {answer.status}"
        except (OSError, http.client.HTTPException) as error:
            last = f"does not answer ({error})"
        finally:
            connection.close()
        time.sleep(0.01)
    raise StartFailed(f"after {START_SECONDS:.0f} s the server {last}")


def settle(group: procs.Group) -> None:
    """Returns when the tree has stopped forking and using CPU: start-up is not what is measured."""
    deadline = time.monotonic() + SETTLE_SECONDS
    before = group.tree()
    while time.monotonic() < deadline:
        time.sleep(0.05)
        now = group.tree()
        if len(now) == len(before) and procs.cpu_seconds(now) - procs.cpu_seconds(before) <= 0.01:
            return
        before = now
