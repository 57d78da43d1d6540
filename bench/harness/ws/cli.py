"""Arguments, and the order of things: build, measure in turns, write."""

import argparse
import os
import signal
import subprocess
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from .. import cli as common
from .. import contenders
from ..load import LoadFailed
from ..measure import StartFailed
from ..results import dated_path
from . import client, plan, report
from .measure import WsBench
from .results import FORMAT, WsResults

FOLDER = contenders.BENCH / "ws" / "contenders"
# The order of the tables.
ORDER = ("apus", "floor", "uws", "gobwas", "coder", "swoole", "node")
# Start, verification, preparation and stop of one measurement, seconds; for the estimate only.
OVERHEAD_SECONDS = {"open": 3.5, "echo": 2.0, "broadcast": 6.0, "idle": 6.0, "push": 4.0}


def main(arguments: list[str]) -> int:
    options = _arguments(arguments)
    try:
        if options.list:
            return _list()
        if options.render:
            return _publish(WsResults.load(options.render), options.out)
        return _bench(options)
    except ValueError as error:
        return common.fail(str(error))
    except KeyboardInterrupt:
        return common.fail("stopped; the servers have been ended", 130)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run ws",
        description="WebSocket servers beside each other (W2): many connections opened at once, echo, broadcast, idle "
        "connections, and pushes from worker to worker. Writes the raw figures by date and a Markdown table.",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="four cases, one round: about a minute; kept in results/tmp")
    add("--contenders", metavar="A,B", help="only these (see --list)")
    add("--cases", metavar="A,B", help="only these; shell patterns such as 'open-*'")
    add("--rounds", type=int, metavar="N", help="rounds of each case (default: its own number; see --list)")
    add("--seconds", type=float, metavar="S", help="length of an echo measurement (default 1.5)")
    add("--scratch", type=Path, metavar="DIR", help="for logs (default: the temp directory)")
    add("--out", type=Path, metavar="DIR", help="where results go (default bench/results)")
    add("--render", type=Path, metavar="FILE", help="write the table again from a results file, measure nothing")
    add("--check", action="store_true", help="exit with 1 where an aim is not met")
    add("--list", action="store_true", help="list contenders and cases")
    options = parser.parse_args(arguments)
    for name in ("rounds", "seconds"):
        if getattr(options, name) is not None and getattr(options, name) <= 0:
            parser.error(f"--{name} must be more than 0")
    options.seconds = options.seconds or (1.0 if options.quick else 1.5)
    options.rounds = options.rounds or (1 if options.quick else None)
    options.out = options.out or (common.RESULTS / "tmp" if options.quick else common.RESULTS)
    options.scratch = options.scratch or Path(tempfile.gettempdir())
    return options


def load_all() -> list[contenders.Contender]:
    return sorted(contenders.load_all(FOLDER), key=lambda one: ORDER.index(one.name))


def _list() -> int:
    common.list_contenders(load_all())
    print("cases (q: part of --quick; rounds)")
    for case in plan.CASES:
        who = f" (only {', '.join(case.only)})" if case.only else ""
        print(f"  {'q' if case.name in plan.QUICK else ' '} {case.name:16} {case.rounds} {case.title}{who}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    cases = plan.select(common.names(options.cases) or (list(plan.QUICK) if options.quick else ["*"]))
    cores = plan.Cores.of(sorted(os.sched_getaffinity(0)))
    common.require({"taskset": "util-linux", "cargo": "rustup"}, [])
    common.lift_descriptor_limit()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ready, absent = common.prepare(load_all(), common.names(options.contenders))
    if not ready:
        return common.fail("no contender is ready")
    program = client.build(Path(ready[0].tokens()["OUT"]))
    document = _document(options, cases, ready, absent, cores)
    path = dated_path(options.out, document["date"], "ws-quick" if options.quick else "ws")
    common.say(f"results: {path}")
    bench = WsBench(options.scratch, cores, program)
    try:
        _measure_all(bench, options, ready, cases, document, path)
    finally:
        bench.close()
    results = WsResults(document)
    print(report.terminal(results))
    _publish(results, options.out)
    unmet = options.check and any(aim.state != "met" for aim in results.aims())
    return 1 if document["failed"] or unmet else 0


def steps(options, ready, cases: list[plan.Case]) -> list[tuple[plan.Case, int, contenders.Contender]]:
    """Within a case the contenders take turns, so that a change of the machine's mood meets all of them."""
    return [
        (case, number, contender)
        for case in cases
        for number in range(1, (options.rounds or case.rounds) + 1)
        for contender in ready
        if case.only is None or contender.name in case.only
    ]


def _measure_all(bench: WsBench, options, ready, cases, document: dict, path: Path) -> None:
    """The file is written after each measurement: a run that is stopped leaves what it had."""
    todo = steps(options, ready, cases)
    seconds = sum(OVERHEAD_SECONDS[case.mode] + (options.seconds if case.mode == "echo" else 0) for case, _, _ in todo)
    common.say(f"{len(todo)} measurements, about {seconds / 60:.0f} min")
    failed: dict[str, str] = document["failed"]
    for done, (case, number, contender) in enumerate(todo, start=1):
        pair = f"{contender.name} in {case.name}"
        if pair in failed:
            continue
        where = f"[{done}/{len(todo)}] {case.name} {number} {contender.name}"
        try:
            figures = bench.measure(contender, case, options.seconds)
        except (StartFailed, LoadFailed, subprocess.TimeoutExpired) as error:
            failed[pair] = str(error)
            common.say(f"{where}: FAILED, left out of this case: {error}")
        else:
            document["runs"].setdefault(case.name, {}).setdefault(contender.name, []).append(figures)
            common.say(f"{where}: {line(case.mode, figures)}")
        WsResults(document).save(path)


def line(mode: str, figures: dict) -> str:
    columns = ((head, figures.get(figure), digits) for figure, head, digits in report.COLUMNS[mode])
    shown = [f"{head} {value:,.{digits}f}" for head, value, digits in columns if value is not None]
    loads = f"server {figures['server_load']:.0%}, client {figures['client_load']:.0%}, others {figures['foreign_load']:.0%}"
    return ", ".join([*shown, f"failed {figures['failures'] or 0}", loads])


def _document(options, cases: list[plan.Case], ready, absent, cores: plan.Cores) -> dict:
    return {
        "format": FORMAT,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": common.commit(),
        "machine": common.machine(options.scratch),
        "options": {
            "seconds": options.seconds,
            "rounds": options.rounds,
            "server_cores": plan.as_list(cores.servers),
            "client_cores": plan.as_list(cores.clients),
        },
        "contenders": {one.name: {"title": one.title, "version": one.version_text()} for one in ready},
        "absent": absent,
        # "contender in case" -> why; the rounds before the failure are kept.
        "failed": {},
        "cases": [
            {"name": case.name, "title": case.title, "mode": case.mode, "connections": case.connections} for case in cases
        ],
        # case -> contender -> one entry a round
        "runs": {},
    }


def _publish(results: WsResults, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    (out / "latest-ws.md").write_text(report.markdown(results))
    common.say(f"table: {out / 'latest-ws.md'}")
    return 0
