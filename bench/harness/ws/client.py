"""The load client: built once, started for each measurement, told to begin when the server has come to rest."""

import json
import subprocess
from pathlib import Path

from .. import contenders
from ..load import LoadFailed
from ..procs import pinned
from .plan import WINDOW, Case, as_list

MANIFEST = contenders.BENCH / "ws" / "client" / "Cargo.toml"
NAME = "apus-bench-ws"
STEP_SECONDS = 30.0


def build(out: Path) -> Path:
    """The program; raises ValueError with what the compiler said."""
    target = out / "ws-client"
    argv = ["cargo", "build", "--release", "--quiet", "--locked"]
    argv += ["--manifest-path", str(MANIFEST), "--target-dir", str(target)]
    done = subprocess.run(argv, env=contenders.environment({}), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"the load client was not built:\n{done.stderr.strip()}")
    return target / "release" / NAME


def words(case: Case, port: int, cores: tuple[int, ...], seconds: float) -> list[str]:
    """The client's arguments."""
    options = {
        "port": port,
        "connections": case.connections,
        "processes": case.processes,
        "cores": as_list(cores),
        "seconds": seconds,
        "warm": min(0.5, seconds / 2),
        "messages": case.messages,
        "gap-ns": case.gap_ns,
        "timeout": STEP_SECONDS,
    }
    if case.mode != "open":
        options["window"] = WINDOW
    return [case.mode, "--wait", *(word for name, value in options.items() for word in (f"--{name}", str(value)))]


class Client:
    """One run of the client; a context manager that ends it."""

    def __init__(self, program: Path, arguments: list[str], cores: tuple[int, ...]):
        self._process = subprocess.Popen(
            pinned(as_list(cores), [str(program), *arguments]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        self._process.communicate()

    def ready(self) -> int:
        """Connections that are open."""
        said = self._line()
        if said.get("state") != "ready":
            raise LoadFailed(f"the client said {said} in place of being ready")
        return said["connected"]

    def measure(self) -> dict:
        """Lets it begin; what it measured."""
        print("go", file=self._process.stdin, flush=True)
        return self._line()

    def _line(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise LoadFailed(f"the client ended: {self._process.stderr.read().strip()[-400:]}")
        try:
            return json.loads(line)
        except ValueError as error:
            raise LoadFailed(f"the client said {line[:200]!r}") from error
