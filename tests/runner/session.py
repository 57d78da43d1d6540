"""One run: its commands, what they counted, the table at its end."""

import codecs
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from . import counts, phpt
from .sections import ROOT, SECTIONS

# Seconds that what a command has left running may hold its output open.
LINGER = 30
VERSION = ["-n", "-r", 'echo PHP_VERSION, PHP_ZTS ? " (ZTS)" : "";']


class Done(NamedTuple):
    code: int
    output: str


class Row(NamedTuple):
    name: str
    passed: int
    failed: int
    seconds: float


def printed(child):
    """What a process prints, as it comes; None at last where its output is held open LINGER seconds after its end."""
    pipe, ended = child.stdout.fileno(), None
    while True:
        if select.select([pipe], [], [], 0.5)[0]:
            piece = os.read(pipe, 1 << 16)
            if not piece:
                return
            yield piece
        elif child.poll() is None:
            continue
        ended = ended or (child.poll() is not None and time.monotonic())
        if ended and time.monotonic() - ended > LINGER:
            yield None
            return


class Session:
    def __init__(self, profile, jobs, words):
        self.profile, self.jobs, self.words = profile, jobs, words
        # Where cargo puts what it builds.
        self.folder = "debug" if profile == "dev" else profile
        self.target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").absolute()
        given = os.environ.get("APUS_SO") or os.environ.get("APUS_EXTENSION")
        # The module that was given.
        self.built = Path(given).resolve() if given else None
        self.rows, self.versions, self._section = [], [], ""
        # Whether the build of this run succeeded; None before it.
        self._build = None
        self._roots = None

    def run(self, names):
        os.environ["CARGO_TERM_COLOR"] = "never"
        if "others" in names:
            self._fetch(os.environ.get("TEST_PHP", "8.4").split())
        for section in SECTIONS:
            if section.name in names:
                self._run(section)
        return self._summary()

    def _run(self, section):
        self._section, before = section.name, len(self.rows)
        try:
            if section.module and not self.versions:
                self.versions.append(
                    subprocess.run([phpt.php(), *VERSION], capture_output=True, text=True, check=True).stdout
                )
            section.run(self)
        except (phpt.Unable, OSError, subprocess.SubprocessError) as error:
            print(error, flush=True)
            self.rows.append(Row(section.name, 0, 1, 0))
        if len(self.rows) == before:
            self.rows.append(Row(section.name, 0, 0, 0))

    def command(self, name, counter, command, env=None, cwd=ROOT):
        """Runs a command and shows what it prints; the counter reads passed and failed from it."""
        name, begin = name or self._section, time.monotonic()
        print(f"\n== {name}: {' '.join(map(str, command))}", flush=True)
        done = self.show(command, env=env, cwd=cwd)
        self.rows.append(Row(name, *counts.counted(counter, *done), time.monotonic() - begin))
        return done

    @staticmethod
    def show(command, env=None, cwd=ROOT):
        """Its exit code and what it printed, which is shown meanwhile."""
        decoder, text, held = codecs.getincrementaldecoder("utf-8")("replace"), [], False
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(list(map(str, command)), env=env, cwd=cwd, **options) as child:
            for piece in printed(child):
                held = piece is None
                text.append("what it has started still runs, and holds its output\n" if held else decoder.decode(piece))
                sys.stdout.write(text[-1])
                sys.stdout.flush()
        return Done(child.returncode or int(held), "".join(text))

    def build(self):
        self._build = self._cargo("build", counts.one) == 0

    def build_again(self):
        """Who has built everything does not wait a second time: a build script may watch what is not there."""
        self._cargo("build again", counts.nothing_compiled)

    def _cargo(self, name, counter):
        packages = ["-p", "apus-php", "-p", "apus-cli"]
        return self.command(name, counter, ["cargo", "build", "--profile", self.profile, *packages]).code

    def target_of(self, version):
        """Where cargo builds for another version of PHP. It begins with what was built for the first one: the libraries,
        which know nothing of PHP, are not compiled again."""
        target = self.target / f"php{version}"
        first, begun = self.target / self.folder, target / self.folder
        if first.is_dir() and not begun.exists():
            part = target / f"{self.folder}.part"
            shutil.rmtree(part, ignore_errors=True)
            shutil.copytree(first, part, symlinks=True)
            part.rename(begun)
        return target

    def module(self):
        """The module under test: the one that was given, or else that of this run's build."""
        if self.built:
            return self.built
        if self._build is None:
            self.build()
        if not self._build:
            raise phpt.Unable("the module was not built")
        return self.target / self.folder / "libapus.so"

    def environment(self, **more):
        """For what tests the module: where it and the command beside it are. Xdebug slows all, and has a section."""
        module = self.module()
        given = {"APUS_SO": str(module), "APUS_EXTENSION": str(module), "XDEBUG_MODE": "off", "NO_INTERACTION": "1"}
        command = os.environ.get("APUS") or os.environ.get("APUS_BIN") or module.parent / "apus"
        return {**os.environ, **given, **({"APUS": str(command)} if Path(command).exists() else {}), **more}

    def _fetch(self, versions):
        """Roots are fetched while the first sections compute."""

        def fetch():
            for version in versions:
                with tempfile.TemporaryFile() as log:
                    subprocess.run(["tools/root", "make", version], cwd=ROOT, stdout=log, stderr=log, check=False)

        thread = threading.Thread(target=fetch, daemon=True)
        thread.start()
        self._roots = (thread, versions)

    def fetched(self):
        """The versions whose roots were fetched, or could not be: `tools/root make` says why once more."""
        thread, versions = self._roots
        thread.join()
        return versions

    def inside(self, version, module, sections):
        """Sections, run by this runner in another version's root."""
        root = ["tools/root", "run", version]
        found = subprocess.run([*root, "php", *VERSION], cwd=ROOT, capture_output=True, text=True, check=False).stdout
        self.versions.append(found)
        env = self.environment(APUS_SO=str(module), APUS_EXTENSION=str(module))
        if "APUS" in env:
            env["APUS_BIN"] = env["APUS"]
        # The php of the root is the one inside it.
        env.pop("APUS_PHP", None)
        only = [word for name in sections for word in ("--only", name)]
        self.command(f"php {found or version}", counts.last, [*root, "tests/run", *only], env=env)

    def _summary(self):
        print(f"\n{'section':14} {'passed':>8} {'failed':>8} {'seconds':>8}")
        for row in self.rows:
            print(f"{row.name:14} {row.passed:8} {row.failed:8} {row.seconds:8.0f}")
        if self.versions:
            print(f"tested on PHP {', '.join(self.versions)}")
        passed, failed = (sum(getattr(row, name) for row in self.rows) for name in ("passed", "failed"))
        print(f"{passed} passed, {failed} failed", flush=True)
        return 1 if failed or passed == 0 else 0
