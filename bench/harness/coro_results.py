"""Medians over the rounds, ratios and aims of the coroutine benchmark."""

import json
import statistics
from pathlib import Path

from .results import Aim

FORMAT = 1
KEYS = ("cpu_ns", "wall_ns", "bytes", "late_p50_ms", "late_p99_ms", "late_max_ms", "late_min_ms")
# The figure that a case is about; CPU time of one operation where nothing else is said.
CHIEF = {"memory": "bytes", "late": "late_p50_ms"}
FIBER_TIMES = 3.0


class CoroResults:
    """The content of one results file."""

    def __init__(self, document: dict):
        if document.get("format") != FORMAT:
            raise ValueError(f"results of format {document.get('format')}; this program reads {FORMAT}")
        self.document = document

    @classmethod
    def load(cls, path: Path) -> "CoroResults":
        return cls(json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.document, indent=1) + "\n")

    @property
    def titles(self) -> dict[str, str]:
        return {name: about["title"] for name, about in self.document["contenders"].items()}

    @property
    def cases(self) -> dict[str, str]:
        return {case["name"]: case["title"] for case in self.document["cases"]}

    def value(self, case: str, contender: str, key: str) -> float | None:
        """The median over the rounds."""
        runs = self.document["runs"].get(case, {}).get(contender, [])
        values = [run[key] for run in runs if run.get(key) is not None]
        return statistics.median(values) if values else None

    def chief(self, case: str) -> str:
        return CHIEF.get(case, "cpu_ns")

    def ratio(self, case: str, contender: str, peer: str) -> float | None:
        ours, theirs = (self.value(case, one, self.chief(case)) for one in (contender, peer))
        return ours / theirs if ours is not None and theirs else None

    def aims(self) -> list[Aim]:
        """At least equal to Swoole in each case, and three times as quick as Fibers with a scheduler in PHP where a time
        is measured."""
        swoole = [
            Aim(f"{title}: Apus / Swoole, at most", self.ratio(case, "apus", "swoole"), 1.0)
            for case, title in self.cases.items()
        ]
        fiber = [
            Aim(f"{title}: PHP Fiber / Apus, at least", self.ratio(case, "fiber", "apus"), FIBER_TIMES, at_least=True)
            for case, title in self.cases.items()
            if case not in CHIEF
        ]
        return swoole + fiber
