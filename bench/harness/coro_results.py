"""Medians over the rounds, ratios and aims of the coroutine benchmark."""

from .document import Aim, Document

# The figure that a case is about; CPU time of one operation where nothing else is said.
CHIEF = {"memory": "bytes", "late": "late_p50_ms"}
FIBER_TIMES = 3.0


class CoroResults(Document):
    """The content of one results file."""

    def chief(self, case: str) -> str:
        return CHIEF.get(case, "cpu_ns")

    def chief_ratio(self, case: str, contender: str, peer: str) -> float | None:
        return self.ratio(case, self.chief(case), contender, peer)

    def aims(self) -> list[Aim]:
        """At least equal to Swoole in each case, and three times as quick as Fibers with a scheduler in PHP where a
        time is measured."""
        swoole = [
            Aim(f"{title}: Apus / Swoole, at most", self.chief_ratio(case, "apus", "swoole"), 1.0)
            for case, title in self.cases.items()
        ]
        fiber = [
            Aim(f"{title}: PHP Fiber / Apus, at least", self.chief_ratio(case, "fiber", "apus"), FIBER_TIMES, at_least=True)
            for case, title in self.cases.items()
            if case not in CHIEF
        ]
        return swoole + fiber
