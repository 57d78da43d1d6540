"""Medians over the rounds, ratios and aims of the coroutine benchmark."""

from .document import Aim, Document

# The figure that a case is about; CPU time of one operation where nothing else is said.
CHIEF = {"memory": "bytes", "late": "late_p50_ms"}
FIBER_TIMES = 3.0
# Of Swoole's figure, at most.
SWOOLE_TIMES = 0.85
# KiB of a sleeping coroutine, at most.
SLEEPING_KIB = 7.0


class CoroResults(Document):
    """The content of one results file."""

    def chief(self, case: str) -> str:
        return CHIEF.get(case, "cpu_ns")

    def chief_ratio(self, case: str, contender: str, peer: str) -> float | None:
        return self.ratio(case, self.chief(case), contender, peer)

    def aims(self) -> list[Aim]:
        """At most 0.85 of Swoole in each case, three times as quick as Fibers with a scheduler in PHP where a time is
        measured, and a bound of its own for memory."""
        swoole = [
            Aim(f"{title}: Apus / Swoole, at most", self.chief_ratio(case, "apus", "swoole"), SWOOLE_TIMES)
            for case, title in self.cases.items()
        ]
        fiber = [
            Aim(f"{title}: PHP Fiber / Apus, at least", self.chief_ratio(case, "fiber", "apus"), FIBER_TIMES, at_least=True)
            for case, title in self.cases.items()
            if case not in CHIEF
        ]
        bytes_each = self.value("memory", "apus", "bytes") if "memory" in self.cases else None
        own = Aim("Memory of a sleeping coroutine, KiB, at most", bytes_each and bytes_each / 1024, SLEEPING_KIB)
        return [*swoole, *fiber, own]
