"""Medians over the rounds, ratios and aims of the coroutine benchmark."""

from .document import Document
from .results import Aim

FORMAT = 1
KEYS = ("cpu_ns", "wall_ns", "bytes", "late_p50_ms", "late_p99_ms", "late_max_ms", "late_min_ms")
# The figure that a case is about; CPU time of one operation where nothing else is said.
CHIEF = {"memory": "bytes", "late": "late_p50_ms"}
FIBER_TIMES = 3.0


class CoroResults(Document):
    """The content of one results file."""

    FORMAT = FORMAT

    @property
    def cases(self) -> dict[str, str]:
        return {case["name"]: case["title"] for case in self.document["cases"]}

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
