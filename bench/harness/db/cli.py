"""Arguments, and the order of things: start the database, measure in turns, write."""

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
from . import mariadb, plan, report
from .measure import Cores, DbBench
from .results import FORMAT, DbResults

FOLDER = contenders.BENCH / "db" / "contenders"
# Start, verification, pilot and stop of one measurement, seconds; for the estimate only.
OVERHEAD_SECONDS = 2.6
# The test with the aims is measured more often; the others once, which tells orders of magnitude.
AIMED_ROUNDS = 3


def main(arguments: list[str]) -> int:
    options = _arguments(arguments)
    try:
        if options.list:
            return _list()
        if options.render:
            return _publish(DbResults.load(options.render), options.out)
        return _bench(options)
    except (ValueError, mariadb.DatabaseFailed) as error:
        return common.fail(str(error))
    except KeyboardInterrupt:
        return common.fail("stopped; the servers have been ended", 130)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run db",
        description="Eleven tests of an application with a database (W5): `ab -k` on each contender, MariaDB beside it "
        "on cores of its own. Writes the raw figures by date and a Markdown table.",
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="five tests at c=100: about a minute; kept in results/tmp")
    add("--contenders", metavar="A,B", help="only these (see --list)")
    add("--tests", metavar="A,B", help="only these; shell patterns such as 'basic*'")
    add("--concurrency", metavar="N,M", help="connections of the load generator (default 100,500,1000)")
    add("--rounds", type=int, metavar="N", help=f"rounds of each (default 1, {AIMED_ROUNDS} of {plan.POOLED_QUERY})")
    add("--seconds", type=float, default=1.0, metavar="S", help="length aimed at for one measurement (default 1)")
    add("--requests", type=int, metavar="N", help="a fixed number in place of a length; W5 was taken with 10000")
    add("--workers", type=int, metavar="N", default=1, help="workers of Apus and Swoole (default 1)")
    add("--pool", type=int, metavar="N", default=120, help="pooled connections of each (default 120)")
    add("--unix", action="store_true", help="reach MariaDB over its Unix socket (default: TCP over 127.0.0.1)")
    add("--server-cores", metavar="LIST", help="cores of the servers (default: the last but one)")
    add("--database-cores", metavar="LIST", help="cores of MariaDB (default: all before those)")
    add("--client-core", type=int, metavar="N", help="core of ab (default: the last)")
    add("--scratch", type=Path, metavar="DIR", help="place of database and files (default: the temp directory)")
    add("--out", type=Path, metavar="DIR", help="where results go (default bench/results)")
    add("--resume", type=Path, metavar="FILE", help="measure what this results file lacks, and complete it")
    add("--render", type=Path, metavar="FILE", help="write the table again from a results file, measure nothing")
    add("--check", action="store_true", help="exit with 1 where an aim is not met")
    add("--list", action="store_true", help="list contenders and tests")
    options = parser.parse_args(arguments)
    for name in ("rounds", "seconds", "requests", "workers", "pool"):
        if getattr(options, name) is not None and getattr(options, name) <= 0:
            parser.error(f"--{name} must be more than 0")
    options.out = options.out or (common.RESULTS / "tmp" if options.quick else common.RESULTS)
    options.scratch = options.scratch or Path(tempfile.gettempdir())
    return options


def _list() -> int:
    common.list_contenders(contenders.load_all(FOLDER))
    print("tests (q: part of --quick)")
    for test in plan.TESTS:
        print(f"  {'q' if test.name in plan.QUICK else ' '} {test.name:56} {test.title}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    tests = plan.select(common.names(options.tests) or (list(plan.QUICK) if options.quick else ["*"]))
    concurrencies = _concurrencies(options)
    begun = _resume(options) if options.resume else None
    cores = _cores(options)
    common.require({"ab": "apache2-utils", "taskset": "util-linux"}, mariadb.missing())
    common.lift_descriptor_limit()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ready, absent = common.prepare(contenders.load_all(FOLDER), common.names(options.contenders))
    if not ready:
        return common.fail("no contender is ready")
    bench = DbBench(options.scratch, cores, plan.Pool(options.workers, options.pool), not options.unix)
    try:
        bench.database.start()
        document = begun or _document(options, absent, cores, bench)
        document["contenders"] |= {one.name: {"title": one.title, "version": one.version_text()} for one in ready}
        path = options.resume or dated_path(options.out, document["date"], "db-quick" if options.quick else "db")
        common.say(f"results: {path}")
        _measure_all(bench, options, ready, tests, concurrencies, document, path)
    except KeyboardInterrupt:
        common.say("to go on: the same with --resume and the results file of this run, if anything was measured")
        raise
    finally:
        bench.close()
    results = DbResults(document)
    print(report.terminal(results))
    _publish(results, options.out)
    unmet = options.check and any(aim.state != "met" for aim in results.aims())
    return 1 if document["failed"] or unmet else 0


def _resume(options: argparse.Namespace) -> dict:
    """What was measured, and with what: the rest is measured with the same."""
    document = DbResults.load(options.resume).document
    begun = document["options"]
    for name in ("seconds", "requests", "workers", "pool", "unix", "server_cores", "database_cores", "client_core"):
        setattr(options, name, begun[name])
    return document


def _measure_all(bench, options, ready, tests, concurrencies, document: dict, path: Path) -> None:
    """In one test at one concurrency the contenders take turns, so that a change of the machine's mood meets all. The
    file is written after each measurement: --resume continues from there."""
    steps = [
        (concurrency, test, number, contender)
        for concurrency in concurrencies
        for test in tests
        for number in range(_rounds(options, test))
        for contender in ready
        if number >= len(document["runs"].get(_key(test, concurrency), {}).get(contender.name, []))
    ]
    common.say(f"{len(steps)} measurements, about {len(steps) * (options.seconds + OVERHEAD_SECONDS) / 60:.0f} min")
    failed: dict[str, str] = document["failed"]
    for done, (concurrency, test, number, contender) in enumerate(steps, start=1):
        key, where = _key(test, concurrency), f"[{done}/{len(steps)}] {test.name} c={concurrency} {contender.name}"
        pair = f"{contender.name} in {key}"
        if number > 0 and pair in failed:
            continue
        failed.pop(pair, None)
        try:
            figures = bench.measure(contender, test, concurrency, options.seconds, options.requests)
        except (StartFailed, LoadFailed, subprocess.TimeoutExpired) as error:
            failed[pair] = str(error)
            common.say(f"{where}: FAILED: {error}")
        else:
            document["runs"].setdefault(key, {}).setdefault(contender.name, []).append(figures)
            common.say(f"{where}: {_line(figures)}")
            if "log" in figures:
                common.say(figures["log"])
        DbResults(document).save(path)


def _rounds(options: argparse.Namespace, test: plan.Test) -> int:
    if options.rounds:
        return options.rounds
    return AIMED_ROUNDS if test.name == plan.POOLED_QUERY and not options.quick else 1


def _key(test: plan.Test, concurrency: int) -> str:
    return f"{test.name}-c{concurrency}"


def _line(figures: dict) -> str:
    failures = {name: count for name, count in figures["errors"].items() if count}
    return (
        f"{figures['rps']:,.0f} req/s, {figures['cpu_us']:.0f} us/req + {figures['database_us']:.0f} in MariaDB, "
        f"p99 {figures['p99_us'] / 1000:.1f} ms, failures {failures or 0}, cores: server "
        f"{figures['server_load']:.2f}, MariaDB {figures['database_load']:.2f}, ab {figures['client_load']:.2f}"
    )


def _concurrencies(options: argparse.Namespace) -> list[int]:
    text = options.concurrency or (str(plan.QUICK_CONCURRENCY) if options.quick else "")
    try:
        chosen = [int(word) for word in text.split(",") if word.strip()] or list(plan.CONCURRENCIES)
    except ValueError as error:
        raise ValueError(f"--concurrency takes numbers such as 100,500; not {text!r}") from error
    if min(chosen) < 1 or max(chosen) > 2000:
        raise ValueError("--concurrency: from 1 to 2000")
    return chosen


def _cores(options: argparse.Namespace) -> Cores:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 3:
        raise ValueError("three cores are needed: one each for the servers, the database and ab")
    server = options.server_cores or str(allowed[-2])
    database = options.database_cores or ",".join(str(core) for core in allowed[:-2])
    return Cores(server, database, allowed[-1] if options.client_core is None else options.client_core)


def _document(options, absent, cores: Cores, bench: DbBench) -> dict:
    return {
        "format": FORMAT,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "commit": common.commit(),
        "machine": common.machine(options.scratch) | {"database": bench.database.version()},
        "options": {
            "seconds": options.seconds,
            "requests": options.requests,
            "workers": options.workers,
            "pool": options.pool,
            "unix": options.unix,
            "server_cores": cores.server,
            "database_cores": cores.database,
            "client_core": cores.client,
        },
        "contenders": {},
        "absent": absent,
        # "contender in test-cN" -> why.
        "failed": {},
        "runs": {},
    }


def _publish(results: DbResults, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    (out / "latest-db.md").write_text(report.markdown(results))
    common.say(f"table: {out / 'latest-db.md'}")
    return 0

