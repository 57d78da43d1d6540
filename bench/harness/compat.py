"""Code written for Swoole, unmodified, under Apus and under Swoole in one run: the programs of the other benchmarks'
Swoole contenders with the one module or the other, Laravel's and Symfony's page `/` beside php-fpm."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from . import contenders, machine, page, procs
from .contenders import BENCH, Contender, fill
from .db import mariadb
from .db import plan as db_plan
from .db.measure import Cores as DbCores
from .db.measure import DbBench
from .document import Aim, Document
from .measure import Bench, Cores, run_directory
from .programs import Column, cell, parse
from .scenarios import Scenario
from .suite import Step, Suite
from .ws import client
from .ws import plan as ws_plan
from .ws.measure import WsBench

APPS = BENCH / "compat" / "apps"
SHARE = Path("/usr/share/php")
# PHP's extensions that the frameworks need, and Debian's places of them.
EXTENSIONS = ("ctype", "iconv", "mbstring", "tokenizer", "dom", "xml", "fileinfo", "posix")
FRAMEWORKS = {
    "laravel": (SHARE / "Illuminate" / "autoload.php", "php-laravel-framework"),
    "symfony": (SHARE / "Symfony" / "Bundle" / "FrameworkBundle" / "autoload.php", "php-symfony-framework-bundle"),
}
# These are PHP and the kernel to 97 %: what is left differs by less than the rounds do (decision 0033).
NOISE = 1.05
# Those that start PHP anew for each request, or do it themselves: they have a program of their own here.
ANEW = ("fpm", "frankenphp")
LOAD = Scenario("hello", 64, True)
W5_CONCURRENCY = 100
POOL = 120
COUNTS = {"table": 1_000_000, "task": 50_000}
QUICK_DIVISOR = 10
COLUMNS = (
    Column("cpu_us", "CPU us", 1, 2),
    Column("rate", "a second"),
    Column("worker_kib", "worker MiB", 1024, 1),
    Column("pss_kib", "all MiB", 1024, 1),
)


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    # What measures it, and who can do it.
    kind: str
    who: tuple[str, ...] = ("apus", "native", "swoole")


CASES = (
    Case("hello", "Hello world", "web", ("apus", "native", "swoole", "fpm", "frankenphp")),
    *(Case(f"w5-{test.name}", f"W5: {test.title}", "db") for test in db_plan.TESTS[:11]),
    Case("ws-echo", "WebSocket echo, 64 connections", "ws"),
    Case("table", "Table: get, incr, exist, set", "table", ("apus", "swoole")),
    Case("task", "Task, 64 on the way", "task"),
    Case("laravel", "Laravel 8, the page /", "app", ("apus", "swoole", "fpm", "frankenphp")),
    Case("symfony", "Symfony 5.4, the page /", "app", ("apus", "swoole", "fpm", "frankenphp")),
)
FOLDERS = {"web": BENCH / "contenders", "db": BENCH / "db" / "contenders", "ws": BENCH / "ws" / "contenders"}
FOLDERS["task"] = BENCH / "tasks" / "contenders"


def under_apus(theirs: Contender) -> Contender:
    """The same program with Apus' module in place of Swoole's."""
    module = ["extension=@APUS_SO@", "-d", "apus.swoole_compat=1"]
    start = []
    for argv in theirs.start:
        at = argv.index("extension=@SWOOLE_SO@")
        start.append([*argv[:at], *module, *argv[at + 1 :]])
    return replace(theirs, start=start, needs=[])


def program(step: Step) -> Contender:
    """What the contender of this run runs in a case of another benchmark."""
    who = step.contender.name
    name = {"apus": "swoole", "native": "apus"}.get(who, who)
    found = next(one for one in contenders.load_all(FOLDERS[step.case.kind], ()) if one.name == name)
    return under_apus(found) if who == "apus" else found


def by_php(who: str, *words: str) -> Contender:
    """A program of this benchmark, with one module or the other."""
    argv = ["php", "-c", "@RUN@/php.ini", "-d", "extension=@SWOOLE_SO@", *words]
    files, env = ["../contenders/_php/php.ini"], {"PHP_INI_SCAN_DIR": ""}
    found = contenders.with_modules(Contender("swoole", BENCH / "compat", "", [argv], files, env=env))
    return under_apus(found) if who == "apus" else found


class CompatResults(Document):
    def aims(self) -> list[Aim]:
        found = []
        for name, title in self.cases.items():
            for key, what in (("cpu_us", "CPU"), ("worker_kib", "memory of a worker")):
                if any(key in run for run in self.runs(name, "apus")):
                    ratio = self.ratio(name, key, "apus", "swoole")
                    limit = NOISE if key == "cpu_us" and name in FRAMEWORKS else 1
                    found.append(Aim(f"{title}, {what}: Apus / Swoole, at most", ratio, limit))
        hello = self.ratio("hello", "cpu_us", "apus", "native")
        return [*found, Aim("Hello world, CPU: names of Swoole / own names, at most", hello, 1.02)]


class _Report:
    """A table a case; in each the ratios to Swoole."""

    @staticmethod
    def tables(results: Document) -> list[tuple[str, str]]:
        heads = ["", *(column.head for column in COLUMNS), "CPU / Swoole", "worker / Swoole"]
        found = []
        for case, title in results.cases.items():
            rows = (_Report.row(results, case, who) for who in results.titles if results.runs(case, who))
            found.append((title, page.table(heads, rows)))
        return found

    @staticmethod
    def row(results: Document, case: str, who: str) -> list[str]:
        figures = [cell(results.value(case, who, column.key), column) for column in COLUMNS]
        ratios = [page.number(results.ratio(case, key, who, "swoole"), 2) for key in ("cpu_us", "worker_kib")]
        return [results.titles[who], *figures, *ratios]

    @staticmethod
    def markdown(results: Document) -> str:
        rounds = results.document["options"]["rounds"]
        intro = (
            f"{page.taken(results)}, the median of {rounds} interleaved rounds. Generated by `make bench-compat`. "
            "The same unmodified programs run under Swoole and under Apus with `apus.swoole_compat`. CPU is user and "
            "system time for one request, message, operation or task; worker MiB is the resident memory of the process "
            "that works most, which serves; all MiB that of all processes, what they share counted once (PSS)."
        )
        parts = [part for title, rows in _Report.tables(results) if rows for part in (f"## {title}", rows)]
        aims = ("## Aims", page.aims(results.aims()))
        return page.page("# Code written for Swoole", intro, results.versions(), *parts, *aims, *results.notes())

    @staticmethod
    def terminal(results: Document) -> str:
        tables = [*_Report.tables(results), ("Aims", page.aims(results.aims()))]
        return "\n\n".join([page.blocks(tables), *results.notes()])


class Compat(Suite):
    NAME = "compat"
    COMMAND = "bench/run compat"
    ABOUT = (
        "The same unmodified programs under Apus and under Swoole (SWOOLE_SO): hello world, W5's eleven, WebSocket "
        "echo, tables, tasks; Laravel and Symfony beside php-fpm and FrankenPHP (FRANKENPHP_BIN). Writes the raw "
        "figures by date and a Markdown table."
    )
    RESULTS = CompatResults
    REPORT = _Report
    ORDER = ("apus", "native", "swoole", "fpm", "frankenphp")
    CASES = CASES
    QUICK = ("hello", "w5-basic", "w5-basic_query_with_pool", "ws-echo", "table", "task", "laravel", "symfony")
    QUICK_HELP = "eight cases, one round of 1 s: about two minutes"
    ROUNDS = (3, 1)
    SECONDS = (2, 1)
    WHOLE_SECONDS = True
    TOOLS = {"taskset": "util-linux", "wrk": "wrk", "ab": "apache2-utils", "php": "php8.2-cli"}

    def prepare(self) -> None:
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2:
            raise ValueError("two cores are needed: one for the server, one for the load generator")
        self.server_core, self.client_core = allowed[-2], allowed[-1]
        # With two cores the database shares that of the load generator.
        self.database_cores = ",".join(map(str, allowed[:-2])) or str(self.client_core)
        self.ws_cores = ws_plan.Cores.of(allowed)

    def needs(self, kind: str) -> bool:
        return any(case.kind == kind for case in self.cases())

    def missing(self) -> list[str]:
        lacking = mariadb.missing() if self.needs("db") else []
        lacking += machine.absent({"cargo": "rustup"}) if self.needs("ws") else []
        apps = [FRAMEWORKS[case.name] for case in self.cases() if case.kind == "app"]
        return lacking + [package for file, package in apps if not file.exists()]

    @contextmanager
    def open(self, ready: list[Contender]) -> Iterator[None]:
        scratch = self.options.scratch
        with ExitStack() as stack:
            self.bench = stack.enter_context(closing(Bench(scratch, Cores(self.server_core, self.client_core))))
            if self.needs("db"):
                cores = DbCores(str(self.server_core), self.database_cores, self.client_core)
                self.db = stack.enter_context(closing(DbBench(scratch, cores, db_plan.Pool(1, POOL), True)))
                self.db.database.start()
            if self.needs("ws"):
                built = client.build(Path(ready[0].tokens()["OUT"]))
                self.ws = stack.enter_context(closing(WsBench(scratch, self.ws_cores, built)))
            yield

    def settings(self) -> dict:
        chief = {name: getattr(self.options, name) for name in ("rounds", "seconds", "quick")}
        cores = {name: getattr(self, name) for name in ("server_core", "client_core", "database_cores")}
        return {**chief, **cores}

    def steps(self, ready: list[Contender]) -> list[Step]:
        return [step for step in super().steps(ready) if step.contender.name in step.case.who]

    def described(self) -> dict:
        return {"cases": [{"name": case.name, "title": case.title} for case in self.cases()]}

    def measure(self, step: Step) -> dict:
        figures = getattr(self, f"_{step.case.kind}")(step)
        figures.setdefault("rate", figures.get("rps"))
        return figures

    def line(self, step: Step, figures: dict) -> str:
        return ", ".join(f"{column.head} {cell(figures.get(column.key), column)}" for column in COLUMNS)

    def _web(self, step: Step) -> dict:
        if step.contender.name in ANEW:
            return self._served(step, step.contender)
        return self.bench.measure(program(step), LOAD, self.options.seconds)

    def _db(self, step: Step) -> dict:
        test = next(one for one in db_plan.TESTS if f"w5-{one.name}" == step.case.name)
        return self.db.measure(program(step), test, W5_CONCURRENCY, self.options.seconds, None)

    def _ws(self, step: Step) -> dict:
        case = next(one for one in ws_plan.CASES if one.name == "echo-64")
        return self.ws.measure(program(step), case, self.options.seconds)

    def _app(self, step: Step) -> dict:
        loaded = [word for name in EXTENSIONS for word in ("-d", f"extension={name}")]
        own = by_php(step.contender.name, *loaded, str(APPS / "server.php"), "@PORT@", "@FILES@", step.case.name)
        return self._served(step, step.contender if step.contender.name in ANEW else own)

    def _served(self, step: Step, contender: Contender) -> dict:
        """The page `/` of a server that has nothing else."""
        tokens = {"CASE": step.case.name, "APPS": str(APPS)}
        return self.bench.measure_page(contender, LOAD, self.options.seconds, tokens)

    def _table(self, step: Step) -> dict:
        return self._printed(by_php(step.contender.name, str(BENCH / "compat" / "table.php"), "@N@"), step, {})

    def _task(self, step: Step) -> dict:
        figures = self._printed(program(step), step, {"CASE": "small"})
        return {**figures, "rate": figures["tasks_s"]}

    def _printed(self, contender: Contender, step: Step, tokens: dict[str, str]) -> dict:
        """The figures that a program prints itself."""
        count = COUNTS[step.case.name] // (QUICK_DIVISOR if self.options.quick else 1)
        with run_directory(self.options.scratch) as run:
            tokens = {**contender.tokens(), **tokens, "RUN": str(run), "N": str(count)}
            contender.render(run, tokens)
            argv = [fill(word, tokens) for word in contender.start[0]]
            both = f"{self.server_core},{self.client_core}"
            done = subprocess.run(
                procs.pinned(both, argv),
                env=contenders.environment(contender.env),
                cwd=run,
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
            )
        return parse(done.stdout, done.stderr, ("cpu_us",))
