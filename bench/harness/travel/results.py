"""The content of one results file: medians, ratios, the aims."""

import statistics

from ..document import Document
from ..results import Aim

FORMAT = "travel-1"
MIB = 1024


class TravelResults(Document):
    """The content of one results file."""

    FORMAT = FORMAT

    def runs(self, contender: str) -> list[dict]:
        return self.document["runs"].get(contender, [])

    def value(self, contender: str, figure: str) -> float | None:
        """The median over the rounds."""
        return _median(run.get(figure) for run in self.runs(contender))

    def phase(self, name: str, contender: str, figure: str) -> float | None:
        return _median(run["phases"].get(name, {}).get(figure) for run in self.runs(contender))

    def ratio(self, name: str, figure: str, contender: str, peer: str) -> float | None:
        ours, theirs = (self.phase(name, one, figure) for one in (contender, peer))
        return ours / theirs if ours is not None and theirs else None

    def failed(self, contender: str, name: str | None = None) -> int | None:
        """Requests without the right answer, over all rounds."""
        runs = self.runs(contender)
        if not runs:
            return None
        return sum(phase["failed"] for run in runs for key, phase in run["phases"].items() if name in (None, key))

    def aims(self) -> list[Aim]:
        aims = [Aim("Wrong answers of Apus, all phases, at most", self.failed("apus"), 0)]
        for phase in self.document["phases"]:
            if phase["last"]:
                late = self.phase(phase["name"], "apus", "p99_us")
                aims.append(Aim(f"p99 of Apus, {phase['title']}, ms, at most", _scaled(late, 1e-3), 2))
        if not self.document["options"]["full"]:
            return aims
        memory = _scaled(self.value("apus", "pss_after_kib"), 1 / MIB)
        return [
            *aims,
            Aim("Load time of Apus, s, at most", self.value("apus", "load_seconds"), 180),
            Aim("Visits with both indexes, Apus, MB, at most", self.value("apus", "visits_mb"), 300),
            Aim("All processes of Apus, PSS after the phases, MiB, at most", memory, 1536),
            Aim("Start from a snapshot, s, at most", self.value("apus", "restart_seconds"), 10),
        ]


def _median(values) -> float | None:
    found = [value for value in values if value is not None]
    return statistics.median(found) if found else None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
