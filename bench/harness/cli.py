"""Arguments, and the order of things: prepare, measure in interleaved rounds, write."""

import argparse
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from . import chart, contenders, procs, report, scenarios
from .load import LoadFailed
from .measure import Bench, Cores, StartFailed
from .results import FORMAT, Results, dated_path

RESULTS = contenders.BENCH / "results"
# Start, verification, warm-up and stop of one measurement, seconds; for the estimate only.
OVERHEAD_SECONDS = 0.9


def main() -> int:
    options = _arguments()
    try:
        if options.list:
            return _list()
        if options.render:
            return _publish(Results.load(options.render), options.out)
        return _bench(options)
    except ValueError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        return fail("stopped; the servers have been ended", 130)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures Apus beside its peers: one worker on one core, wrk and ab on another, contenders "
        "interleaved in rounds. Writes the raw figures by date, a Markdown table and a chart.",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="six scenarios, one round of 1 s: about a minute; kept in results/tmp")
    add("--contenders", metavar="A,B", help="only these (see --list)")
    add("--scenarios", metavar="A,B", help="only these; shell patterns such as 'hello-*'")
    add("--rounds", type=int, metavar="N", help="rounds; the median is reported (default 3)")
    add("--seconds", type=int, metavar="S", help="length of one measurement (default 2)")
    add("--server-core", type=int, metavar="N", help="core of the servers (default: the last but one)")
    add("--client-core", type=int, metavar="N", help="core of wrk and ab (default: the last)")
    add("--scratch", type=Path, metavar="DIR", help="where uploads are kept meanwhile (default: the temp directory)")
    add("--out", type=Path, metavar="DIR", help="where results go (default bench/results)")
    add("--render", type=Path, metavar="FILE", help="write table and chart again from a results file, measure nothing")
    add("--check", action="store_true", help="exit with 1 where an aim is not met")
    add("--list", action="store_true", help="list contenders and scenarios")
    options = parser.parse_args()
    for name in ("rounds", "seconds"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.seconds = options.seconds or (1 if options.quick else 2)
    options.out = options.out or (RESULTS / "tmp" if options.quick else RESULTS)
    options.scratch = options.scratch or Path(tempfile.gettempdir())
    return options


def _list() -> int:
    list_contenders(contenders.load_all())
    print("scenarios (q: part of --quick)")
    for scenario in scenarios.all_scenarios():
        print(f"  {'q' if scenario.name in scenarios.QUICK else ' '} {scenario.name:22} {scenario.title}")
    return 0


def list_contenders(known: list[contenders.Contender]) -> None:
    print("contenders")
    for contender in known:
        try:
            contender.require()
            state = "ready"
        except contenders.Unavailable as error:
            state = str(error)
        print(f"  {contender.name:10} {contender.title:32} {state}")


def _bench(options: argparse.Namespace) -> int:
    chosen = scenarios.select(names(options.scenarios) or (list(scenarios.QUICK) if options.quick else ["*"]))
    cores = _cores(options)
    _require_tools(chosen)
    lift_descriptor_limit()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ready, absent = prepare(contenders.load_all(), names(options.contenders))
    if not ready:
        return fail("no contender is ready")
    document = _document(options, chosen, ready, absent, cores)
    _warn_if_busy(cores)
    bench, results = Bench(options.scratch, cores), Results(document)
    try:
        _rounds(bench, options, chosen, ready, document)
    except KeyboardInterrupt:
        path = dated_path(RESULTS / "tmp", document["date"], "stopped")
        results.save(path)
        say(f"what was measured until here: {path}")
        raise
    finally:
        bench.close()
    path = dated_path(options.out, document["date"], "quick" if options.quick else "bench")
    results.save(path)
    print(report.terminal(results))
    _publish(results, options.out)
    say(f"raw figures: {path}")
    unmet = options.check and any(aim.state != "met" for aim in results.aims())
    return 1 if document["failed"] or unmet else 0


def _rounds(bench: Bench, options, chosen, ready, document: dict) -> None:
    """Within a scenario the contenders take turns, so that a change of the machine's mood meets all of them."""
    plan = [
        (scenario, number, contender)
        for scenario in chosen
        for number in range(1, options.rounds + 1)
        for contender in ready
    ]
    seconds = sum(scenario.seconds(options.seconds) + OVERHEAD_SECONDS for scenario, _, _ in plan)
    say(f"{len(plan)} measurements, about {seconds / 60:.0f} min")
    failed: dict[str, str] = document["failed"]
    for done, (scenario, number, contender) in enumerate(plan, start=1):
        pair = f"{contender.name} in {scenario.name}"
        if pair in failed:
            continue
        where = f"[{done:{len(str(len(plan)))}}/{len(plan)}] {scenario.name} {number}/{options.rounds} {contender.name}"
        try:
            figures = bench.measure(contender, scenario, options.seconds)
        except (StartFailed, LoadFailed, subprocess.TimeoutExpired) as error:
            failed[pair] = str(error)
            say(f"{where}: FAILED, left out of this scenario: {error}")
            continue
        document["runs"].setdefault(scenario.name, {}).setdefault(contender.name, []).append(figures)
        say(f"{where}: {_line(figures)}")


def _line(figures: dict) -> str:
    cpu = f"{figures['cpu_us']:.1f}" if figures["cpu_us"] is not None else "-"
    errors = {name: count for name, count in figures["errors"].items() if count}
    return (
        f"{figures['rps']:,.0f} req/s, {cpu} us/req, p99 {figures['p99_us'] / 1000:.2f} ms, "
        f"errors {errors or 0}, server {figures['server_load']:.0%}, client {figures['client_load']:.0%}"
    )


def prepare(
    known: list[contenders.Contender], chosen: list[str] | None
) -> tuple[list[contenders.Contender], dict[str, str]]:
    if unknown := set(chosen or []) - {one.name for one in known}:
        raise ValueError(f"no such contender: {', '.join(sorted(unknown))}; see --list")
    ready, absent = [], {}
    for contender in known:
        if chosen and contender.name not in chosen:
            continue
        try:
            contender.require()
            contender.prepare()
            ready.append(contender)
        except contenders.Unavailable as error:
            absent[contender.name] = str(error)
            say(f"skipped: {contender.title}: {error}")
    return ready, absent


def _publish(results: Results, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    (out / "latest.svg").write_text(chart.svg(results))
    (out / "latest.md").write_text(report.markdown(results, "latest.svg"))
    say(f"table: {out / 'latest.md'}, chart: {out / 'latest.svg'}")
    return 0


def _document(options, chosen, ready, absent, cores: Cores) -> dict:
    return {
        "format": FORMAT,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": commit(),
        "machine": machine(options.scratch) | {"wrk": " ".join(output(["wrk", "-v"]).split()[:2])},
        "options": {
            "rounds": options.rounds,
            "seconds": options.seconds,
            "server_core": cores.server,
            "client_core": cores.client,
        },
        "contenders": {one.name: {"title": one.title, "version": one.version_text()} for one in ready},
        "absent": absent,
        # "contender in scenario" -> why; the rounds before the failure are kept.
        "failed": {},
        "scenarios": [
            {"name": one.name, "title": one.title, "concurrency": one.concurrency, "keep_alive": one.keep_alive}
            for one in chosen
        ],
        "runs": {},
    }


def commit() -> str:
    return output(["git", "-C", str(contenders.ROOT), "rev-parse", "--verify", "--quiet", "HEAD"])


def machine(scratch: Path) -> dict:
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "kernel": platform.release().split("-")[0],
        "scratch": _filesystem(scratch),
        "load_average": os.getloadavg(),
    }


def _cores(options: argparse.Namespace) -> Cores:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise ValueError("two cores are needed: one for the server, one for the load generator")
    server = allowed[-2] if options.server_core is None else options.server_core
    client = allowed[-1] if options.client_core is None else options.client_core
    if not {server, client} <= set(allowed) or server == client:
        raise ValueError(f"--server-core and --client-core must be two different cores of {allowed}")
    return Cores(server, client)


def _require_tools(chosen: list[scenarios.Scenario]) -> None:
    packages = {"wrk": "wrk", "taskset": "util-linux"}
    if any(scenario.tool == "ab" for scenario in chosen):
        packages["ab"] = "apache2-utils"
    require(packages, [])


def require(packages: dict[str, str], missing: list[str]) -> None:
    """Raises unless the tools, each with its package, are there and no other package is missing."""
    if missing := [package for tool, package in packages.items() if not shutil.which(tool)] + missing:
        raise ValueError(f"apt-get install {' '.join(missing)}")


def lift_descriptor_limit() -> None:
    """c=1000 needs more than the usual soft limit of 1024, in the servers (which inherit ours) and in wrk."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _warn_if_busy(cores: Cores) -> None:
    before = {core: procs.core_busy_ticks(core) for core in (cores.server, cores.client)}
    time.sleep(0.5)
    for core, ticks in before.items():
        share = (procs.core_busy_ticks(core) - ticks) / procs.TICKS_PER_SECOND / 0.5
        if share > 0.1:
            say(f"warning: core {core} is {share:.0%} busy with something else; figures will be noisy")


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _filesystem(path: Path) -> str:
    return output(["stat", "-f", "-c", "%T", str(path)]) or "unknown"


def output(argv: list[str]) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def names(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def fail(text: str, code: int = 2) -> int:
    say(f"bench/run: {text}")
    return code
