"""Processes: start them pinned to a core, account for their whole tree, end them by pid."""

import ctypes
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
STOP_SECONDS = 5.0

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Stat:
    """The fields of /proc/PID/stat that matter here; times in clock ticks."""

    pid: int
    state: str
    parent: int
    own_ticks: int
    reaped_ticks: int
    threads: int
    started: int

    @classmethod
    def parse(cls, text: str) -> "Stat":
        # The command name stands in parentheses and may itself hold spaces and parentheses.
        pid = int(text[: text.index(" ")])
        fields = text[text.rindex(")") + 2 :].split()
        user, system, child_user, child_system = (int(field) for field in fields[11:15])
        own, reaped = user + system, child_user + child_system
        return cls(pid, fields[0], int(fields[1]), own, reaped, int(fields[17]), int(fields[19]))


def read_stat(pid: int) -> Stat | None:
    try:
        return Stat.parse(Path(f"/proc/{pid}/stat").read_text())
    except (OSError, ValueError):
        return None


def tree(roots: list[int]) -> list[Stat]:
    """The processes `roots` and all their descendants that are alive."""
    stats = [stat for name in os.listdir("/proc") if name.isdigit() and (stat := read_stat(int(name)))]
    children: dict[int, list[Stat]] = {}
    for stat in stats:
        children.setdefault(stat.parent, []).append(stat)
    found = [stat for stat in stats if stat.pid in roots]
    for stat in found:  # grows while it is walked
        found.extend(children.get(stat.pid, []))
    return found


def cpu_seconds(stats: list[Stat]) -> float:
    """User and system time of a tree, with what its dead children had used."""
    return sum(_own_seconds(stat) + stat.reaped_ticks / TICKS_PER_SECOND for stat in stats)


def _own_seconds(stat: Stat) -> float:
    """utime + stime are rounded down to 10 ms, which hides most of the work of a thousand children. schedstat counts
    nanoseconds, but of the threads that live. Both fall short of the truth, so the greater one is nearer to it."""
    nanoseconds = 0
    try:
        for name in os.listdir(f"/proc/{stat.pid}/task"):
            nanoseconds += int(Path(f"/proc/{stat.pid}/task/{name}/schedstat").read_text().split()[0])
    except (OSError, IndexError, ValueError):  # one has just ended, or a kernel without SCHED_INFO
        pass
    return max(nanoseconds / 1e9, stat.own_ticks / TICKS_PER_SECOND)


def memory_kib(stats: list[Stat]) -> tuple[int, int]:
    """(RSS, PSS): summed resident pages, and the same with pages shared within the tree counted once."""
    rss = pss = 0
    for stat in stats:
        try:
            lines = Path(f"/proc/{stat.pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        values = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
        rss += values.get("Rss", 0)
        pss += values.get("Pss", 0)
    return rss, pss


def busiest_kib(stats: list[Stat]) -> int:
    """RSS of the process that has worked most: of a server with one worker that is the worker, not who started it."""
    busiest = max(stats, key=_own_seconds, default=None)
    return memory_kib([busiest])[0] if busiest else 0


def core_busy_ticks(core: int) -> int:
    """Ticks the core spent on anything but idling."""
    for line in Path("/proc/stat").read_text().splitlines():
        fields = line.split()
        if fields[0] == f"cpu{core}":
            user, nice, system, _idle, _iowait, irq, softirq, steal = (int(field) for field in fields[1:9])
            return user + nice + system + irq + softirq + steal
    raise ValueError(f"this machine has no core {core}")


def pinned(cores: int | str, argv: list[str]) -> list[str]:
    """`cores`: a number, or a list as taskset reads it (`0,1`)."""
    return ["taskset", "-c", str(cores), *argv]


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


class Group:
    """The processes of one started contender."""

    def __init__(self, core: int | str, env: dict[str, str], directory: Path, log: Path):
        self._core, self._env, self._directory, self._log = core, env, directory, log
        self._processes: list[subprocess.Popen] = []

    def start(self, argv: list[str]) -> None:
        """A session of its own, so that a Ctrl-C in the terminal reaches us first and we end it in order."""
        with self._log.open("ab") as log:
            self._processes.append(
                subprocess.Popen(
                    pinned(self._core, argv),
                    env=self._env,
                    cwd=self._directory,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=_die_with_parent,
                )
            )

    def tree(self) -> list[Stat]:
        return tree([process.pid for process in self._processes])

    def ended(self) -> bool:
        return any(process.poll() is not None for process in self._processes)

    def log_tail(self, lines: int = 8) -> str:
        try:
            return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def stop(self) -> None:
        """TERM to what we started; when that has ended (or will not), KILL to whatever of the tree is left."""
        with _uninterrupted():
            self._stop()

    def _stop(self) -> None:
        known = self.tree()
        for process in reversed(self._processes):
            process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        while any(process.poll() is None for process in self._processes) and time.monotonic() < deadline:
            time.sleep(0.005)
        for stat in known:
            if running(stat):
                _kill(stat.pid)
        for process in self._processes:
            process.wait()
        self._processes.clear()


@contextmanager
def _uninterrupted():
    """An impatient second Ctrl-C must not leave servers behind: ending them is bounded by STOP_SECONDS anyway."""
    held = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)


def running(stat: Stat) -> bool:
    """Still the same process (a reused pid has another start time) and not a zombie that waits for its parent."""
    now = read_stat(stat.pid)
    return now is not None and now.started == stat.started and now.state != "Z"


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
