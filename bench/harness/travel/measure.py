"""One contender: start and load the data, the phases, stop, start again."""

import http.client
import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .. import procs
from ..contenders import Contender, environment
from ..load import LoadFailed
from ..measure import Ports, StartFailed, run_directory, settle, started
from ..ws.plan import Cores, as_list
from .plan import Phase

LOAD_SECONDS = 600.0
# What the example says of saving and of its tables; Go says nothing of the kind.
_SAVED = re.compile(r"snapshot saved: ([0-9.]+) MB in ([0-9.]+) s")
_TABLE = re.compile(r"([0-9,]+) (users|locations|visits) \(([0-9.]+) MB\)")


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    group: procs.Group
    port: int
    log: Path
    # From the start of the process until the first answer.
    seconds: float

    def said(self) -> str:
        return self.log.read_text(errors="replace")


class TravelBench:
    """The scratch directory; one contender runs at a time."""

    def __init__(self, scratch: Path, cores: Cores, load: Path):
        self._cores, self._load, self._ports = cores, load, Ports()
        self._scratch = Path(tempfile.mkdtemp(prefix="apus-bench-travel-", dir=scratch))

    def close(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)

    def measure(self, contender: Contender, made: Path, phases: tuple[Phase, ...]) -> dict:
        with run_directory(self._scratch) as run:
            with self._started(contender, run, made) as server:
                figures = self._loaded(server, made, phases)
            if "save_seconds" in figures:
                with self._started(contender, run, made) as server:
                    figures["restart_seconds"] = server.seconds
        return figures

    @contextmanager
    def _started(self, contender: Contender, run: Path, made: Path) -> Iterator[Server]:
        port, log = self._ports.free(), run / "log"
        log.unlink(missing_ok=True)
        tokens = {"PORT": str(port), "DATA": str(made / "data")}
        tokens |= {"WORKERS": str(len(self._cores.servers)), "SNAPSHOT": str(run / "snapshot")}
        began = time.monotonic()
        with started(contender, run, tokens, as_list(self._cores.servers)) as group:
            await_record(group, port)
            yield Server(group, port, log, time.monotonic() - began)

    def _loaded(self, server: Server, made: Path, phases: tuple[Phase, ...]) -> dict:
        said = server.said()
        figures = {"load_seconds": server.seconds}
        if saved := _SAVED.search(said):
            figures["save_seconds"], figures["snapshot_mb"] = float(saved[2]), float(saved[1])
            figures["load_seconds"] -= figures["save_seconds"]
        figures |= {f"{kind}_mb": float(size) for _, kind, size in _TABLE.findall(said)}
        settle(server.group)
        rss, pss = procs.memory_kib(server.group.tree())
        figures |= {"rss_kib": rss, "pss_kib": pss}
        figures["phases"] = {phase.name: self._phase(server, made, phase) for phase in phases}
        stats = server.group.tree()
        figures["pss_after_kib"] = procs.memory_kib(stats)[1]
        figures["processes"] = len(stats)
        return figures

    def _phase(self, server: Server, made: Path, phase: Phase) -> dict:
        argv = [str(self._load), "-address", f"127.0.0.1:{server.port}", "-from", str(phase.first), "-to", str(phase.last)]
        argv += ["-threads", str(len(self._cores.clients)), "-seconds", str(phase.seconds)]
        argv += ["-ammo", str(made / "ammo" / f"{phase.ammo}.ammo")]
        argv += ["-answers", str(made / "answers" / f"{phase.ammo}.answ"), *(["-once"] if phase.once else [])]
        settle(server.group)
        before, busy = procs.cpu_seconds(server.group.tree()), self._busy()
        done = subprocess.run(
            procs.pinned(as_list(self._cores.clients), argv),
            env=environment({"GOMAXPROCS": str(len(self._cores.clients))}),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise LoadFailed(f"the load client failed: {done.stderr.strip()[-400:]}")
        told = json.loads(done.stdout)
        cpu, busy = procs.cpu_seconds(server.group.tree()) - before, self._busy() - busy
        elapsed = told["seconds"]
        return {
            **told,
            "rate": told["requests"] / elapsed,
            "cpu_us": cpu / told["requests"] * 1e6 if told["requests"] else None,
            "server_load": cpu / elapsed / len(self._cores.servers),
            "client_load": told["client_cpu_ns"] / 1e9 / elapsed / len(self._cores.clients),
            # What others took of the servers' cores meanwhile.
            "foreign_load": max(0.0, busy - cpu) / elapsed / len(self._cores.servers),
        }

    def _busy(self) -> float:
        return sum(procs.core_busy_ticks(core) for core in self._cores.servers) / procs.TICKS_PER_SECOND


def await_record(group: procs.Group, port: int) -> None:
    """The data are there when a record is."""
    deadline = time.monotonic() + LOAD_SECONDS
    while time.monotonic() < deadline:
        if group.ended():
            raise StartFailed("the server ended at once")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/visits/1")
            answer = connection.getresponse()
            if answer.status != 200 or json.loads(answer.read())["id"] != 1:
                raise StartFailed(f"GET /visits/1 is answered with {answer.status}")
            return
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)
        finally:
            connection.close()
    raise StartFailed(f"after {LOAD_SECONDS:.0f} s the server does not answer")
