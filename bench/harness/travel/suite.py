"""The benchmark of the travel service: its phases, and the order of things."""

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..contenders import Contender
from ..suite import Step, Suite, say
from ..ws.plan import Cores, as_list
from . import data, plan, report
from .measure import TravelBench
from .results import TravelResults

SECONDS = ((30.0, 20.0, 30.0, 10.0), (4.0, 4.0, 4.0, 2.0))


@dataclass(frozen=True)
class Round:
    """All phases, one after the other, are one measurement."""

    name: str = "all phases"


class Travel(Suite):
    NAME = "travel"
    COMMAND = "bench/run travel"
    ABOUT = (
        "The travel service (W4) on Apus tables beside the same API in Go: load time, memory, three phases of growing load with "
        "every answer checked, and how much each can do. Writes the raw figures by date and a Markdown table."
    )
    RESULTS = TravelResults
    REPORT = report
    ORDER = ("apus", "go")
    KIND = "phases"
    QUICK_HELP = "phases of a few seconds"
    ROUNDS = (1, 1)
    TOOLS = {"taskset": "util-linux", "go": "golang-go", "php": "php8.2-cli"}

    @classmethod
    def arguments(cls, add) -> None:
        lengths = "lengths of the phases (default 30,20,30,10; the contest's: 180,120,120,10)"
        add("--full", action="store_true", help="1,000,000 users, 1,000,000 locations, 11,000,000 visits (2 GB of scratch)")
        add("--seconds", dest="lengths", type=four_lengths, metavar="A,B,C,D", help=lengths)
        add("--keep", type=Path, metavar="DIR", help="where data sets are kept for further runs (default: made anew)")

    @classmethod
    def listed(cls, options: argparse.Namespace) -> list[tuple[str, str]]:
        return [(phase.name, f"{phase.seconds:g} s: {phase.title}") for phase in phases(options)]

    def prepare(self) -> None:
        self.cores = Cores.of(sorted(os.sched_getaffinity(0)))
        self.phases = phases(self.options)
        self.size = plan.FULL if self.options.full else plan.TRAINING

    def cases(self) -> list:
        return [Round()]

    def label(self) -> str:
        return "travel" + ("-full" if self.options.full else "") + ("-quick" if self.options.quick else "")

    @contextmanager
    def open(self, ready: list[Contender]) -> Iterator[None]:
        programs = data.build(Path(ready[0].tokens()["OUT"]))
        with tempfile.TemporaryDirectory(prefix="apus-bench-data-", dir=self.options.scratch) as scratch:
            say(f"making {self.size.text}")
            self.made = data.make(self.options.keep or Path(scratch), programs, self.size, self.phases)
            with closing(TravelBench(self.options.scratch, self.cores, programs / "load")) as self.bench:
                yield

    def settings(self) -> dict:
        return {
            "full": self.options.full,
            "size": self.size.text,
            "rounds": self.options.rounds,
            "server_cores": as_list(self.cores.servers),
            "client_cores": as_list(self.cores.clients),
        }

    def described(self) -> dict:
        keys = ("name", "title", "last", "seconds")
        return {"phases": [{key: getattr(phase, key) for key in keys} for phase in self.phases]}

    def measure(self, step: Step) -> dict:
        return self.bench.measure(step.contender, self.made, self.phases)

    def keep(self, step: Step, figures: dict) -> None:
        # contender -> one entry a round
        self.document["runs"].setdefault(step.contender.name, []).append(figures)

    def line(self, step: Step, figures: dict) -> str:
        told = figures["phases"]
        shown = [f"{name} p99 {one['p99_us'] / 1000:.2f} ms, {one['failed']} wrong" for name, one in told.items()]
        return f"load {figures['load_seconds']:.1f} s, PSS {figures['pss_after_kib'] / 1024:,.0f} MiB; {'; '.join(shown)}"


def phases(options: argparse.Namespace) -> tuple[plan.Phase, ...]:
    return plan.phases(*(options.lengths or SECONDS[options.quick]))


def four_lengths(text: str) -> tuple[float, ...]:
    given = tuple(float(one) for one in text.split(","))
    if len(given) != len(SECONDS[0]) or min(given) <= 0:
        raise ValueError(text)
    return given
