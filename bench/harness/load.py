"""The load generators. Both answer with the same figures."""

import contextlib
import csv
import json
import os
import re
import resource
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from .procs import pinned
from .scenarios import Scenario, Target

WRK_SCRIPT = Path(__file__).with_name("wrk.lua")
# wrk counts an answer slower than this as an error; 2 s is its own default. Bodies take longer at c=1000.
TIMEOUT_SECONDS = {False: 2, True: 15}
AB_MOST_REQUESTS = 2_000_000


class Failed(Exception):
    """A measurement that gave no figures; says why."""


class LoadFailed(Failed):
    """The load generator did not do its work."""


@dataclass
class Load:
    requests: int
    seconds: float
    p50_us: float
    p99_us: float
    max_us: float
    errors: dict[str, int]
    # CPU seconds of the load generator: close to `seconds` means that it, not the server, set the pace.
    client_cpu: float = 0.0
    # Of the answers, heads included; ab does not tell.
    received_bytes: int = 0

    def record(self) -> dict:
        return asdict(self)


def warm_up(scenario: Scenario | Target, port: int, core: int, body: Path | None, seconds: float) -> None:
    """wrk takes whole seconds only; on SIGINT it ends early."""
    argv, env = _wrk(scenario, port, body, 60)
    process = subprocess.Popen(pinned(core, argv), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(seconds)
        # It may have come before wrk listens to it: a program in the background begins with SIGINT ignored.
        for _ in range(10):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=2)
                break
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def run(scenario: Scenario | Target, port: int, core: int, body: Path | None, seconds: int, scratch: Path) -> Load:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if scenario.tool == "ab":
        table = scratch / "ab.csv"
        table.unlink(missing_ok=True)
        load = parse_ab(_run(core, *_ab(scenario, port, seconds, table), seconds), table)
    else:
        load = parse_wrk(_run(core, *_wrk(scenario, port, body, seconds), seconds))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    load.client_cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return load


def _run(core: int, argv: list[str], env: dict[str, str], seconds: int) -> str:
    done = subprocess.run(
        pinned(core, argv), env=env, capture_output=True, text=True, timeout=seconds + 60, check=False
    )
    if done.returncode:
        raise LoadFailed(f"{argv[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def _wrk(scenario: Scenario | Target, port: int, body: Path | None, seconds: int) -> tuple[list[str], dict[str, str]]:
    env = dict(os.environ)
    for name, value in (("BENCH_BODY", body), ("BENCH_CLOSE", None if scenario.keep_alive else "1")):
        env.pop(name, None)
        if value:
            env[name] = str(value)
    timeout = TIMEOUT_SECONDS[body is not None or scenario.patient]
    argv = ["wrk", "-t1", f"-c{scenario.concurrency}", f"-d{seconds}s", "--timeout", f"{timeout}s"]
    argv += [word for line in scenario.headers for word in ("-H", line)]
    return [*argv, "-s", str(WRK_SCRIPT), f"http://127.0.0.1:{port}{scenario.path}"], env


def parse_wrk(output: str) -> Load:
    for line in output.splitlines():
        if line.startswith("BENCH "):
            return Load(**json.loads(line.removeprefix("BENCH ")))
    raise LoadFailed(f"wrk printed no figures: {output.strip()[-400:]}")


def _ab(scenario: Scenario | Target, port: int, seconds: int, table: Path) -> tuple[list[str], dict[str, str]]:
    # -n after -t lifts the 50,000 requests that -t implies.
    argv = ["ab", "-q", "-r", "-c", str(scenario.concurrency), "-t", str(seconds), "-n", str(AB_MOST_REQUESTS)]
    keep = ["-k"] if scenario.keep_alive else []
    return [*argv, *keep, "-e", str(table), f"http://127.0.0.1:{port}{scenario.path}"], dict(os.environ)


def parse_ab(output: str, table: Path) -> Load:
    def number(label: str) -> float:
        match = re.search(rf"^{re.escape(label)}:\s+([\d.]+)", output, re.MULTILINE)
        return float(match[1]) if match else 0.0

    if not number("Time taken for tests"):
        raise LoadFailed(f"ab printed no figures: {output.strip()[-400:]}")
    with table.open() as rows:
        milliseconds = {row[0]: row[1] for row in csv.reader(rows)}
    percentile = {share: float(milliseconds[share]) * 1000 for share in ("50", "99", "100") if share in milliseconds}
    return Load(
        requests=int(number("Complete requests")),
        seconds=number("Time taken for tests"),
        p50_us=percentile.get("50", 0.0),
        p99_us=percentile.get("99", 0.0),
        max_us=percentile.get("100", 0.0),
        errors={"failed": int(number("Failed requests")), "status": int(number("Non-2xx responses"))},
    )
