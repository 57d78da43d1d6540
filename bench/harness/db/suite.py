"""The benchmark of applications with a database: its tests, and the order of things."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..contenders import Contender
from ..suite import Step, Suite, above_zero, chosen, names
from . import mariadb, plan, report
from .measure import Cores, DbBench
from .results import DbResults

# Start, verification, pilot and stop of one measurement, seconds; for the estimate only.
OVERHEAD_SECONDS = 2.6
# The test with the aims is measured more often; the others once, which tells orders of magnitude.
AIMED_ROUNDS = 3


@dataclass(frozen=True)
class At:
    """A test at a number of connections."""

    test: plan.Test
    concurrency: int

    @property
    def name(self) -> str:
        return f"{self.test.name}-c{self.concurrency}"


class Databases(Suite):
    NAME = "db"
    COMMAND = "bench/run db"
    ABOUT = (
        "Eleven tests of an application with a database (W5): `ab -k` on each contender, MariaDB beside it on cores of its own. "
        "Writes the raw figures by date and a Markdown table."
    )
    RESULTS = DbResults
    REPORT = report
    ORDER = ("apus", "swoole", "fpm", "apache")
    CASES = plan.TESTS
    QUICK = plan.QUICK
    KIND = "tests"
    QUICK_HELP = "five tests at c=100: about a minute"
    ROUNDS = (None, None)
    SECONDS = (1.0, 1.0)
    TOOLS = {"ab": "apache2-utils", "taskset": "util-linux"}
    RESUMED = ("seconds", "requests", "workers", "pool", "unix", "server_cores", "database_cores", "client_core")

    @classmethod
    def arguments(cls, add) -> None:
        number = above_zero(int)
        add("--concurrency", metavar="N,M", help="connections of the load generator (default 100,500,1000)")
        add("--requests", type=number, metavar="N", help="a fixed number in place of a length; W5 was taken with 10000")
        add("--workers", type=number, metavar="N", default=1, help="workers of Apus and Swoole (default 1)")
        add("--pool", type=number, metavar="N", default=120, help="pooled connections of each (default 120)")
        add("--unix", action="store_true", help="reach MariaDB over its Unix socket (default: TCP over 127.0.0.1)")
        add("--server-cores", metavar="LIST", help="cores of the servers (default: the last but one)")
        add("--database-cores", metavar="LIST", help="cores of MariaDB (default: all before those; of two cores ab's)")
        add("--client-core", type=int, metavar="N", help="core of ab (default: the last)")

    def prepare(self) -> None:
        self.cores = self._cores()

    def missing(self) -> list[str]:
        return mariadb.missing()

    @contextmanager
    def open(self, ready: list[Contender]) -> Iterator[None]:
        options = self.options
        with closing(
            DbBench(options.scratch, self.cores, plan.Pool(options.workers, options.pool), not options.unix)
        ) as self.bench:
            self.bench.database.start()
            yield

    def cases(self) -> list[At]:
        """All tests at one concurrency, then at the next."""
        tests = chosen(self.CASES, self.patterns(), self.KIND)
        return [At(test, concurrency) for concurrency in self.concurrencies() for test in tests]

    def concurrencies(self) -> list[int]:
        text = self.options.concurrency or (str(plan.QUICK_CONCURRENCY) if self.options.quick else "")
        try:
            wanted = [int(word) for word in names(text)] or list(plan.CONCURRENCIES)
        except ValueError as error:
            raise ValueError(f"--concurrency takes numbers such as 100,500; not {text!r}") from error
        if min(wanted) < 1 or max(wanted) > 2000:
            raise ValueError("--concurrency: from 1 to 2000")
        return wanted

    def rounds(self, case: At) -> int:
        if self.options.rounds:
            return self.options.rounds
        return AIMED_ROUNDS if case.test.name == plan.POOLED_QUERY and not self.options.quick else 1

    def about_machine(self) -> dict:
        return super().about_machine() | {"database": self.bench.database.version()}

    def settings(self) -> dict:
        chief = ("seconds", "requests", "workers", "pool", "unix")
        return {
            **{name: getattr(self.options, name) for name in chief},
            "server_cores": self.cores.server,
            "database_cores": self.cores.database,
            "client_core": self.cores.client,
        }

    def described(self) -> dict:
        return {}

    def duration(self, step: Step) -> float:
        return plan.seconds(step.case.test, self.options.seconds) + OVERHEAD_SECONDS

    def measure(self, step: Step) -> dict:
        options, at = self.options, step.case
        seconds = plan.seconds(at.test, options.seconds)
        return self.bench.measure(step.contender, at.test, at.concurrency, seconds, options.requests)

    def line(self, step: Step, figures: dict) -> str:
        failures = {name: count for name, count in figures["errors"].items() if count}
        log = f"\n{figures['log']}" if "log" in figures else ""
        return (
            f"{figures['rps']:,.0f} req/s, {figures['cpu_us']:.0f} us/req + {figures['database_us']:.0f} in MariaDB, "
            f"p99 {figures['p99_us'] / 1000:.1f} ms, failures {failures or 0}, cores: server "
            f"{figures['server_load']:.2f}, MariaDB {figures['database_load']:.2f}, ab {figures['client_load']:.2f}{log}"
        )

    def _cores(self) -> Cores:
        options = self.options
        server, database, client = plan.cores(sorted(os.sched_getaffinity(0)))
        client = client if options.client_core is None else options.client_core
        return Cores(options.server_cores or server, options.database_cores or database, client)
