"""The contenders: each is declared once, in bench/contenders/NAME/contender.toml, and for the other benchmarks in
bench/BENCHMARK/contenders/NAME/contender.toml.

    title    what the tables call it
    files    templates copied into the run directory, with the @TOKENS@ below replaced
    build    commands run once before anything is measured
    start    the server's processes, in this order; each stays in the foreground
    version  prints the version for the report
    needs    what must be there (a command, a file, an environment variable) and how to install it
    env      environment of the server

Tokens: @PORT@ @FILES@ (where bodies are kept) @RUN@ (run directory) @HERE@ (the contender's folder) @ROOT@ (repository)
@OUT@ (build output) @CHILDREN@ (processes a one-connection-a-process server needs) @USER@ @GROUP@ (who runs this)
@SERVICE_USER@ @SERVICE_GROUP@ (the same, or nobody where that is root) and every environment variable in `needs`.
"""

import grp
import os
import pwd
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent

_SWOOLE = "extension=@SWOOLE_SO@"
_TOKEN = re.compile(r"@([A-Z][A-Z_]*)@")


class Unavailable(Exception):
    """A contender that cannot take part here; the text says how to get it."""


@dataclass(frozen=True)
class Contender:
    name: str
    # Where its recipe and templates are.
    folder: Path
    title: str
    start: list[list[str]]
    files: list[str] = field(default_factory=list)
    build: list[list[str]] = field(default_factory=list)
    version: list[str] = field(default_factory=list)
    needs: list[dict[str, str]] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    def tokens(self) -> dict[str, str]:
        return {"HERE": str(self.folder), **_static_tokens()}

    def require(self) -> None:
        """Raises Unavailable unless everything in `needs` is there."""
        if missing := self.missing():
            raise Unavailable(missing)

    def missing(self) -> str | None:
        """What of `needs` is not there, and how to get it."""
        for need in self.needs:
            if missing := self._missing(need):
                return f"{missing}; to have it: {need['install']}"
        return None

    def _missing(self, need: dict[str, str]) -> str | None:
        if command := need.get("command"):
            return None if shutil.which(command, path=search_path()) else f"no command {command}"
        if variable := need.get("env"):
            value = os.environ.get(variable)
            if not value:
                return f"{variable} is not set"
            return None if Path(value).is_file() else f"{variable}={value} is no file"
        path = fill(need["file"], self.tokens())
        return None if Path(path).is_file() else f"no file {path}"

    def prepare(self) -> None:
        for command in self.build:
            argv = [fill(word, self.tokens()) for word in command]
            done = subprocess.run(argv, env=environment({}), capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"`{' '.join(argv)}` failed:\n{done.stderr.strip()}")

    def version_text(self) -> str:
        if not self.version:
            return ""
        argv = [fill(word, self.tokens()) for word in self.version]
        done = subprocess.run(argv, env=environment(self.env), capture_output=True, text=True, check=False)
        lines = done.stdout.strip().splitlines()
        return lines[0] if lines else ""

    def render(self, run: Path, tokens: dict[str, str]) -> None:
        for name in self.files:
            source = self.folder / name
            (run / source.name).write_text(fill(source.read_text(), tokens))


def load_all(folder: Path, order: tuple[str, ...]) -> list[Contender]:
    found = [
        with_modules(Contender(name=recipe.parent.name, folder=recipe.parent, **tomllib.loads(recipe.read_text())))
        for recipe in folder.glob("*/contender.toml")
    ]
    last = len(order)
    return sorted(found, key=lambda one: (order.index(one.name) if one.name in order else last, one.name))


def with_modules(contender: Contender) -> Contender:
    """The same with the modules that Swoole, as it is built here, wants loaded before it: SWOOLE_MODULES=mysqlnd,..."""

    def words(argv: list[str]) -> list[str]:
        if _SWOOLE not in argv:
            return argv
        at = argv.index(_SWOOLE)
        wanted = [f"extension={name}" for name in os.environ.get("SWOOLE_MODULES", "").split(",") if name]
        missing = [word for one in wanted if one not in argv for word in (one, "-d")]
        return [*argv[:at], *missing, *argv[at:]]

    return replace(contender, start=[words(argv) for argv in contender.start], version=words(contender.version))


def fill(text: str, tokens: dict[str, str]) -> str:
    def value(match: re.Match) -> str:
        if match[1] not in tokens:
            raise KeyError(f"unknown token {match[0]}")
        return tokens[match[1]]

    return _TOKEN.sub(value, text)


def environment(extra: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PATH": search_path(), **extra}


def search_path() -> str:
    """Debian keeps daemons in sbin, which an ordinary user's PATH leaves out."""
    return os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"


def _static_tokens() -> dict[str, str]:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    out = target / "bench"
    out.mkdir(parents=True, exist_ok=True)
    user = pwd.getpwuid(os.getuid()).pw_name
    group = grp.getgrgid(os.getgid()).gr_name
    root = os.getuid() == 0
    tokens = {
        "ROOT": str(ROOT),
        "OUT": str(out),
        "USER": user,
        "GROUP": group,
        "SERVICE_USER": "nobody" if root else user,
        "SERVICE_GROUP": "nogroup" if root else group,
        "APUS_SO": os.environ.get("APUS_SO", str(target / "pgo" / "libapus.so")),
    }
    tokens["APUS_BIN"] = os.environ.get("APUS_BIN", str(Path(tokens["APUS_SO"]).parent / "apus"))
    for name in ("SWOOLE_SO", "FRANKENPHP_BIN", "APUS_ASAN_SO"):
        if given := os.environ.get(name):
            tokens[name] = str(Path(given).resolve())
    return tokens
