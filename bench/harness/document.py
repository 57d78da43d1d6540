"""What the results files of the newer benchmarks have in common: written after each measurement, rendered again at any time."""

import json
import statistics
from pathlib import Path


class Document:
    """The content of one results file: contenders, and for each case the figures of every round."""

    FORMAT: int | str = 1
    # More columns: head, and what stands in it for a case and a contender.
    EXTRA = ()

    def __init__(self, document: dict):
        if document.get("format") != self.FORMAT:
            raise ValueError(f"results of format {document.get('format')}; this program reads {self.FORMAT}")
        self.document = document

    @classmethod
    def load(cls, path: Path):
        return cls(json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        """Whole or not at all: it is written after each measurement, and a run may be stopped at any time."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(self.document, indent=1) + "\n")
        fresh.replace(path)

    @property
    def titles(self) -> dict[str, str]:
        return {name: about["title"] for name, about in self.document["contenders"].items()}

    def value(self, case: str, contender: str, key: str) -> float | None:
        """The median over the rounds."""
        runs = self.document["runs"].get(case, {}).get(contender, [])
        values = [run[key] for run in runs if run.get(key) is not None]
        return statistics.median(values) if values else None

    def ratio(self, case: str, key: str, contender: str, peer: str) -> float | None:
        ours, theirs = (self.value(case, one, key) for one in (contender, peer))
        return ours / theirs if ours is not None and theirs else None

    def versions(self) -> str:
        about = self.document["contenders"].values()
        return "; ".join(sorted({one["version"].splitlines()[0] for one in about if one.get("version")}))

    def notes(self) -> list[str]:
        absent, failed = self.document.get("absent", {}), self.document.get("failed", {})
        lines = [f"Not measured: {name} ({why.splitlines()[0]})." for name, why in absent.items()]
        return lines + [f"Failed: {pair} ({why.splitlines()[0]})." for pair, why in failed.items()]


def aims_table(aims: list) -> str:
    rows = ["| Aim | Limit | Measured | |", "|---|---:|---:|---|"]
    for aim in aims:
        measured = "" if aim.value is None else f"{aim.value:,.2f}" if aim.limit < 100 else f"{aim.value:,.0f}"
        rows.append(f"| {aim.text} | {aim.limit:,g} | {measured} | {aim.state} |")
    return "\n".join(rows)
