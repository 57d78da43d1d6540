"""What all benchmarks have in common: arguments, who takes part, turns, the results file, the page.

A benchmark is a subclass of Suite that declares what differs; an object of it is one run.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from . import contenders, machine
from .contenders import Contender
from .document import Document, dated_path
from .load import Failed

RESULTS_FOLDER = contenders.BENCH / "results"


@dataclass(frozen=True)
class Step:
    """One measurement. A case has a name and a title."""

    case: Any
    # From 1 on.
    number: int
    contender: Contender

    @property
    def pair(self) -> str:
        return f"{self.contender.name} in {self.case.name}"


class Suite:
    """One benchmark, and one run of it."""

    # The folder below bench/ with its contenders, a part of the names of its files, and what it is called by.
    NAME: str
    COMMAND: str
    ABOUT: str
    RESULTS: type[Document]
    # The module with `markdown(results)` and `terminal(results)`.
    REPORT: ModuleType
    # The order of the tables.
    ORDER: tuple[str, ...]
    # What is measured, those of it that are part of --quick (none: all of it), and what they are called.
    CASES: tuple = ()
    QUICK: tuple[str, ...] = ()
    KIND = "cases"
    QUICK_HELP: str
    # In full, and with --quick. No number of rounds: each case has its own.
    ROUNDS: tuple[int | None, int | None]
    SECONDS: tuple[float, float] | None = None
    WHOLE_SECONDS = False
    # Options that a resumed run takes over: the rest is measured with the same.
    RESUMED: tuple[str, ...] = ()
    # Commands that are needed, with the packages that bring them.
    TOOLS = {"taskset": "util-linux"}

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.document: dict = {}

    # What a benchmark may say in its own way.

    @classmethod
    def arguments(cls, add) -> None:
        """More options."""

    @classmethod
    def folder(cls) -> Path:
        return contenders.BENCH / cls.NAME / "contenders"

    @classmethod
    def shown(cls, case) -> str:
        """A case in --list, behind its name."""
        return case.title

    @classmethod
    def listed(cls, options: argparse.Namespace) -> list[tuple[str, str]]:
        """What --list says of the cases: names, and what stands behind them."""
        return [(case.name, cls.shown(case)) for case in cls.CASES]

    def prepare(self) -> None:
        """Completes the options, chooses cores; raises ValueError where they do not fit."""

    def missing(self) -> list[str]:
        """Packages without which nothing can be measured, beside those of TOOLS."""
        return []

    def open(self, ready: list[Contender]) -> AbstractContextManager:
        """What is there while measurements are taken."""
        return nullcontext()

    def settings(self) -> dict:
        """The options as they go into the results file."""
        raise NotImplementedError

    def about_machine(self) -> dict:
        return machine.about(self.options.scratch)

    def described(self) -> dict:
        """The cases as they go into the results file."""
        return {"cases": [{"name": case.name, "title": case.title} for case in self.cases()]}

    def cases(self) -> list:
        return chosen(self.CASES, self.patterns(), self.KIND)

    def rounds(self, case) -> int:
        return self.options.rounds

    def steps(self, ready: list[Contender]) -> list[Step]:
        """Within a case the contenders take turns, so that a change of the machine's mood meets all of them."""
        return [
            Step(case, number, contender)
            for case in self.cases()
            for number in range(1, self.rounds(case) + 1)
            for contender in ready
        ]

    def duration(self, step: Step) -> float | None:
        """About how many seconds the measurement takes, where that is known."""
        return None

    def measure(self, step: Step) -> dict:
        raise NotImplementedError

    def line(self, step: Step, figures: dict) -> str:
        """The figures, for who waits."""
        raise NotImplementedError

    def keep(self, step: Step, figures: dict) -> None:
        self.document["runs"].setdefault(step.case.name, {}).setdefault(step.contender.name, []).append(figures)

    @classmethod
    def pages(cls, results: Document) -> dict[str, str]:
        """The files that are made of results, by name."""
        return {f"latest-{cls.NAME}.md": cls.REPORT.markdown(results)}

    def label(self) -> str:
        """Of the results file."""
        return self.NAME + ("-quick" if self.options.quick else "")

    # What is the same for all.

    @classmethod
    def main(cls, words: list[str]) -> int:
        options = cls.parse(words)
        try:
            if options.list:
                return cls.show(options)
            if options.render:
                cls.publish(cls.RESULTS.load(options.render), options.out)
                return 0
            return cls(options).run()
        except (ValueError, Failed) as error:
            return cls.fail(str(error))
        except KeyboardInterrupt:
            return cls.fail("stopped; the servers have been ended. To go on: the same with --resume and the results file", 130)

    @classmethod
    def parse(cls, words: list[str]) -> argparse.Namespace:
        parser = argparse.ArgumentParser(prog=cls.COMMAND, description=cls.ABOUT)
        add = parser.add_argument
        add("--quick", action="store_true", help=f"{cls.QUICK_HELP}; kept in results/tmp")
        add("--contenders", metavar="A,B", help="only these (see --list)")
        if len(cls.CASES) > 1:
            add(f"--{cls.KIND}", dest="chosen", metavar="A,B", help="only these; shell patterns such as 'a*' (see --list)")
        often = f"default {cls.ROUNDS[0]}" if cls.ROUNDS[0] else "default: its own number"
        add("--rounds", type=above_zero(int), metavar="N", help=f"rounds of each; the median is reported ({often})")
        if cls.SECONDS:
            kind = int if cls.WHOLE_SECONDS else float
            help = f"length of one measurement (default {cls.SECONDS[0]:g})"
            add("--seconds", type=above_zero(kind), metavar="S", help=help)
        cls.arguments(add)
        add("--scratch", type=Path, metavar="DIR", help="for files meanwhile (default: the temp directory)")
        add("--out", type=Path, metavar="DIR", help="where results go (default bench/results)")
        add("--resume", type=Path, metavar="FILE", help="measure what this results file lacks, and complete it")
        add("--render", type=Path, metavar="FILE", help="write the page again from a results file, measure nothing")
        add("--check", action="store_true", help="exit with 1 where an aim is not met")
        add("--list", action="store_true", help=f"list contenders and {cls.KIND}")
        return cls._defaults(parser.parse_args(words))

    @classmethod
    def _defaults(cls, options: argparse.Namespace) -> argparse.Namespace:
        options.rounds = options.rounds or cls.ROUNDS[options.quick]
        if cls.SECONDS:
            options.seconds = options.seconds or cls.SECONDS[options.quick]
        options.out = options.out or (RESULTS_FOLDER / "tmp" if options.quick else RESULTS_FOLDER)
        options.scratch = options.scratch or Path(tempfile.gettempdir())
        return options

    @classmethod
    def show(cls, options: argparse.Namespace) -> int:
        known = cls.known()
        wide = max(len(one.name) for one in known)
        title = max(len(one.title) for one in known)
        print("contenders")
        for one in known:
            print(f"  {one.name:{wide}} {one.title:{title}} {one.missing() or 'ready'}")
        print(cls.KIND + (" (q: part of --quick)" if cls.QUICK else ""))
        listed = cls.listed(options)
        wide = max(len(name) for name, _ in listed)
        for name, text in listed:
            mark = ("q " if name in cls.QUICK else "  ") if cls.QUICK else ""
            print(f"  {mark}{name:{wide}} {text}")
        return 0

    @classmethod
    def known(cls) -> list[Contender]:
        return contenders.load_all(cls.folder(), cls.ORDER)

    def patterns(self) -> list[str]:
        given = names(getattr(self.options, "chosen", None))
        return given or list(self.QUICK if self.options.quick else ()) or ["*"]

    def run(self) -> int:
        self._resume()
        self.prepare()
        self.cases()
        if missing := machine.absent(self.TOOLS) + self.missing():
            raise ValueError(f"apt-get install {' '.join(missing)}")
        machine.lift_descriptor_limit()
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        ready, absent = prepare(self.known(), names(self.options.contenders))
        if not ready:
            raise ValueError("no contender is ready")
        with self.open(ready):
            path = self._begin(ready, absent)
            say(f"results: {path}")
            self._measure_all(self.untaken(self.steps(ready)), path)
        results = self.RESULTS(self.document)
        print(self.REPORT.terminal(results))
        self.publish(results, self.options.out)
        say(f"raw figures: {path}")
        unmet = self.options.check and any(aim.state != "met" for aim in results.aims())
        return 1 if self.document["failed"] or unmet else 0

    def _resume(self) -> None:
        if self.options.resume:
            self.document = self.RESULTS.load(self.options.resume).document
            for name in self.RESUMED:
                setattr(self.options, name, self.document["options"][name])

    def untaken(self, steps: list[Step]) -> list[Step]:
        """Without those that the run which is resumed has taken."""
        runs = self.document["runs"]
        return [step for step in steps if step.number > len(runs.get(step.case.name, {}).get(step.contender.name, []))]

    def _begin(self, ready: list[Contender], absent: dict[str, str]) -> Path:
        """The document of a new run, or of the one that is resumed, and where it is kept."""
        self.document = self.document or {
            "format": self.RESULTS.FORMAT,
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "commit": machine.commit(),
            "machine": self.about_machine(),
            "options": self.settings(),
            "contenders": {},
            "absent": absent,
            # "contender in case" -> why; the rounds before the failure are kept.
            "failed": {},
            **self.described(),
            # case -> contender -> one entry a round
            "runs": {},
        }
        for one in ready:
            self.document["absent"].pop(one.name, None)
        if self.options.resume and "cases" in self.document:
            self.document["cases"] += [case for case in self.described()["cases"] if case not in self.document["cases"]]
        self.document["contenders"] |= {one.name: {"title": one.title, "version": one.version_text()} for one in ready}
        return self.options.resume or dated_path(self.options.out, self.document["date"], self.label())

    def _measure_all(self, steps: list[Step], path: Path) -> None:
        """The file is written after each measurement: a run that is stopped leaves what it had."""
        self._estimate(steps)
        failed: dict[str, str] = self.document["failed"]
        # What failed in a run that is resumed is tried again.
        for step in steps:
            failed.pop(step.pair, None)
        for done, step in enumerate(steps, start=1):
            if step.pair in failed:
                continue
            where = f"[{done}/{len(steps)}] {step.case.name} {step.number}/{self.rounds(step.case)} {step.contender.name}"
            try:
                figures = self.measure(step)
            except (Failed, subprocess.TimeoutExpired) as error:
                failed[step.pair] = str(error)
                say(f"{where}: FAILED, left out from here on: {error}")
            else:
                self.keep(step, figures)
                say(f"{where}: {self.line(step, figures)}")
            self.RESULTS(self.document).save(path)

    def _estimate(self, steps: list[Step]) -> None:
        seconds = [length for step in steps if (length := self.duration(step)) is not None]
        say(f"{len(steps)} measurements" + (f", about {sum(seconds) / 60:.0f} min" if seconds else ""))

    @classmethod
    def publish(cls, results: Document, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in cls.pages(results).items():
            (out / name).write_text(text)
            say(f"written: {out / name}")

    @classmethod
    def fail(cls, text: str, code: int = 2) -> int:
        say(f"{cls.COMMAND}: {text}")
        return code


def prepare(known: list[Contender], wanted: list[str] | None) -> tuple[list[Contender], dict[str, str]]:
    """Those that can take part, built; and why the others cannot."""
    if unknown := set(wanted or []) - {one.name for one in known}:
        raise ValueError(f"no such contender: {', '.join(sorted(unknown))}; see --list")
    ready, absent = [], {}
    for contender in known:
        if wanted and contender.name not in wanted:
            continue
        try:
            contender.require()
            contender.prepare()
            ready.append(contender)
        except contenders.Unavailable as error:
            absent[contender.name] = str(error)
            say(f"skipped: {contender.title}: {error}")
    return ready, absent


def chosen(known: tuple, patterns: list[str], kind: str = "cases") -> list:
    """Those whose name matches one of the shell patterns, in the order of the benchmark."""
    for pattern in patterns:
        if not any(fnmatchcase(one.name, pattern) for one in known):
            raise ValueError(f"no such {kind.removesuffix('s')}: {pattern}; see --list")
    return [one for one in known if any(fnmatchcase(one.name, pattern) for pattern in patterns)]


def above_zero(kind: type):
    def read(text: str):
        value = kind(text)
        if value <= 0:
            raise argparse.ArgumentTypeError("must be more than 0")
        return value

    read.__name__ = kind.__name__
    return read


def names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def warn_of_busy(*cores: int) -> None:
    for core, share in machine.busy_cores(cores).items():
        say(f"warning: core {core} is {share:.0%} busy with something else; figures will be noisy")
