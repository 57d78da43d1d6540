"""Results files: written after each measurement, rendered again at any time. Medians over the rounds, ratios, aims."""

import json
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


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


class Document:
    """The content of one results file: contenders, and for each case the figures of every round."""

    FORMAT: int | str = 1

    def __init__(self, document: dict):
        if document.get("format") != self.FORMAT:
            raise ValueError(f"results of format {document.get('format')}; this program reads {self.FORMAT}")
        self.document = document

    @classmethod
    def load(cls, path: Path):
        return cls(json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        """Whole or not at all: it is written after each measurement, and a run may be stopped at any time."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(self.document, indent=1) + "\n")
        fresh.replace(path)

    @property
    def titles(self) -> dict[str, str]:
        return {name: about["title"] for name, about in self.document["contenders"].items()}

    @property
    def cases(self) -> dict[str, str]:
        return {case["name"]: case["title"] for case in self.document["cases"]}

    def runs(self, case: str, contender: str) -> list[dict]:
        """The figures of every round."""
        return self.document["runs"].get(case, {}).get(contender, [])

    def value(self, case: str, contender: str, key: str) -> float | None:
        """The median over the rounds."""
        return median(run.get(key) for run in self.runs(case, contender))

    def share(self, case: str, contender: str, key: str) -> str:
        """A share of a core, as a cell."""
        value = self.value(case, contender, key)
        return "" if value is None else f"{value:.0%}"

    def rounds_of(self, case: str, key: str, *names: str) -> list[tuple[float, ...]]:
        """A figure of several contenders, round by round: what is compared was measured within seconds of each other.
        Where some have fewer rounds it is not known which, and there is one, of their medians."""
        runs = [[run.get(key) for run in self.runs(case, name)] for name in names]
        if len({len(figures) for figures in runs}) > 1:
            runs = [[median(figures)] for figures in runs]
        return [figures for figures in zip(*runs) if None not in figures]

    def ratio(self, case: str, key: str, contender: str, peer: str) -> float | None:
        """The median over the rounds."""
        return median(ours / theirs for ours, theirs in self.rounds_of(case, key, contender, peer) if theirs)

    def own_ratio(self, case: str, peer: str) -> float | None:
        """Apus over the peer in what is their own: CPU time less the floor's, which is the kernel's above all."""
        rounds = self.rounds_of(case, "cpu_us", "floor", "apus", peer)
        return median(max(ours - floor, 0) / (theirs - floor) for floor, ours, theirs in rounds if theirs > floor)

    def aims(self) -> list[Aim]:
        return []

    def versions(self) -> str:
        about = self.document["contenders"].values()
        return "; ".join(f"{one['title']}: {one['version']}" for one in about if one.get("version"))

    def notes(self) -> list[str]:
        absent, failed = self.document.get("absent", {}), self.document.get("failed", {})
        lines = [f"Not measured: {name} ({why.splitlines()[0]})." for name, why in absent.items()]
        return lines + [f"Failed: {pair} ({why.splitlines()[0]})." for pair, why in failed.items()]


def over(function: Callable, values: Iterable[float | None]) -> float | None:
    """The function of those that were measured; None where none was."""
    found = [value for value in values if value is not None]
    return function(found) if found else None


def median(values: Iterable[float | None]) -> float | None:
    return over(statistics.median, values)


def dated_path(folder: Path, date: str, label: str) -> Path:
    """YYYY-MM-DD-LABEL.json, numbered from the second of a day on: no run overwrites another."""
    path = folder / f"{date}-{label}.json"
    number = 2
    while path.exists():
        path = folder / f"{date}-{label}-{number}.json"
        number += 1
    return path
