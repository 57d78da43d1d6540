"""The cases: what the client does, with how many connections, on how many workers."""

from dataclasses import dataclass

# A tenth of the pushes a second that are aimed at.
CALM_GAP_NS = 33_333
# Connections under way at once where opening them is not what is measured.
WINDOW = 400


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    # Mode of the client.
    mode: str
    rounds: int
    connections: int = 1
    # A process may hold 20,000 descriptors: from there on both sides are split.
    workers: int = 1
    processes: int = 2
    messages: int = 1
    gap_ns: int = 0
    # The contenders that can do it; none: all.
    only: tuple[str, ...] | None = None


CASES = (
    Case("open-5000", "Open 5,000 connections at once, one echo each", "open", 3, 5_000, workers=2),
    Case("open-20000", "Open 20,000 connections at once, one echo each", "open", 3, 20_000, workers=2),
    Case("echo-64", "Echo, 64 connections, one worker", "echo", 3, 64),
    Case("echo-1000", "Echo, 1,000 connections, one worker", "echo", 3, 1_000),
    Case("broadcast-20000", "One message to 20,000 connections", "broadcast", 2, 20_000, workers=2, messages=10),
    Case("idle-10000", "Memory of one of 10,000 idle connections", "idle", 1, 10_000),
    Case(
        "push",
        "Push to a connection of another worker, as fast as possible",
        "push",
        3,
        workers=2,
        processes=1,
        messages=600_000,
        only=("apus", "swoole"),
    ),
    Case(
        "push-calm",
        "The same, 30,000 a second",
        "push",
        3,
        workers=2,
        processes=1,
        messages=45_000,
        gap_ns=CALM_GAP_NS,
        only=("apus", "floor", "swoole"),
    ),
)


@dataclass(frozen=True)
class Cores:
    """The first half is the servers', the second the clients'."""

    servers: tuple[int, ...]
    clients: tuple[int, ...]

    @classmethod
    def of(cls, allowed: list[int]) -> "Cores":
        if len(allowed) < 2:
            raise ValueError("two cores are needed: one for the servers, one for the clients")
        half = len(allowed) // 2
        return cls(tuple(allowed[:half]), tuple(allowed[half:]))

    def for_workers(self, workers: int) -> tuple[int, ...]:
        """One worker gets the last of the servers' cores: the machine's interrupts fall to the first."""
        return self.servers[-workers:]

    def for_processes(self, processes: int) -> tuple[int, ...]:
        return self.clients[:processes]


def as_list(cores: tuple[int, ...]) -> str:
    """As taskset reads it."""
    return ",".join(str(core) for core in cores)
