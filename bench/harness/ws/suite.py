"""The benchmark of WebSocket servers: its cases, and the order of things."""

import os
from contextlib import AbstractContextManager, closing
from pathlib import Path

from ..contenders import Contender
from ..suite import Step, Suite
from . import client, plan, report
from .measure import WsBench
from .results import WsResults

# Start, verification, preparation and stop of one measurement, seconds; for the estimate only.
OVERHEAD_SECONDS = {"open": 3.5, "echo": 2.0, "broadcast": 6.0, "idle": 6.0, "push": 4.0}


class WebSockets(Suite):
    NAME = "ws"
    COMMAND = "bench/run ws"
    ABOUT = (
        "WebSocket servers beside each other (W2): many connections opened at once, echo, broadcast, idle connections, and "
        "pushes from worker to worker. Writes the raw figures by date and a Markdown table."
    )
    RESULTS = WsResults
    REPORT = report
    ORDER = ("apus", "floor", "uws", "gobwas", "coder", "swoole", "node")
    CASES = plan.CASES
    QUICK = ("open-5000", "echo-64", "push", "push-calm")
    QUICK_HELP = "four cases, one round: about a minute"
    ROUNDS = (None, 1)
    # An echo is limited by time, the other cases by their work.
    SECONDS = (1.5, 1.0)
    TOOLS = {"taskset": "util-linux", "cargo": "rustup"}

    @classmethod
    def shown(cls, case: plan.Case) -> str:
        only = f", only {', '.join(case.only)}" if case.only else ""
        return f"{case.title} ({case.rounds} rounds{only})"

    def prepare(self) -> None:
        self.cores = plan.Cores.of(sorted(os.sched_getaffinity(0)))

    def open(self, ready: list[Contender]) -> AbstractContextManager:
        program = client.build(Path(ready[0].tokens()["OUT"]))
        self.bench = WsBench(self.options.scratch, self.cores, program)
        return closing(self.bench)

    def rounds(self, case: plan.Case) -> int:
        return self.options.rounds or case.rounds

    def steps(self, ready: list[Contender]) -> list[Step]:
        return [
            step for step in super().steps(ready) if step.case.only is None or step.contender.name in step.case.only
        ]

    def settings(self) -> dict:
        return {
            "seconds": self.options.seconds,
            "rounds": self.options.rounds,
            "server_cores": plan.as_list(self.cores.servers),
            "client_cores": plan.as_list(self.cores.clients),
        }

    def described(self) -> dict:
        keys = ("name", "title", "mode", "connections")
        return {"cases": [{key: getattr(case, key) for key in keys} for case in self.cases()]}

    def duration(self, step: Step) -> float:
        return OVERHEAD_SECONDS[step.case.mode] + (self.options.seconds if step.case.mode == "echo" else 0)

    def measure(self, step: Step) -> dict:
        return self.bench.measure(step.contender, step.case, self.options.seconds)

    def line(self, step: Step, figures: dict) -> str:
        columns = ((head, figures.get(figure), digits) for figure, head, digits in report.COLUMNS[step.case.mode])
        shown = [f"{head} {value:,.{digits}f}" for head, value, digits in columns if value is not None]
        loads = f"server {figures['server_load']:.0%}, client {figures['client_load']:.0%}, others {figures['foreign_load']:.0%}"
        return ", ".join([*shown, f"failed {figures['failures'] or 0}", loads])
