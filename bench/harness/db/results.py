"""The content of one results file: medians, ratios, what the pool allows, the aims."""

from dataclasses import dataclass

from ..document import Aim, Document
from . import network, plan

# The pooled query: how many times the requests a second of the server that its users come from, and the most CPU beside
# the engine that Apus is compared with (docs/decisions/0016-the-aim-beside-swoole.md).
LEAST_RATE = ("apache", 3.0)
MOST_CPU = ("swoole", 1.0)
# A sleeping test must reach this share of what its pool and its cores allow together; one whose requests compute for a
# millisecond somewhat less (docs/decisions/0039-turns-are-short.md).
LEAST_SHARE = 0.95
LEAST_SHARE_COMPUTING = 0.9


@dataclass(frozen=True)
class Room:
    """Requests a second: what the pool allows, what the server's cores allow, what both do together, and what was
    measured while all connections of the load generator had a request under way."""

    pool: float
    cores: float
    both: float
    measured: float

    @property
    def share(self) -> float:
        return self.measured / self.both


class DbResults(Document):
    """The content of one results file."""

    FORMAT = "db-2"

    def concurrencies(self) -> list[int]:
        return sorted({int(key.rpartition("-c")[2]) for key in self.document["runs"]})

    def of(self, test: str, concurrency: int, contender: str) -> list[dict]:
        """The figures of every round."""
        return self.runs(f"{test}-c{concurrency}", contender)

    def figure(self, test: str, concurrency: int, contender: str, key: str) -> float | None:
        return self.value(f"{test}-c{concurrency}", contender, key)

    def apus_to(self, peer: str, test: str, concurrency: int, key: str) -> float | None:
        return self.ratio(f"{test}-c{concurrency}", key, "apus", peer) or None

    def failures(self, test: str, concurrency: int, contender: str) -> dict[str, int]:
        total: dict[str, int] = {}
        for run in self.of(test, concurrency, contender):
            for kind, count in run["errors"].items():
                total[kind] = total.get(kind, 0) + count
        return {kind: count for kind, count in total.items() if count}

    def all_failures(self, contender: str) -> int | None:
        """Requests that failed, and each measurement that failed as a whole; None where nothing was measured."""
        whole = sum(pair.startswith(f"{contender} in ") for pair in self.document["failed"])
        measured = any(contender in runs for runs in self.document["runs"].values())
        if not measured and not whole:
            return None
        return whole + sum(
            sum(self.failures(test.name, concurrency, contender).values())
            for test in plan.TESTS
            for concurrency in self.concurrencies()
        )

    def room(self, test: str, concurrency: int, contender: str) -> "Room | None":
        pool, cpu, rate = (
            self.figure(test, concurrency, contender, figure) for figure in ("pool_limit_rps", "cpu_us", "steady_rps")
        )
        if not pool or not cpu or not rate:
            return None
        cores = len(core_list(self.document["options"]["server_cores"]))
        connections = min(self.of(test, concurrency, contender)[0]["connections"], concurrency)
        allowed = cores * 1e6 / cpu
        return Room(pool, allowed, network.rate(concurrency, pool, connections, allowed, cores), rate)

    def aims(self) -> list[Aim]:
        aims = [Aim("Failures of Apus in all tests, at most", self.all_failures("apus"), 0)]
        pooled = [(MOST_CPU, "CPU", "cpu_us", False), (LEAST_RATE, "Requests/s", "rps", True)]
        for (peer, limit), what, key, at_least in pooled:
            for concurrency in self.concurrencies() or plan.CONCURRENCIES:
                value = self.apus_to(peer, plan.POOLED_QUERY, concurrency, key)
                name, bound = self.titles.get(peer, peer), "at least" if at_least else "at most"
                text = f"{what}, {plan.POOLED_QUERY}, c={concurrency}: Apus / {name}, {bound}"
                aims.append(Aim(text, value, limit, at_least=at_least))
        for test in plan.TESTS:
            for concurrency in self.concurrencies() if test.sleeps else ():
                room = self.room(test.name, concurrency, "apus")
                text = f"Of what pool and core allow, {test.name}, c={concurrency}, at least"
                limit = LEAST_SHARE_COMPUTING if test.computes else LEAST_SHARE
                aims.append(Aim(text, room and room.share, limit, at_least=True))
        return aims


def core_list(text: str) -> list[int]:
    """`0,2-3` as taskset reads it."""
    cores: list[int] = []
    for part in str(text).split(","):
        first, _, last = part.partition("-")
        cores.extend(range(int(first), int(last or first) + 1))
    return cores
