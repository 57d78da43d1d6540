"""Coroutines beside the peers': the same small programs in each, on one core, in turns. Each prints its own cost."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import coro_report
from .contenders import Contender
from .coro_results import CoroResults
from .load import Failed
from .programs import Programs, parse
from .suite import Step

# What the PHP programs call their coroutine class.
CLASSES = {"apus": "Apus\\Coroutine", "swoole": "Swoole\\Coroutine", "fiber": "Bench\\Coroutine"}


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


class Coro(Programs):
    NAME = "coro"
    COMMAND = "bench/coro/run"
    ABOUT = (
        "Coroutines of Apus, Swoole, a least scheduler over PHP's Fiber, Go and Node: the same work on one core, contenders "
        "interleaved in rounds. Writes the raw figures by date and a Markdown table."
    )
    RESULTS = CoroResults
    REPORT = coro_report
    ORDER = ("apus", "swoole", "fiber", "go", "node")
    CASES = CASES
    QUICK_HELP = "one round of a tenth of the work"
    ROUNDS = (7, 1)
    TIMEOUT_SECONDS = 120
    NEEDED = ("ops",)

    @classmethod
    def arguments(cls, add) -> None:
        add("--core", type=int, metavar="N", help="the core to measure on (default: the last)")

    def prepare(self) -> None:
        self.cores = [max(os.sched_getaffinity(0)) if self.options.core is None else self.options.core]

    def settings(self) -> dict:
        return {"rounds": self.options.rounds, "core": self.cores[0], "quick": self.options.quick}

    def count(self, case: Case) -> int:
        # What is not spread over the work cannot be made less of it.
        return case.count if not self.options.quick or case.name == "memory" else max(10_000, case.count // 10)

    def measure_with(self, contender: Contender, tokens: dict[str, str], run: Path) -> dict:
        return super().measure_with(contender, {**tokens, "COROUTINE": CLASSES.get(contender.name, "")}, run)

    def read(self, done: subprocess.CompletedProcess) -> dict:
        return figures(done.stdout, done.stderr, done.returncode)

    def line(self, step: Step, figures: dict) -> str:
        return f"{figures['cpu_ns']:,.0f} ns CPU, {figures['wall_ns']:,.0f} ns"


def figures(stdout: str, stderr: str, code: int) -> dict:
    """What was printed, with times for one operation added."""
    told = parse(stdout, stderr, Coro.NEEDED)
    if code != 0:
        raise Failed(f"exit code {code}")
    try:
        return told | {f"{kind}_ns": told[f"{kind}_s"] / told["ops"] * 1e9 for kind in ("cpu", "wall")}
    except (KeyError, TypeError) as error:
        raise Failed(f"no figures; it said: {stdout.strip().splitlines()[-1]}") from error
