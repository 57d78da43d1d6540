"""Medians over the rounds, ratios, the aims, and the dated JSON file that everything is rendered from."""

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

FORMAT = 1
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


@dataclass(frozen=True)
class Aim:
    text: str
    # None where one of the two was not measured.
    value: float | None
    limit: float
    at_least: bool = False

    @property
    def state(self) -> str:
        if self.value is None:
            return "not measured"
        met = self.value >= self.limit if self.at_least else self.value <= self.limit
        return "met" if met else "not met"


class Results:
    """The content of one results file."""

    def __init__(self, document: dict):
        if document.get("format") != FORMAT:
            raise ValueError(f"results of format {document.get('format')}; this program reads {FORMAT}")
        self.document = document

    @classmethod
    def load(cls, path: Path) -> "Results":
        return cls(json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.document, indent=1) + "\n")

    @property
    def titles(self) -> dict[str, str]:
        return {name: about["title"] for name, about in self.document["contenders"].items()}

    @property
    def scenarios(self) -> dict[str, str]:
        return {scenario["name"]: scenario["title"] for scenario in self.document["scenarios"]}

    def cell(self, scenario: str, contender: str) -> Cell | None:
        runs = self.document["runs"].get(scenario, {}).get(contender, [])
        if not runs:
            return None
        values = {key: _over(statistics.median, runs, key) for key in _MEDIANS}
        values |= {key: _over(max, runs, key) for key in _PEAKS}
        return Cell(values, sum(sum(run["errors"].values()) for run in runs), len(runs))

    def ratio(self, scenario: str, key: str, contender: str, peer: str) -> float | None:
        ours, theirs = self.cell(scenario, contender), self.cell(scenario, peer)
        if not ours or not theirs or not ours.values[key] or not theirs.values[key]:
            return None
        return ours.values[key] / theirs.values[key]

    def errors_at(self, concurrency: int, contender: str) -> int | None:
        cells = [
            cell
            for scenario in self.document["scenarios"]
            if scenario["concurrency"] == concurrency and (cell := self.cell(scenario["name"], contender))
        ]
        return sum(cell.errors for cell in cells) if cells else None

    def aims(self) -> list[Aim]:
        def cpu(peer: str) -> float | None:
            return self.ratio("hello-c64", "cpu_us", "apus", peer)

        return [
            Aim("CPU a request, hello world, c=64: Apus / floor, at most", cpu("floor"), 1.35),
            Aim("CPU a request, hello world, c=64: Apus / fasthttp, at most", cpu("fasthttp"), 0.9),
            Aim("CPU a request, hello world, c=64: Apus / Swoole, at most", cpu("swoole"), 0.55),
            Aim(
                "Throughput, JSON with the connection closed (W6 stage 1), c=64: Apus / Node, at least",
                self.ratio("json-c64-close", "rps", "apus", "node"),
                3.0,
                at_least=True,
            ),
            Aim("Errors of Apus at c=1000, at most", self.errors_at(1000, "apus"), 0),
        ]


def _over(function, runs: list[dict], key: str):
    values = [run[key] for run in runs if run.get(key) is not None]
    return function(values) if values else None


def dated_path(folder: Path, date: str, label: str) -> Path:
    """YYYY-MM-DD-LABEL.json, numbered from the second of a day on: no run overwrites another."""
    path = folder / f"{date}-{label}.json"
    number = 2
    while path.exists():
        path = folder / f"{date}-{label}-{number}.json"
        number += 1
    return path
