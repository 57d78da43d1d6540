"""The content of one results file: medians, ratios, the aims."""

from ..document import Aim, Document, median

MIB = 1024


class TravelResults(Document):
    """The content of one results file."""

    FORMAT = "travel-1"

    def rounds(self, contender: str) -> list[dict]:
        return self.document["runs"].get(contender, [])

    def standing(self, contender: str, key: str) -> float | None:
        return median(run.get(key) for run in self.rounds(contender))

    def runs(self, case: str, contender: str) -> list[dict]:
        """A case is a phase."""
        return [run["phases"].get(case, {}) for run in self.rounds(contender)]

    def failed(self, contender: str, name: str | None = None) -> int | None:
        """Requests without the right answer, over all rounds."""
        runs = self.rounds(contender)
        if not runs:
            return None
        return sum(phase["failed"] for run in runs for key, phase in run["phases"].items() if name in (None, key))

    def aims(self) -> list[Aim]:
        aims = [Aim("Wrong answers of Apus, all phases, at most", self.failed("apus"), 0)]
        for phase in self.document["phases"]:
            if phase["last"]:
                late = self.value(phase["name"], "apus", "p99_us")
                aims.append(Aim(f"p99 of Apus, {phase['title']}, ms, at most", _scaled(late, 1e-3), 2))
        if not self.document["options"]["full"]:
            return aims
        memory = _scaled(self.standing("apus", "pss_after_kib"), 1 / MIB)
        return [
            *aims,
            Aim("Load time of Apus, s, at most", self.standing("apus", "load_seconds"), 180),
            Aim("Visits with both indexes, Apus, MB, at most", self.standing("apus", "visits_mb"), 300),
            Aim("All processes of Apus, PSS after the phases, MiB, at most", memory, 1536),
            Aim("Start from a snapshot, s, at most", self.standing("apus", "restart_seconds"), 10),
        ]


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
