"""The machine: what it is, what is installed on it, how busy it is."""

import os
import platform
import resource
import shutil
import subprocess
import time
from pathlib import Path

from . import procs
from .contenders import ROOT


def commit() -> str:
    return output(["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", "HEAD"])


def about(scratch: Path) -> dict:
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "kernel": platform.release().split("-")[0],
        "scratch": output(["stat", "-f", "-c", "%T", str(scratch)]) or "unknown",
        "load_average": os.getloadavg(),
    }


def absent(packages: dict[str, str]) -> list[str]:
    """Of tools, each with its package, the packages of those that are not there."""
    return [package for tool, package in packages.items() if not shutil.which(tool)]


def lift_descriptor_limit() -> None:
    """c=1000 needs more than the usual soft limit of 1024, in the servers (which inherit ours) and in wrk."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def busy_cores(cores: tuple[int, ...]) -> dict[int, float]:
    """Those of the cores that other programs use more than a tenth of, with the share."""
    before = {core: procs.core_busy_ticks(core) for core in cores}
    time.sleep(0.5)
    shares = {
        core: (procs.core_busy_ticks(core) - ticks) / procs.TICKS_PER_SECOND / 0.5 for core, ticks in before.items()
    }
    return {core: share for core, share in shares.items() if share > 0.1}


def output(argv: list[str]) -> str:
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
