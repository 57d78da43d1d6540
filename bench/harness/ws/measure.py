"""One contender in one case: start, verify, prepare, measure, stop."""

import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from .. import procs
from ..contenders import Contender
from ..measure import Ports, run_directory, settle, started
from . import client as load
from .plan import Case, Cores, as_list
from .verify import await_open, verify

# What is freed with a delay after the connections were opened is not what an idle one holds.
IDLE_SECONDS = 2.0


class WsBench:
    """The scratch directory; one contender runs at a time."""

    def __init__(self, scratch: Path, cores: Cores, program: Path):
        self._cores, self._program, self._ports = cores, program, Ports()
        self._scratch = Path(tempfile.mkdtemp(prefix="apus-bench-ws-", dir=scratch))
        self._scratch.chmod(0o755)

    def close(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)

    def measure(self, contender: Contender, case: Case, seconds: float) -> dict:
        port = self._ports.free()
        tokens = {**tokens_of(contender, self._program), "PORT": str(port), "WORKERS": str(case.workers), "CASE": case.name}
        cores = as_list(self._cores.for_workers(case.workers))
        with run_directory(self._scratch) as run, started(contender, run, tokens, cores) as group:
            await_open(group, port)
            settle(group)
            # A case that only some can do is verified by its own figures.
            if case.only is None:
                verify(port)
                settle(group)
            return self._under_load(group, case, port, seconds)

    def _under_load(self, group: procs.Group, case: Case, port: int, seconds: float) -> dict:
        cores = self._cores.for_processes(case.processes)
        empty = memory(group.tree())
        with load.Client(self._program, load.words(case, port, cores, seconds), cores) as client:
            client.ready()
            settle(group)
            if case.mode == "idle":
                time.sleep(IDLE_SECONDS)
                settle(group)
            full, cpu_before, began = memory(group.tree()), procs.cpu_seconds(group.tree()), time.monotonic()
            busy_before = self._busy(case)
            told = client.measure()
            stats, elapsed = group.tree(), time.monotonic() - began
            cpu = procs.cpu_seconds(stats) - cpu_before
            busy = self._busy(case) - busy_before
        figures = {
            **derive(case, told, cpu, full, empty),
            "server_load": cpu / elapsed / case.workers,
            "client_load": told.get("client_cpu_ns", 0) / 1e9 / elapsed / max(1, min(case.processes, len(cores))),
            # What others took of the servers' cores meanwhile.
            "foreign_load": max(0.0, busy - cpu) / elapsed / case.workers,
            "processes": len(stats),
            "client": told,
        }
        if told["failed"]:
            figures["log"] = group.log_tail()
        return figures

    def _busy(self, case: Case) -> float:
        cores = self._cores.for_workers(case.workers)
        return sum(procs.core_busy_ticks(core) for core in cores) / procs.TICKS_PER_SECOND


def tokens_of(contender: Contender, program: Path) -> dict[str, str]:
    """With every environment variable that the contender needs."""
    given = {need["env"]: os.environ.get(need["env"], "") for need in contender.needs if "env" in need}
    return {**given, "CLIENT": str(program)}


def memory(stats: list[procs.Stat]) -> dict[str, int]:
    """Bytes: the servers' share of memory that is no file's (a shared page counts once, a program's text not at all)
    and of all memory, and what the kernel holds for all sockets, both ends'."""
    own = pss = 0
    for stat in stats:
        try:
            lines = Path(f"/proc/{stat.pid}/smaps_rollup").read_text()
        except OSError:  # it has just ended
            continue
        values = {name: int(kib) for name, kib in re.findall(r"^(\w+): +(\d+) kB$", lines, re.MULTILINE)}
        pss += values.get("Pss", 0)
        own += values.get("Pss", 0) - values.get("Pss_File", 0)
    return {"own": own * 1024, "pss": pss * 1024, "kernel": kernel_bytes()}


def kernel_bytes() -> int:
    """The kernel's objects and the sockets' buffers."""
    slab = re.search(r"^Slab: +(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    buffers = re.search(r"^TCP: .*\bmem (\d+)", Path("/proc/net/sockstat").read_text(), re.MULTILINE)
    pages = int(buffers[1]) if buffers else 0
    return (int(slab[1]) if slab else 0) * 1024 + pages * os.sysconf("SC_PAGE_SIZE")


def derive(case: Case, told: dict, cpu: float, full: dict[str, int], empty: dict[str, int]) -> dict:
    """The figures of the tables from what the client told; times in the unit that the name ends with."""
    mode = case.mode
    opened = {
        "connected": told.get("connected", 0),
        "failed": told["failed"],
        "failures": told["failures"],
    }
    if mode == "open":
        return opened | {
            "seconds": told["open_ns"] / 1e9,
            "cpu_us": _share(cpu * 1e6, told["connected"]),
            "handshake_ms": told["handshake"]["mean_ns"] / 1e6,
            "handshake_p99_ms": told["handshake"]["p99_ns"] / 1e6,
            "echo_ms": told["first_echo"]["mean_ns"] / 1e6,
            "echo_p99_ms": told["first_echo"]["p99_ns"] / 1e6,
        }
    if mode == "echo":
        return opened | {
            "rate": _share(told["messages"] * 1e9, told["echo_time_ns"]),
            "cpu_us": _share(cpu * 1e6, told["messages"]),
            **_quantiles(told["latency"]),
        }
    if mode == "broadcast":
        return opened | {
            "all_ms": told["all"]["p50_ns"] / 1e6,
            "all_max_ms": told["all"]["max_ns"] / 1e6,
            "cpu_us": _share(cpu * 1e6, told["received"]),
            # The connections were opened few at a time.
            "gentle_open_seconds": told["open_ns"] / 1e9,
        }
    if mode == "idle":
        return opened | {
            "bytes": _share(full["own"] - empty["own"], told["held"]),
            "kernel_bytes": _share(full["kernel"] - empty["kernel"], told["held"]),
            "empty_mib": empty["pss"] / 2**20,
        }
    if not told.get("received"):
        return opened | {"rate": None, "cpu_us": None, "out_of_order": 0}
    return opened | {
        "rate": _share((told["received"] - 1) * 1e9, told["push_time_ns"]),
        # A sender with a pace spins until the next message's time: that CPU time is nobody's cost.
        "cpu_us": None if case.gap_ns else _share(cpu * 1e6, told["received"]),
        "out_of_order": told["out_of_order"],
        **_quantiles(told["latency"]),
    }


def _quantiles(latency: dict) -> dict:
    return {f"{name}_us": latency[f"{name}_ns"] / 1e3 for name in ("p50", "p99", "p999", "max")}


def _share(whole: float, parts: float) -> float | None:
    return whole / parts if parts else None
