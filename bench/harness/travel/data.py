"""The data set and its requests, made by examples/travel/generate.php; their right answers, by the Go implementation
without HTTP, which the end-to-end tests' model and the official answers agree with."""

import subprocess
from pathlib import Path

from .. import contenders
from .plan import Phase, Size

GO = contenders.BENCH / "travel" / "go"
SEED = 1


def build(out: Path) -> Path:
    """The Go programs; raises ValueError with what the compiler said."""
    folder = out / "travel"
    folder.mkdir(parents=True, exist_ok=True)
    argv = ["go", "build", "-C", str(GO), "-o", str(folder), "./serve", "./answers", "./load"]
    _run(argv, "the Go programs were not built", {"CGO_ENABLED": "0", "GOWORK": "off"})
    return folder


def make(folder: Path, programs: Path, size: Size, phases: tuple[Phase, ...]) -> Path:
    """data/, ammo/ and answers/ in a directory named by what is in it; one that is whole is used again."""
    counts = {phase.name: phase.count for phase in phases}
    words = [size.users, size.locations, size.visits, SEED, counts["get"], counts["post"], counts["get-after"]]
    made = folder / ("travel-" + "-".join(map(str, words)))
    whole = made / "whole"
    if whole.exists():
        return made
    names = ("users", "locations", "visits", "seed", "get", "post", "get-after")
    argv = ["php", "-n", str(contenders.ROOT / "examples" / "travel" / "generate.php"), str(made)]
    argv += [word for name, value in zip(names, words) for word in (f"--{name}", str(value))]
    _run(argv, "the data set was not made", {})
    answers = made / "answers"
    answers.mkdir(exist_ok=True)
    ammo = sorted(str(path) for path in (made / "ammo").iterdir())
    _run([str(programs / "answers"), str(made / "data"), *ammo, str(answers)], "the answers were not made", {})
    whole.touch()
    return made


def _run(argv: list[str], failure: str, env: dict[str, str]) -> None:
    done = subprocess.run(argv, env=contenders.environment(env), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{failure}:\n{done.stderr.strip()[-2000:]}")
