"""Benchmarks whose contenders are programs that do one case and print their own figures as a line of JSON."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import contenders, page, procs
from .contenders import Contender
from .document import Document
from .load import Failed
from .measure import run_directory
from .suite import Step, Suite, above_zero


@dataclass(frozen=True)
class Column:
    key: str
    head: str
    divisor: float = 1
    digits: int = 0


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    columns: tuple[Column, ...] = ()


class Programs(Suite):
    """A program a contender and case, pinned, with the case's name and the number of things to do."""

    # How long one may take.
    TIMEOUT_SECONDS = 1800
    # Figures without which a line is none.
    NEEDED: tuple[str, ...]

    def prepare(self) -> None:
        # Two cores, as the aims were set for; all processes of a contender share them.
        self.cores = sorted(os.sched_getaffinity(0))[-2:]

    @contextmanager
    def open(self, ready: list[Contender]) -> Iterator[None]:
        self.scratch = Path(tempfile.mkdtemp(prefix=f"apus-bench-{self.NAME}-", dir=self.options.scratch))
        try:
            self.tokens = self.more_tokens()
            yield
        finally:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def more_tokens(self) -> dict[str, str]:
        """Tokens of all measurements, before the first of them."""
        return {}

    def count(self, case) -> int:
        """How many things one measurement does."""
        return self.options.count

    def measure(self, step: Step) -> dict:
        with run_directory(self.scratch) as run:
            tokens = {**step.contender.tokens(), **self.tokens, "RUN": str(run)}
            tokens |= {"CASE": step.case.name, "N": str(self.count(step.case))}
            return self.measure_with(step.contender, tokens, run)

    def measure_with(self, contender: Contender, tokens: dict[str, str], run: Path) -> dict:
        contender.render(run, tokens)
        done = subprocess.run(
            procs.pinned(",".join(map(str, self.cores)), [contenders.fill(word, tokens) for word in contender.start[0]]),
            env=contenders.environment(contender.env),
            cwd=run,
            capture_output=True,
            text=True,
            check=False,
            timeout=self.TIMEOUT_SECONDS,
        )
        return self.read(done)

    def read(self, done: subprocess.CompletedProcess) -> dict:
        """The exit code says nothing: some programs kill themselves rather than free millions of values."""
        return parse(done.stdout, done.stderr, self.NEEDED)


def parse(stdout: str, stderr: str, needed: tuple[str, ...]) -> dict:
    """The last line is the figures; a program may print warnings before it, and say among them what was wrong."""
    try:
        figures = json.loads(stdout.strip().splitlines()[-1])
        if all(figures[key] > 0 for key in needed) and not figures.get("wrong"):
            return figures
        if isinstance(figures.get("wrong"), str):
            raise Failed(figures["wrong"])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        pass
    said = (stderr.strip() or stdout.strip() or "nothing").splitlines()[-1]
    raise Failed(f"no good figures; it said: {said}")


class Tables:
    """The page of a benchmark whose cases name the columns of their tables."""

    def __init__(self, title: str, intro: Callable[[Document], str], cases: tuple[Case, ...], extra: tuple = ()):
        # `extra`: more columns, each a head and what stands in it for results, a case and a contender.
        self._title, self._intro, self._cases, self._extra = title, intro, cases, extra

    def markdown(self, results: Document) -> str:
        taken = f"{page.taken(results, cores=False)}, two cores. {self._intro(results)}"
        about = results.document["contenders"].values()
        versions = "; ".join(sorted({one["version"].splitlines()[0] for one in about if one.get("version")}))
        parts = [f"# {self._title}", taken, f"Versions: {versions}."]
        for case in self._cases:
            if rows := self.table(results, case):
                parts += [f"## {case.title}", rows]
        aims = results.aims()
        return page.page(*parts, *(["## Aims", page.aims(aims)] if aims else ()), *results.notes())

    def terminal(self, results: Document) -> str:
        tables = [(case.title, self.table(results, case)) for case in self._cases]
        aims = results.aims()
        return "\n\n".join([page.blocks([*tables, *([("Aims", page.aims(aims))] if aims else ())]), *results.notes()])

    def table(self, results: Document, case: Case) -> str:
        heads = ["", *(column.head for column in case.columns), *(head for head, _ in self._extra)]
        return page.table(
            heads, (self._row(results, case, name) for name in results.titles if results.runs(case.name, name))
        )

    def _row(self, results: Document, case: Case, name: str) -> list[str]:
        cells = [cell(results.value(case.name, name, column.key), column) for column in case.columns]
        return [results.titles[name], *cells, *(make(results, case.name, name) for _, make in self._extra)]


class TabledPrograms(Programs):
    """Programs that all do the same number of things."""

    # What one measurement does, in full and with --quick, and what that is called.
    COUNT: tuple[int, int]
    UNIT: str
    SECONDS = (2.0, 0.5)
    TOOLS = {"taskset": "util-linux", "php": "php8.2-cli"}
    REPORT: Tables

    @classmethod
    def arguments(cls, add) -> None:
        add("--count", type=above_zero(int), metavar="N", help=f"{cls.UNIT} (default {cls.COUNT[0]:,})")

    def prepare(self) -> None:
        super().prepare()
        self.options.count = self.options.count or self.COUNT[self.options.quick]

    def more_tokens(self) -> dict[str, str]:
        return {"SECONDS": str(self.options.seconds)}

    def settings(self) -> dict:
        options = self.options
        return {"count": options.count, "rounds": options.rounds, "seconds": options.seconds, "cores": self.cores}

    def line(self, step: Step, figures: dict) -> str:
        return ", ".join(f"{column.head} {cell(figures.get(column.key), column)}" for column in step.case.columns)


def cell(value: float | None, column: Column) -> str:
    return "" if value is None else f"{value / column.divisor:,.{column.digits}f}"
