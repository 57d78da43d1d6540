"""What the pages of results are made of: Markdown tables, the same aligned for a terminal, numbers, marks, aims."""

from collections.abc import Iterable

from .document import Aim, Document

# From this share of a core on, the load generator was the slower side: requests a second say little about the server.
CLIENT_BOUND = 0.97
# From this share of the server's core on, other processes disturbed the run.
NOISY = 0.10
RATIOS = (
    "A ratio is the median of those of the rounds, each of two measurements within seconds of each other: over minutes "
    "the speed of the machine changes."
)
COMPARE = "compare only within one table, absolute figures move with the machine"


def page(*parts: str) -> str:
    return "\n\n".join(part for part in (*parts, RATIOS) if part) + "\n"


def taken(results: Document, cores: bool = True, files: bool = False) -> str:
    """When and on what machine."""
    about = results.document["machine"]
    count = f" ({about['cores']} cores)" if cores else ""
    where = f", files on {about['scratch']}" if files else ""
    return f"Taken {results.document['date']} on {about['cpu']}{count}, Linux {about['kernel']}{where}"


def table(heads: list[str], rows: Iterable[list[str]], left: int = 1) -> str:
    """The first `left` columns are words, the others numbers; nothing where there is no row."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    head = "|" + "|".join(f" {head} " if head else " " for head in heads) + "|"
    return "\n".join([head, "|" + "---|" * left + "---:|" * (len(heads) - left), *lines]) if lines else ""


def number(value: float | None, digits: int, factor: float = 1) -> str:
    return "" if value is None else f"{value * factor:,.{digits}f}"


def marks(client_load: float | None, foreign_load: float | None) -> str:
    bound = "*" if (client_load or 0) >= CLIENT_BOUND else ""
    return bound + ("~" if (foreign_load or 0) >= NOISY else "")


def aims(found: list[Aim]) -> str:
    rows = ["| Aim | Limit | Measured | |", "|---|---:|---:|---|"]
    for aim in found:
        digits = 2 if 0 < aim.limit < 100 else 0
        rows.append(f"| {aim.text} | {aim.limit:,g} | {number(aim.value, digits)} | {aim.state} |")
    return "\n".join(rows)


def blocks(tables: Iterable[tuple[str, str]]) -> str:
    """Titles, each with its table, aligned for the end of a run; without those that have no row."""
    return "\n\n".join(f"{title}\n{align(rows)}" for title, rows in tables if rows)


def align(text: str) -> str:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    widths = [max(len(row[column]) for row in rows if not row[0].startswith("---")) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        if row[0].startswith("---"):
            continue
        others = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(["  " + row[0].ljust(widths[0]), *others]).rstrip())
    return "\n".join(lines)
