"""One contender in one test at one concurrency: start, verify, warm up, measure, stop."""

import shutil
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from .. import procs
from ..contenders import BENCH, Contender, fill
from ..measure import Ports, await_answer, files_directory, run_directory, settle, started
from . import load, pace
from .mariadb import MariaDb
from .plan import Pool, Test, pool_queries
from .verify import verify

APP = BENCH / "db" / "app"
CLASSES = 100
# Children of mod_php above the connections of the load generator: for the verification's, and for those that end.
SPARE_CHILDREN = 16


@dataclass(frozen=True)
class Cores:
    """Lists as taskset reads them (`0,1`)."""

    server: str
    database: str
    client: int


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    test: Test
    port: int
    concurrency: int
    seconds: float
    # A fixed number, in place of as many as take `seconds`.
    requests: int | None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.test.path}"


class DbBench:
    """The scratch directory with the application and the database; one contender runs at a time."""

    def __init__(self, scratch: Path, cores: Cores, pool: Pool, over_tcp: bool):
        self._cores, self._pool, self._ports = cores, pool, Ports()
        self._scratch = Path(tempfile.mkdtemp(prefix="apus-bench-db-", dir=scratch))
        # Servers that give up root must reach the application and the run directory.
        self._scratch.chmod(0o755)
        self._app, self._classes = self._scratch / "app", self._scratch / "classes"
        self._table = self._scratch / "ab.csv"
        shutil.copytree(APP, self._app)
        write_classes(self._classes)
        self.database = MariaDb(self._scratch, cores.database, self._ports.free(), over_tcp)
        # Queries a second of the database alone, by how long they sleep and on how many connections.
        self._alone: dict[tuple[float, int], float] = {}

    def close(self) -> None:
        self.database.stop()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def measure(self, contender: Contender, test: Test, concurrency: int, seconds: float, requests: int | None) -> dict:
        connections = self._pool.of(contender.name, concurrency)
        allowed = self._pool_limit(test, pool_queries(test, connections, concurrency))
        with run_directory(self._scratch) as run:
            port = self._ports.free()
            with started(contender, run, self._tokens(run, port, concurrency), self._cores.server) as group:
                await_answer(group, port, "/basic")
                verify(port, test)
                figures = self._under_load(group, Wanted(test, port, concurrency, seconds, requests))
                if any(figures["errors"].values()):
                    figures["log"] = group.log_tail(20)
        return {**figures, "connections": connections, "pool_limit_rps": allowed}

    def _pool_limit(self, test: Test, queries: int | None) -> float | None:
        """Requests a second that the sleeping queries leave room for."""
        if queries is None:
            return None
        key = (test.sleep_seconds, queries)
        if key not in self._alone:
            self._alone[key] = pace.alone(self.database, *key, self._cores.server)
        return self._alone[key] / test.sleeps

    def _under_load(self, group: procs.Group, wanted: Wanted) -> dict:
        number = self._warm_up(wanted)
        settle(group)
        self.database.settle()
        server, database = procs.cpu_seconds(group.tree()), self.database.cpu_seconds()
        with pace.Pace(self.database) if wanted.test.sleeps else nullcontext() as asked:
            began = time.monotonic()
            figures = load.run(wanted.url, number, wanted.concurrency, self._cores.client, self._table)
            ended = time.monotonic()
        stats = group.tree()
        server, database = procs.cpu_seconds(stats) - server, self.database.cpu_seconds() - database
        rss, pss = procs.memory_kib(stats)
        elapsed = ended - began
        return {
            **figures.record(),
            "rps": figures.requests / figures.seconds if figures.seconds else 0.0,
            "steady_rps": asked and steady(asked, wanted.test, figures, began, ended),
            "cpu_us": server / figures.requests * 1e6 if figures.requests else None,
            "database_us": database / figures.requests * 1e6 if figures.requests else None,
            # Shares of one core: 2.0 is two cores full.
            "server_load": server / elapsed,
            "database_load": database / elapsed,
            "client_load": figures.client_cpu / elapsed,
            "rss_kib": rss,
            "pss_kib": pss,
            "worker_kib": procs.busiest_kib(stats),
            "processes": len(stats),
        }

    def _warm_up(self, wanted: Wanted) -> int:
        """How many requests are to be sent."""
        rate = load.pilot(wanted.url, wanted.concurrency, self._cores.client, self._table)
        if wanted.requests:
            return max(wanted.concurrency, wanted.requests)
        return load.requests_for(rate, wanted.seconds, wanted.concurrency, wanted.test.sleeps > 0)

    def _tokens(self, run: Path, port: int, concurrency: int) -> dict[str, str]:
        return {
            **self.database.tokens(),
            "FILES": str(files_directory(run)),
            "APP": str(self._app),
            "CLASSES": str(self._classes),
            "PORT": str(port),
            "WORKERS": str(self._pool.workers),
            "POOL": str(self._pool.size),
            "CONNECTIONS": str(self._pool.connections),
            "CHILDREN": str(concurrency + SPARE_CHILDREN),
        }


def steady(asked: pace.Pace, test: Test, figures, began: float, ended: float) -> float | None:
    """Requests a second while all connections had one under way, by the queries that they sent."""
    queries = pace.between(asked.samples, began + figures.p50_us / 1e6, ended - figures.p99_us / 1e6)
    return queries and queries / test.sleeps


def write_classes(folder: Path) -> None:
    """A hundred classes in files of their own, all alike but for their name."""
    folder.mkdir()
    template = (APP / "Model.php.in").read_text()
    for number in range(CLASSES):
        (folder / f"Model{number}.php").write_text(fill(template, {"NUMBER": str(number)}))
