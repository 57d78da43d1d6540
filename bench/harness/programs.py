"""Benchmarks whose contenders are programs that do one case and print their own figures as a line of JSON: arguments, turns, results."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from . import cli as common
from . import contenders, procs
from .document import Document, aims_table
from .report import align
from .results import dated_path

TIMEOUT_SECONDS = 1800


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
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Suite:
    """One benchmark: who takes part, in what, how much of it."""

    name: str
    title: str
    about: str
    # What stands above the tables; from the results.
    intro: Callable[[Document], str]
    results: type[Document]
    order: tuple[str, ...]
    cases: tuple[Case, ...]
    # What one measurement does (rows, tasks), in full and with --quick, and what it is called.
    full: int
    quick: int
    unit: str
    # Figures without which a line is none.
    needed: tuple[str, ...]
    rounds: int = 1
    seconds: float = 2.0
    # Before the first measurement: the options and the scratch directory give more @TOKENS@.
    prepare: Callable[[argparse.Namespace, Path], dict[str, str]] = field(default=lambda options, scratch: {})

    @property
    def folder(self) -> Path:
        return contenders.BENCH / self.name / "contenders"

    def contenders(self) -> list[contenders.Contender]:
        return sorted(contenders.load_all(self.folder), key=lambda one: self.order.index(one.name))


def run(suite: Suite, arguments: list[str]) -> int:
    options = _arguments(suite, arguments)
    try:
        if options.list:
            common.list_contenders(suite.contenders())
            print("cases")
            for case in suite.cases:
                print(f"  {case.name:10} {case.title}")
            return 0
        if options.render:
            return _publish(suite, suite.results.load(options.render), options.out)
        return _bench(suite, options)
    except ValueError as error:
        return common.fail(str(error))
    except KeyboardInterrupt:
        return common.fail("stopped", 130)


def _arguments(suite: Suite, arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"bench/run {suite.name}", description=suite.about)
    add = parser.add_argument
    add("--quick", action="store_true", help=f"{suite.quick:,} {suite.unit}, one round; kept in results/tmp")
    add("--count", type=int, metavar="N", help=f"{suite.unit} (default {suite.full:,})")
    add("--rounds", type=int, metavar="N", help=f"rounds; the median is reported (default {suite.rounds})")
    add("--seconds", type=float, metavar="S", help=f"length of a measurement that is limited by time (default {suite.seconds:g})")
    add("--contenders", metavar="A,B", help="only these (see --list)")
    add("--out", type=Path, metavar="DIR", help="where results go (default bench/results)")
    add("--render", type=Path, metavar="FILE", help="write the table again from a results file, measure nothing")
    add("--check", action="store_true", help="exit with 1 where an aim is not met")
    add("--list", action="store_true", help="list contenders and cases")
    options = parser.parse_args(arguments)
    for name in ("count", "rounds", "seconds"):
        if getattr(options, name) is not None and getattr(options, name) <= 0:
            parser.error(f"--{name} must be more than 0")
    options.count = options.count or (suite.quick if options.quick else suite.full)
    options.rounds = options.rounds or (1 if options.quick else suite.rounds)
    options.seconds = options.seconds or (0.5 if options.quick else suite.seconds)
    options.out = options.out or (common.RESULTS / "tmp" if options.quick else common.RESULTS)
    return options


def _bench(suite: Suite, options: argparse.Namespace) -> int:
    common.require({"taskset": "util-linux", "php": "php8.2-cli"}, [])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ready, absent = common.prepare(suite.contenders(), common.names(options.contenders))
    if not ready:
        return common.fail("no contender is ready")
    # Two cores, as the aims were set for; all processes of a contender share them.
    cores = sorted(os.sched_getaffinity(0))[-2:]
    document = _document(suite, options, ready, absent, cores)
    path = dated_path(options.out, document["date"], f"{suite.name}-quick" if options.quick else suite.name)
    scratch = Path(tempfile.mkdtemp(prefix=f"apus-bench-{suite.name}-"))
    try:
        _rounds(suite, options, ready, document, path, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    results = suite.results(document)
    for case in suite.cases:
        print(f"\n{case.title}\n{align(table(results, case))}")
    print("\nAims", align(aims_table(results.aims())), *results.notes(), sep="\n")
    _publish(suite, results, options.out)
    unmet = options.check and any(aim.state != "met" for aim in results.aims())
    return 1 if document["failed"] or unmet else 0


def _rounds(suite: Suite, options, ready, document: dict, path: Path, scratch: Path) -> None:
    """The file is written after each measurement: a run that is stopped leaves what it had."""
    more = suite.prepare(options, scratch)
    plan = [(case, number, one) for case in suite.cases for number in range(1, options.rounds + 1) for one in ready]
    for done, (case, number, contender) in enumerate(plan, start=1):
        pair = f"{contender.name} in {case.name}"
        where = f"[{done}/{len(plan)}] {case.name} {number} {contender.name}"
        if pair in document["failed"]:
            continue
        tokens = {
            **contender.tokens(),
            **more,
            "CASE": case.name,
            "N": str(options.count),
            "SECONDS": str(options.seconds),
        }
        try:
            figures = measure(contender, tokens, document["options"]["cores"], suite.needed)
        except (ValueError, subprocess.TimeoutExpired) as error:
            document["failed"][pair] = str(error)
            common.say(f"{where}: FAILED, left out of this case: {error}")
        else:
            document["runs"].setdefault(case.name, {}).setdefault(contender.name, []).append(figures)
            shown = (f"{column.head} {cell(figures.get(column.key), column)}" for column in case.columns)
            common.say(f"{where}: {', '.join(shown)}")
        suite.results(document).save(path)


def measure(contender: contenders.Contender, tokens: dict[str, str], cores: list[int], needed: tuple[str, ...]) -> dict:
    argv = procs.pinned(",".join(map(str, cores)), [contenders.fill(word, tokens) for word in contender.start[0]])
    environment = contenders.environment(contender.env)
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
    return parse(done.stdout, done.stderr, needed)


def parse(stdout: str, stderr: str, needed: tuple[str, ...]) -> dict:
    """The last line is the figures. The exit code says nothing: some programs kill themselves rather than free millions of values."""
    try:
        figures = json.loads(stdout.strip().splitlines()[-1])
        if all(figures[key] > 0 for key in needed) and not figures.get("wrong"):
            return figures
    except (IndexError, KeyError, TypeError, ValueError):
        pass
    said = (stderr.strip() or stdout.strip() or "nothing").splitlines()[-1]
    raise ValueError(f"no good figures; it said: {said}")


def cell(value: float | None, column: Column) -> str:
    return "" if value is None else f"{value / column.divisor:,.{column.digits}f}"


def table(results: Document, case: Case) -> str:
    extra = results.EXTRA
    heads = [column.head for column in case.columns] + [head for head, _ in extra]
    rows = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for name, title in results.titles.items():
        if not results.document["runs"].get(case.name, {}).get(name):
            continue
        cells = [cell(results.value(case.name, name, column.key), column) for column in case.columns]
        cells += [make(results, case.name, name) for _, make in extra]
        rows.append("| " + " | ".join([title, *cells]) + " |")
    return "\n".join(rows)


def markdown(suite: Suite, results: Document) -> str:
    about = results.document["machine"]
    taken = f"Taken {results.document['date']} on {about['cpu']}, Linux {about['kernel']}, two cores. {suite.intro(results)}"
    parts = [f"# {suite.title}", taken, f"Versions: {results.versions()}."]
    for case in suite.cases:
        parts += [f"## {case.title}", table(results, case)]
    parts += [*(["## Aims", aims_table(results.aims())] if results.aims() else ()), *results.notes()]
    return "\n\n".join(parts) + "\n"


def _publish(suite: Suite, results: Document, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"latest-{suite.name}.md"
    path.write_text(markdown(suite, results))
    common.say(f"table: {path}")
    return 0


def _document(suite: Suite, options, ready, absent: dict[str, str], cores: list[int]) -> dict:
    return {
        "format": suite.results.FORMAT,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": common.commit(),
        "machine": common.machine(Path(tempfile.gettempdir())),
        "options": {"count": options.count, "rounds": options.rounds, "seconds": options.seconds, "cores": cores},
        "contenders": {one.name: {"title": one.title, "version": one.version_text()} for one in ready},
        "absent": absent,
        "failed": {},
        "cases": [{"name": case.name, "title": case.title} for case in suite.cases],
        "runs": {},
    }
