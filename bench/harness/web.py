"""The benchmark of requests: one worker on one core, wrk and ab on another."""

import os
from contextlib import AbstractContextManager, closing
from pathlib import Path

from . import chart, contenders, machine, report, scenarios
from .contenders import Contender
from .document import Document
from .measure import Bench, Cores
from .results import Results
from .suite import Step, Suite, warn_of_busy
from .suites import SUITES

# Start, verification, warm-up and stop of one measurement, seconds; for the estimate only.
OVERHEAD_SECONDS = 0.9


class Web(Suite):
    NAME = "bench"
    COMMAND = "bench/run"
    ABOUT = (
        "Measures Apus beside its peers: one worker on one core, wrk and ab on another, contenders interleaved in rounds. Writes "
        f"the raw figures by date, a Markdown table and a chart. Other benchmarks: bench/run {', '.join(filter(None, SUITES))}."
    )
    RESULTS = Results
    REPORT = report
    ORDER = ("apus", "floor", "fasthttp", "swoole", "node", "fpm", "apache")
    CASES = scenarios.ALL
    QUICK = scenarios.QUICK
    KIND = "scenarios"
    QUICK_HELP = "six scenarios, one round of 1 s: about a minute"
    ROUNDS = (3, 1)
    SECONDS = (2, 1)
    WHOLE_SECONDS = True

    @classmethod
    def arguments(cls, add) -> None:
        add("--server-core", type=int, metavar="N", help="core of the servers (default: the last but one)")
        add("--client-core", type=int, metavar="N", help="core of wrk and ab (default: the last)")

    @classmethod
    def folder(cls) -> Path:
        return contenders.BENCH / "contenders"

    @classmethod
    def pages(cls, results: Document) -> dict[str, str]:
        return {"latest.svg": chart.svg(results), "latest.md": report.markdown(results, "latest.svg")}

    def label(self) -> str:
        return "quick" if self.options.quick else self.NAME

    def prepare(self) -> None:
        allowed, options = sorted(os.sched_getaffinity(0)), self.options
        if len(allowed) < 2:
            raise ValueError("two cores are needed: one for the server, one for the load generator")
        server = allowed[-2] if options.server_core is None else options.server_core
        client = allowed[-1] if options.client_core is None else options.client_core
        if not {server, client} <= set(allowed) or server == client:
            raise ValueError(f"--server-core and --client-core must be two different cores of {allowed}")
        self.cores = Cores(server, client)

    def missing(self) -> list[str]:
        tools = {"wrk": "wrk"} | ({"ab": "apache2-utils"} if any(one.tool == "ab" for one in self.cases()) else {})
        return machine.absent(tools)

    def open(self, ready: list[Contender]) -> AbstractContextManager:
        warn_of_busy(self.cores.server, self.cores.client)
        self.bench = Bench(self.options.scratch, self.cores)
        return closing(self.bench)

    def about_machine(self) -> dict:
        return super().about_machine() | {"wrk": " ".join(machine.output(["wrk", "-v"]).split()[:2])}

    def settings(self) -> dict:
        return {
            "rounds": self.options.rounds,
            "seconds": self.options.seconds,
            "server_core": self.cores.server,
            "client_core": self.cores.client,
        }

    def described(self) -> dict:
        keys = ("name", "title", "concurrency", "keep_alive")
        return {"scenarios": [{key: getattr(one, key) for key in keys} for one in self.cases()]}

    def duration(self, step: Step) -> float:
        return step.case.seconds(self.options.seconds) + OVERHEAD_SECONDS

    def measure(self, step: Step) -> dict:
        return self.bench.measure(step.contender, step.case, self.options.seconds)

    def line(self, step: Step, figures: dict) -> str:
        cpu = f"{figures['cpu_us']:.1f}" if figures["cpu_us"] is not None else "-"
        errors = {name: count for name, count in figures["errors"].items() if count}
        return (
            f"{figures['rps']:,.0f} req/s, {cpu} us/req, p99 {figures['p99_us'] / 1000:.2f} ms, "
            f"errors {errors or 0}, server {figures['server_load']:.0%}, client {figures['client_load']:.0%}"
        )
