"""Coroutines beside the peers': the same small programs in each, on one core, in turns. Each prints its own cost."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from . import cli as common
from . import contenders, coro_report, procs
from .coro_results import FORMAT, CoroResults
from .results import dated_path

FOLDER = contenders.BENCH / "coro" / "contenders"
ORDER = ("apus", "swoole", "fiber", "go", "node")
# What the PHP programs call their coroutine class.
CLASSES = {"apus": "Apus\\Coroutine", "swoole": "Swoole\\Coroutine", "fiber": "Bench\\Coroutine"}
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    # How much each contender does in one measurement; multiples of 10,000.
    count: int


CASES = (
    Case("create", "Create and finish: a coroutine that returns at once", 300_000),
    Case("wait", "Create, wait once, resume, finish; one after the other", 200_000),
    Case("burst", "The same, 10,000 waiting at a time", 200_000),
    Case("pair", "Switch: one resume and the yield that answers it", 1_000_000),
    Case("pingpong", "Channel ping-pong: there and back over two channels of capacity 1", 300_000),
    Case("stream", "Channel of capacity 100: one item pushed and popped", 1_000_000),
    Case("sleeps", "Sleep 1 to 50 ms, 10,000 coroutines at once: one sleep and its wake-up", 100_000),
    Case("late", "Sleep 100 to 500 ms, 10,000 coroutines at once: how late they wake up", 30_000),
    Case("memory", "Memory of one of 10,000 sleeping coroutines", 10_000),
)


class Failed(Exception):
    """A contender ended without its figures; with what it said."""


def main(arguments: list[str]) -> int:
    options = _arguments(arguments)
    try:
        if options.list:
            return _list()
        if options.render:
            return _publish(CoroResults.load(options.render), options.out)
        return _bench(options)
    except ValueError as error:
        return common.fail(str(error))
    except KeyboardInterrupt:
        return common.fail("stopped", 130)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/coro/run",
        description="Coroutines of Apus, Swoole, a least scheduler over PHP's Fiber, Go and Node: the same work on one "
        "core, contenders interleaved in rounds. Writes the raw figures by date and a Markdown table.",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="one round of a tenth of the work; kept in results/tmp")
    add("--contenders", metavar="A,B", help="only these (see --list)")
    add("--cases", metavar="A,B", help="only these (see --list)")
    add("--rounds", type=int, metavar="N", help="rounds; the median is reported (default 7)")
    add("--core", type=int, metavar="N", help="the core to measure on (default: the last)")
    add("--out", type=Path, metavar="DIR", help="where results go (default bench/results)")
    add("--render", type=Path, metavar="FILE", help="write the table again from a results file, measure nothing")
    add("--check", action="store_true", help="exit with 1 where an aim is not met")
    add("--list", action="store_true", help="list contenders and cases")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds must be at least 1")
    options.rounds = options.rounds or (1 if options.quick else 7)
    options.out = options.out or (common.RESULTS / "tmp" if options.quick else common.RESULTS)
    return options


def load_all() -> list[contenders.Contender]:
    return sorted(contenders.load_all(FOLDER), key=lambda one: ORDER.index(one.name))


def _list() -> int:
    common.list_contenders(load_all())
    print("cases")
    for case in CASES:
        print(f"  {case.name:10} {case.title}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    chosen = select(common.names(options.cases))
    core = max(os.sched_getaffinity(0)) if options.core is None else options.core
    common.require({"taskset": "util-linux"}, [])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ready, absent = common.prepare(load_all(), common.names(options.contenders))
    if not ready:
        return common.fail("no contender is ready")
    document = _document(options, chosen, ready, absent, core)
    scratch = Path(tempfile.mkdtemp(prefix="apus-bench-coro-"))
    try:
        _rounds(options, chosen, ready, document, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    results = CoroResults(document)
    path = dated_path(options.out, document["date"], "coro-quick" if options.quick else "coro")
    results.save(path)
    print(coro_report.terminal(results))
    _publish(results, options.out)
    common.say(f"raw figures: {path}")
    unmet = options.check and any(aim.state != "met" for aim in results.aims())
    return 1 if document["failed"] or unmet else 0


def select(names: list[str] | None) -> list[Case]:
    if unknown := set(names or []) - {case.name for case in CASES}:
        raise ValueError(f"no such case: {', '.join(sorted(unknown))}; see --list")
    return [case for case in CASES if names is None or case.name in names]


def _rounds(options, chosen: list[Case], ready, document: dict, scratch: Path) -> None:
    plan = [(case, number, contender) for case in chosen for number in range(options.rounds) for contender in ready]
    failed: dict[str, str] = document["failed"]
    for done, (case, number, contender) in enumerate(plan, start=1):
        pair = f"{contender.name} in {case.name}"
        if pair in failed:
            continue
        where = f"[{done}/{len(plan)}] {case.name} {number + 1}/{options.rounds} {contender.name}"
        # What is not spread over the work cannot be made less of it.
        count = case.count if not options.quick or case.name == "memory" else max(10_000, case.count // 10)
        try:
            figures = measure(contender, case.name, count, document["options"]["core"], scratch)
        except (Failed, subprocess.TimeoutExpired) as error:
            failed[pair] = str(error)
            common.say(f"{where}: FAILED, left out of this case: {error}")
            continue
        document["runs"].setdefault(case.name, {}).setdefault(contender.name, []).append(figures)
        common.say(f"{where}: {figures['cpu_ns']:,.0f} ns CPU, {figures['wall_ns']:,.0f} ns")


def measure(contender: contenders.Contender, case: str, count: int, core: int, scratch: Path) -> dict:
    """One process does one case; its JSON, with times for one operation added."""
    run = Path(tempfile.mkdtemp(dir=scratch))
    tokens = {
        **contender.tokens(),
        "RUN": str(run),
        "CASE": case,
        "N": str(count),
        "COROUTINE": CLASSES.get(contender.name, ""),
    }
    contender.render(run, tokens)
    argv = procs.pinned(core, [contenders.fill(word, tokens) for word in contender.start[0]])
    done = subprocess.run(
        argv,
        env=contenders.environment(contender.env),
        cwd=run,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    shutil.rmtree(run, ignore_errors=True)
    return parse(done.stdout, done.stderr, done.returncode)


def parse(stdout: str, stderr: str, code: int) -> dict:
    """The last line is the figures; a contender may print warnings before it."""
    lines = stdout.strip().splitlines()
    try:
        figures = json.loads(lines[-1])
        operations = figures["ops"]
        figures["cpu_ns"] = figures["cpu_s"] / operations * 1e9
        figures["wall_ns"] = figures["wall_s"] / operations * 1e9
    except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        said = (stderr.strip() or stdout.strip() or "nothing").splitlines()[-1]
        raise Failed(f"no figures (exit code {code}); it said: {said}") from error
    if code != 0:
        raise Failed(f"exit code {code}")
    return figures


def _publish(results: CoroResults, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    (out / "latest-coro.md").write_text(coro_report.markdown(results))
    common.say(f"table: {out / 'latest-coro.md'}")
    return 0


def _document(options, chosen: list[Case], ready, absent: dict[str, str], core: int) -> dict:
    return {
        "format": FORMAT,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": common.commit(),
        "machine": common.machine(Path(tempfile.gettempdir())),
        "options": {"rounds": options.rounds, "core": core, "quick": options.quick},
        "contenders": {one.name: {"title": one.title, "version": one.version_text()} for one in ready},
        "absent": absent,
        "failed": {},
        "cases": [{"name": case.name, "title": case.title} for case in chosen],
        # case -> contender -> one entry a round
        "runs": {},
    }
