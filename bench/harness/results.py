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

    def aims(self) -> list[Aim]:
        own = [
            Aim(f"Own part of the CPU, {what}: Apus / {title}, at most", self.own_ratio(scenario, peer), limit)
            for scenario, what, peers in (
                ("hello-c64", "hello world, c=64", (("fasthttp", "fasthttp", 0.5), ("swoole", "Swoole", 0.4))),
                ("hello-c1000", "hello world, c=1,000", (("fasthttp", "fasthttp", 0.5), ("swoole", "Swoole", 0.4))),
                ("json-c64-close", "JSON with the connection closed (W6 stage 1), c=64", (("node", "Node", 0.25), ("swoole", "Swoole", 0.9))),
            )
            for peer, title, limit in peers
        ]
        floor = [
            Aim(f"CPU a request, {what}: Apus / floor, at most", self.ratio(scenario, "cpu_us", "apus", "floor"), limit)
            for scenario, what, limit in (
                ("hello-c64", "hello world, c=64", 1.35),
                ("hello-c64-close", "hello world with the connection closed, c=64", 1.15),
                ("hello-c1000-close", "hello world with the connection closed, c=1,000", 1.15),
            )
        ]
        return [
            *floor,
            *own,
            Aim("Errors of Apus at c=1000, at most", self.errors_at(1000, "apus"), 0),
        ]
