"""Sizes and phases."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    users: int
    locations: int
    visits: int

    @property
    def text(self) -> str:
        return f"{self.users:,} users, {self.locations:,} locations, {self.visits:,} visits"


# That of the training round, and the one that the service is to stand.
TRAINING = Size(10_000, 7_600, 100_000)
FULL = Size(1_000_000, 1_000_000, 11_000_000)


@dataclass(frozen=True)
class Phase:
    name: str
    title: str
    # Its requests: NAME.ammo, NAME.answ.
    ammo: str
    # Requests a second, growing evenly; `last` is 0 where the answers set the pace.
    first: float
    last: float
    seconds: float
    once: bool = False

    @property
    def count(self) -> int:
        """Requests that it sends; 0 where the answers set the pace."""
        return int((self.first + self.last) / 2 * self.seconds) if self.last else 0


def phases(get: float, post: float, after: float, full: float) -> tuple[Phase, ...]:
    """The load of the contest; the lengths are given in seconds."""
    return (
        Phase("get", "GET, 1 to 200 a second", "phase_1_get", 1, 200, get),
        Phase("post", "POST, 100 a second", "phase_2_post", 100, 100, post, once=True),
        Phase("get-after", "GET, 200 to 2,000 a second", "phase_3_get", 200, 2000, after),
        Phase("most", "GET, as fast as it answers, 64 connections", "phase_3_get", 0, 0, full),
    )
