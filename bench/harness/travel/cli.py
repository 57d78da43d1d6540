"""Arguments, and the order of things: make the data, measure in turns, write."""

import argparse
import os
import signal
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from .. import cli as common
from .. import contenders
from ..load import LoadFailed
from ..measure import StartFailed
from ..results import dated_path
from ..ws.plan import Cores, as_list
from . import data, plan, report
from .measure import TravelBench
from .results import FORMAT, TravelResults

FOLDER = contenders.BENCH / "travel" / "contenders"
DEFAULT_SECONDS = (30.0, 20.0, 30.0, 10.0)
QUICK_SECONDS = (4.0, 4.0, 4.0, 2.0)


def main(arguments: list[str]) -> int:
    options = _arguments(arguments)
    try:
        if options.list:
            return _list(options)
        if options.render:
            return _publish(TravelResults.load(options.render), options.out)
        return _bench(options)
    except ValueError as error:
        return common.fail(str(error))
    except KeyboardInterrupt:
        return common.fail("stopped; the servers have been ended", 130)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run travel",
        description="The travel service (W4) on Apus tables beside the same API in Go: load time, memory, three phases of "
        "growing load with every answer checked, and how much each can do. Writes the raw figures by date and a Markdown table.",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="phases of a few seconds; kept in results/tmp")
    add("--full", action="store_true", help="1,000,000 users, 1,000,000 locations, 11,000,000 visits (2 GB of scratch)")
    add("--contenders", metavar="A,B", help="only these (see --list)")
    add("--rounds", type=int, default=1, metavar="N", help="rounds; the median is reported (default 1)")
    add("--seconds", metavar="A,B,C,D", help="lengths of the phases (default 30,20,30,10; the contest's: 180,120,120,10)")
    add("--scratch", type=Path, metavar="DIR", help="for logs and snapshots (default: the temp directory)")
    add("--keep", type=Path, metavar="DIR", help="where data sets are kept for further runs (default: made anew)")
    add("--out", type=Path, metavar="DIR", help="where results go (default bench/results)")
    add("--render", type=Path, metavar="FILE", help="write the table again from a results file, measure nothing")
    add("--check", action="store_true", help="exit with 1 where an aim is not met")
    add("--list", action="store_true", help="list contenders and phases")
    options = parser.parse_args(arguments)
    try:
        given = tuple(float(one) for one in options.seconds.split(",")) if options.seconds else ()
    except ValueError:
        given = (0.0,)
    if given and (len(given) != len(DEFAULT_SECONDS) or min(given) <= 0) or options.rounds < 1:
        parser.error("--seconds are four numbers above 0, --rounds is at least 1")
    options.phases = plan.phases(*(given or (QUICK_SECONDS if options.quick else DEFAULT_SECONDS)))
    options.out = options.out or (common.RESULTS / "tmp" if options.quick else common.RESULTS)
    options.scratch = options.scratch or Path(tempfile.gettempdir())
    return options


def _list(options: argparse.Namespace) -> int:
    common.list_contenders(contenders.load_all(FOLDER))
    print("phases")
    for phase in options.phases:
        print(f"  {phase.name:10} {phase.seconds:g} s: {phase.title}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    cores = Cores.of(sorted(os.sched_getaffinity(0)))
    common.require({"taskset": "util-linux", "go": "golang-go", "php": "php8.2-cli"}, [])
    common.lift_descriptor_limit()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ready, absent = common.prepare(contenders.load_all(FOLDER), common.names(options.contenders))
    if not ready:
        return common.fail("no contender is ready")
    programs = data.build(Path(ready[0].tokens()["OUT"]))
    size = plan.FULL if options.full else plan.TRAINING
    document = _document(options, size, ready, absent, cores)
    label = "travel" + ("-full" if options.full else "") + ("-quick" if options.quick else "")
    path = dated_path(options.out, document["date"], label)
    with tempfile.TemporaryDirectory(prefix="apus-bench-data-", dir=options.scratch) as scratch:
        common.say(f"making {size.text}")
        made = data.make(options.keep or Path(scratch), programs, size, options.phases)
        _measure_all(options, ready, cores, programs, made, document, path)
    results = TravelResults(document)
    print(report.terminal(results))
    _publish(results, options.out)
    common.say(f"raw figures: {path}")
    unmet = options.check and any(aim.state != "met" for aim in results.aims())
    return 1 if document["failed"] or unmet else 0


def _measure_all(options, ready, cores: Cores, programs: Path, made: Path, document: dict, path: Path) -> None:
    """The contenders take turns. The file is written after each measurement: a run that is stopped leaves what it had."""
    bench = TravelBench(options.scratch, cores, programs / "load")
    try:
        for number in range(1, options.rounds + 1):
            for contender in ready:
                if contender.name in document["failed"]:
                    continue
                where = f"{contender.name} {number}/{options.rounds}"
                try:
                    figures = bench.measure(contender, made, options.phases)
                except (StartFailed, LoadFailed) as error:
                    document["failed"][contender.name] = str(error)
                    common.say(f"{where}: FAILED: {error}")
                else:
                    document["runs"].setdefault(contender.name, []).append(figures)
                    common.say(f"{where}: {_line(figures)}")
                TravelResults(document).save(path)
    finally:
        bench.close()


def _line(figures: dict) -> str:
    phases = figures["phases"]
    shown = [f"{name} p99 {one['p99_us'] / 1000:.2f} ms, {one['failed']} wrong" for name, one in phases.items()]
    return f"load {figures['load_seconds']:.1f} s, PSS {figures['pss_after_kib'] / 1024:,.0f} MiB; {'; '.join(shown)}"


def _document(options, size: plan.Size, ready, absent, cores: Cores) -> dict:
    return {
        "format": FORMAT,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": common.commit(),
        "machine": common.machine(options.scratch),
        "options": {
            "full": options.full,
            "size": size.text,
            "rounds": options.rounds,
            "server_cores": as_list(cores.servers),
            "client_cores": as_list(cores.clients),
        },
        "contenders": {one.name: {"title": one.title, "version": one.version_text()} for one in ready},
        "absent": absent,
        "failed": {},
        "phases": [{"name": one.name, "title": one.title, "last": one.last, "seconds": one.seconds} for one in options.phases],
        # contender -> one entry a round
        "runs": {},
    }


def _publish(results: TravelResults, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    (out / "latest-travel.md").write_text(report.markdown(results))
    common.say(f"table: {out / 'latest-travel.md'}")
    return 0
