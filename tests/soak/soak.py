#!/usr/bin/env python3
"""Mixed queries on an Apus server while its databases suffer: `tests/soak/soak.py --help`.

Passes when every request got a right answer or a clear error (errors only in a storm or within GRACE of it), no request
hung, no connection failed, no worker ended, and memory and descriptors of the workers came back to what they were.
SOAK_SECONDS (default 600) is the length, SOAK_SEED repeats a run's random choices.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "e2e")]

import chaos  # noqa: E402
import hooks  # noqa: E402
import load  # noqa: E402
import support  # noqa: E402
from lib import servers  # noqa: E402

# Seconds after a storm in which connections that it broke may still turn up in a pool.
GRACE = 4.0
# Resident bytes that a worker may gain from the end of the warm-up to the end: allocators and caches keep some, a leak
# of
# 100 bytes a request would be more.
MEMORY_BOUND = 6 << 20
# Descriptors that a worker may gain: pools that were not full when they were counted first.
DESCRIPTOR_BOUND = 12


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SOAK_SECONDS", "600")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOAK_SEED", random.SystemRandom().randrange(1 << 32))))
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-chaos", action="store_true", help="only the load")
    return parser.parse_args(arguments)


def prepare_mariadb(db, trouble):
    """Rows that outlive a SIGKILL: the server is stopped in order once they are there."""
    trouble.sql(
        "CREATE TABLE soak (id INT PRIMARY KEY, v CHAR(40) NOT NULL) ENGINE=InnoDB;"
        "CREATE TABLE soak_written (mark VARCHAR(64) PRIMARY KEY, v CHAR(40) NOT NULL) ENGINE=InnoDB;"
        "INSERT INTO soak SELECT seq, SHA1(CONCAT('row-', seq)) FROM seq_1_to_10000;"
    )
    db.restart()
    count = trouble.sql("SELECT COUNT(*) FROM soak")
    assert count == ["10000"], f"the rows are not there: {count}"


def prepare_postgresql(trouble):
    trouble.postgresql_sql(
        "CREATE EXTENSION IF NOT EXISTS pgcrypto; CREATE TABLE soak AS"
        " SELECT id, encode(digest('row-' || id, 'sha1'), 'hex') AS v FROM generate_series(1, 10000) id;"
        " CREATE UNIQUE INDEX ON soak (id); ANALYZE soak;"
    )


def start_server(options, daemons):
    settings, missing = hooks.extensions()
    if missing & {"mysqlnd", "pdo", "mysqli", "pdo_mysql", "redis"}:
        raise unittest.SkipTest(f"this PHP lacks {', '.join(sorted(missing))}")
    ini = [part for part in settings if part != "-d"]
    ini += ["display_errors=0", "memory_limit=512M", "mysqlnd.net_read_timeout=12", "default_socket_timeout=12"]
    folder = servers.folder("soak")
    wanted = {
        "worker_num": options.workers,
        "log_file": str(folder / "log"),
        "blocked_loop_warn": 0,
        "cancel_on_disconnect": True,
    }
    environment = {"SOAK_SETTINGS": json.dumps(wanted), "APUS_TEST_POSTGRESQL_PORT": "0"}
    for daemon in daemons:
        environment.update(daemon.environment())
    server = support.Server(script=(HERE / "server.php").read_text(), ini=ini, env=environment)
    return server, folder


class Watch:
    """Memory and descriptors of the workers over time."""

    def __init__(self, server):
        self.server = server
        self.pids = sorted(server.workers())
        self.samples = []
        self.problems = []

    def look(self):
        now = sorted(self.server.workers())
        if now != self.pids:
            self.problems.append(f"workers ended: {self.pids} were there, {now} are there now\n{self.server.said()[-3000:]}")
            self.pids = now
        sample = {}
        for pid in self.pids:
            try:
                sample[pid] = (support.rss(pid), len(os.listdir(f"/proc/{pid}/fd")))
            except OSError:
                continue
        self.samples.append((time.monotonic(), sample))

    async def every_second(self):
        while True:
            self.look()
            await asyncio.sleep(1)

    def between(self, begin, end, what):
        """The median of a worker's samples of a stretch of time: 0 is memory, 1 descriptors."""
        return {
            pid: statistics.median(values)
            for pid in self.pids
            if (
                values := [sample[pid][what] for when, sample in self.samples if begin <= when <= end and pid in sample]
            )
        }


async def phases(options, rng, trouble, tally, server, watch):
    """Warm-up, quiet, storms with calm between them, calm, quiet. Returns the two quiet stretches."""
    running = asyncio.Event()
    clients = []

    async def begin(name):
        running.set()
        clients[:] = [
            asyncio.create_task(load.client(server.port, f"{name}{n}", random.Random(rng.random()), tally, running))
            for n in range(options.clients)
        ]

    async def rest():
        """Ends the load; a stretch of time without any request."""
        running.clear()
        await asyncio.gather(*clients)
        await asyncio.sleep(1)
        start = time.monotonic()
        await asyncio.sleep(2.5)
        return start, time.monotonic()

    end = time.monotonic() + options.seconds
    warm_up = min(60.0, options.seconds / 5)
    await begin("w")
    await asyncio.sleep(warm_up / 2)
    if not options.no_chaos:
        # Caches, error texts and replaced connections are part of what is warm.
        await trouble.each_once()
        await asyncio.sleep(max(GRACE, warm_up / 2))
    before = await rest()
    await begin("s")
    while time.monotonic() < end - 2 * GRACE:
        left = end - 2 * GRACE - time.monotonic()
        if not options.no_chaos:
            await trouble.storm(min(left, rng.uniform(5, 20)))
        await asyncio.sleep(rng.uniform(GRACE, 2 * GRACE))
    await asyncio.sleep(GRACE)
    after = await rest()
    watch.look()
    return before, after


def conclude(options, tally, trouble, watch, before, after):
    """Everything that is wrong."""
    problems = list(tally.problems) + list(watch.problems)
    for began, ended, text in tally.errors:
        if not trouble.excused(began, ended, GRACE):
            problems.append(f"an error in calm times: {text}")
    if not sum(tally.right.values()):
        problems.append("nothing was answered")
    problems += [f"/{route} was never right" for route in load.ROUTES if not tally.right[route]]
    memory = [watch.between(*stretch, 0) for stretch in (before, after)]
    descriptors = [watch.between(*stretch, 1) for stretch in (before, after)]
    for pid in watch.pids:
        if pid not in memory[0] or pid not in memory[1]:
            problems.append(f"worker {pid} was not there all the time")
            continue
        gained = memory[1][pid] - memory[0][pid]
        more = descriptors[1][pid] - descriptors[0][pid]
        print(
            f"worker {pid}: memory {memory[0][pid] / 2**20:.1f} -> {memory[1][pid] / 2**20:.1f} MiB"
            f" (bound +{MEMORY_BOUND >> 20}), descriptors {descriptors[0][pid]:.0f} -> {descriptors[1][pid]:.0f} (bound +{DESCRIPTOR_BOUND})"
        )
        if gained > MEMORY_BOUND:
            problems.append(f"worker {pid} gained {gained / 2**20:.1f} MiB")
        if more > DESCRIPTOR_BOUND:
            problems.append(f"worker {pid} gained {more:.0f} descriptors: {descriptor_names(pid)}")
    return problems


def descriptor_names(pid):
    names = []
    for one in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            names.append(os.readlink(one).split(":")[0])
        except OSError:
            continue
    return {name: names.count(name) for name in set(names)}


def report(tally, trouble, seconds):
    right, clear = sum(tally.right.values()), sum(tally.clear.values())
    kinds = [done.split(" x")[0].split(" :")[0] for done in trouble.done]
    print(f"{right + clear + tally.gone} requests in {seconds:.0f} s: {right} right, {clear} clear errors, {tally.gone} clients gone, slowest {tally.slowest:.1f} s")
    print("right:", ", ".join(f"{route} {count}" for route, count in sorted(tally.right.items())))
    print("trouble:", ", ".join(f"{kind} {kinds.count(kind)}" for kind in sorted(set(kinds))) or "none")
    for cause, count in tally.causes.most_common(25):
        print(f"  {count:6} {cause}")


def pools(server):
    with server.connect() as client:
        return client.request("GET", "/state", close=True).body.decode()


def main(arguments=None):
    options = parse(arguments)
    print(f"seed {options.seed}, {options.seconds:.0f} s, {options.clients} clients, {options.workers} workers", flush=True)
    rng = random.Random(options.seed)
    try:
        return soak(options, rng)
    except unittest.SkipTest as missing:
        print(f"left out: {missing}")
        return 0


def soak(options, rng):
    db, redis = servers.MariaDB(), servers.Redis()
    try:
        postgresql = servers.PostgreSQL()
    except unittest.SkipTest as missing:
        print(f"without PostgreSQL: {missing}")
        postgresql = None
    trouble = chaos.Chaos(rng, db, redis, postgresql)
    prepare_mariadb(db, trouble)
    if postgresql is not None:
        try:
            prepare_postgresql(trouble)
        except subprocess.CalledProcessError as error:
            print(f"without PostgreSQL: {error.stderr.strip()}")
            postgresql = trouble.postgresql = None
    server, folder = start_server(options, [one for one in (db, redis, postgresql) if one])
    with server:
        return watched(options, rng, trouble, server, folder)


def watched(options, rng, trouble, server, folder):
    tally, watch = load.Tally(), Watch(server)

    async def run():
        watching = asyncio.create_task(watch.every_second())
        try:
            return await phases(options, rng, trouble, tally, server, watch)
        finally:
            watching.cancel()

    began = time.monotonic()
    before, after = asyncio.run(run())
    report(tally, trouble, time.monotonic() - began)
    problems = conclude(options, tally, trouble, watch, before, after)
    print("state of a worker:", pools(server))
    log = (folder / "log").read_text(errors="replace") if (folder / "log").exists() else ""
    problems += [f"log: {line}" for line in log.splitlines() if "panicked" in line or "internal error" in line or "fatal" in line.lower()]
    said = (server.folder / "output").read_text(errors="replace")
    if "panicked" in said or "Fatal error" in said:
        problems.append(f"the server said: {said[-2000:]}")
    for problem in problems[:40]:
        print("PROBLEM", problem)
    print(f"{'FAILED' if problems else 'passed'}: {len(problems)} problems, seed {options.seed}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
