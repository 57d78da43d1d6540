"""Requests: medians over the rounds, ratios, the aims."""

import statistics
from dataclasses import dataclass

from .document import Aim, Document, over

_MEDIANS = ("rps", "cpu_us", "p50_us", "p99_us", "max_us", "server_load", "client_load", "foreign_load")
_PEAKS = ("rss_kib", "pss_kib", "processes")


@dataclass(frozen=True)
class Cell:
    """One contender in one scenario, over all rounds."""

    values: dict[str, float | None]
    errors: int
    rounds: int

    def __getattr__(self, name: str):
        try:
            return self.values[name]
        except KeyError as error:
            raise AttributeError(name) from error


class Results(Document):
    """The content of one results file."""

    @property
    def cases(self) -> dict[str, str]:
        return {scenario["name"]: scenario["title"] for scenario in self.document["scenarios"]}

    def cell(self, scenario: str, contender: str) -> Cell | None:
        runs = self.runs(scenario, contender)
        if not runs:
            return None
        values = {key: over(statistics.median, (run.get(key) for run in runs)) for key in _MEDIANS}
        values |= {key: over(max, (run.get(key) for run in runs)) for key in _PEAKS}
        return Cell(values, sum(sum(run["errors"].values()) for run in runs), len(runs))

    def errors_at(self, concurrency: int, contender: str) -> int | None:
        cells = [
            cell
            for scenario in self.document["scenarios"]
            if scenario["concurrency"] == concurrency and (cell := self.cell(scenario["name"], contender))
        ]
        return sum(cell.errors for cell in cells) if cells else None

    def own_ratio(self, scenario: str, peer: str) -> float | None:
        """Apus over the peer in what is their own: CPU a request less the floor's, which is the kernel's above all."""
        floor, ours, theirs = (self.value(scenario, one, "cpu_us") for one in ("floor", "apus", peer))
        if floor is None or ours is None or theirs is None or theirs <= floor:
            return None
        return max(ours - floor, 0) / (theirs - floor)

    def aims(self) -> list[Aim]:
        own = [
            Aim(f"Own part of the CPU, hello world, c={many:,}: Apus / {title}, at most", self.own_ratio(f"hello-c{many}", peer), limit)
            for many in (64, 1000)
            for peer, title, limit in (("fasthttp", "fasthttp", 0.5), ("swoole", "Swoole", 0.4))
        ]
        return [
            Aim("CPU a request, hello world, c=64: Apus / floor, at most", self.ratio("hello-c64", "cpu_us", "apus", "floor"), 1.35),
            *own,
            Aim(
                "Throughput, JSON with the connection closed (W6 stage 1), c=64: Apus / Node, at least",
                self.ratio("json-c64-close", "rps", "apus", "node"),
                3.0,
                at_least=True,
            ),
            Aim("Errors of Apus at c=1000, at most", self.errors_at(1000, "apus"), 0),
        ]
