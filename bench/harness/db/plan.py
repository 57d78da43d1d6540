"""The eleven tests of W5, one that only sleeps, and what they wait for. bench/db/app/tests.php has what they do."""

from dataclasses import dataclass

CONCURRENCIES = (100, 500, 1000)
POOLED_QUERY = "basic_query_with_pool"


@dataclass(frozen=True)
class Test:
    name: str
    title: str
    # Queries of a request that sleep in the database, one after the other, and for how many seconds each.
    sleeps: int = 0
    sleep_seconds: float = 0.0
    # A request takes a millisecond of a core before them, in one go.
    computes: bool = False

    @property
    def path(self) -> str:
        return "/" + self.name


TESTS = (
    Test("basic", "A constant answer"),
    Test("basic_class_load", "Two files by require_once"),
    Test("basic_class_load_multiple", "100 autoloaded classes"),
    Test("basic_query", "One query over a new connection"),
    Test(POOLED_QUERY, "One query over a pooled connection"),
    Test("basic_query_with_pool_and_caching", "The same, its result cached"),
    Test("real_app_simulation", "100 classes, 10,000 cache reads"),
    Test("real_app_simulation_with_files", "The same and 10 files written, read, deleted"),
    Test(
        "real_app_simulation_with_files_and_connections",
        "The same and 20 pooled queries of 10 ms",
        sleeps=20,
        sleep_seconds=0.01,
        computes=True,
    ),
    Test(
        "real_app_simulation_with_files_and_connections_simpler",
        "10 classes, 1,000 cache reads, 1 file, 2 pooled queries of 10 ms",
        sleeps=2,
        sleep_seconds=0.01,
    ),
    Test("simple_real_app_simulation", "100 classes, 1,000 cache reads, 2 pooled queries"),
    # Not of W5: whether the pool is the limit shows best where nothing else is done.
    Test("sleeping_query_with_pool", "One pooled query of 50 ms", sleeps=1, sleep_seconds=0.05),
)

# What sleeps is measured for so many times as long as the others: while the first requests sleep, and the last, cores
# are idle.
SLEEPING_TIMES = 4


def seconds(test: Test, wanted: float) -> float:
    """How long a test is measured."""
    return wanted * SLEEPING_TIMES if test.sleeps else wanted


QUICK = ("basic", "basic_query", POOLED_QUERY, TESTS[8].name, TESTS[11].name)
QUICK_CONCURRENCY = 100


def cores(allowed: list[int]) -> tuple[str, str, int]:
    """The servers', the database's (of one or two in all, it shares ab's) and ab's."""
    servers = allowed[-2:-1] or allowed
    return str(servers[0]), ",".join(str(core) for core in allowed[:-2] or allowed[-1:]), allowed[-1]


@dataclass(frozen=True)
class Pool:
    """Processes of the server, and connections to the database each may have."""

    workers: int
    size: int

    @property
    def connections(self) -> int:
        return self.workers * self.size

    def of(self, contender: str, concurrency: int) -> int:
        """A child of mod_php serves one connection of the load generator, and keeps one to the database."""
        return concurrency if contender == "apache" else self.connections


def pool_queries(test: Test, connections: int, concurrency: int) -> int | None:
    """Queries that are under way at once at most; None where nothing sleeps. A request does its queries in turn: it
    needs one connection for all their time, and no more than `concurrency` requests are under way."""
    return min(connections, concurrency) if test.sleeps else None
