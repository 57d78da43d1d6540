"""The chart: horizontal bars as one SVG, from results alone."""

from dataclasses import dataclass
from html import escape

from .results import Results

PANEL_WIDTH, LABEL_WIDTH, VALUE_WIDTH = 460, 150, 70
BAR, GAP, TITLE_HEIGHT, MARGIN = 18, 7, 44, 20
OURS, THEIRS, TEXT, FAINT = "#0f766e", "#94a3b8", "#1e293b", "#64748b"


@dataclass(frozen=True)
class Panel:
    scenario: str
    key: str
    title: str
    hint: str


PANELS = (
    Panel("hello-c64", "cpu_us", "Hello world, c=64: CPU a request", "microseconds, less is better"),
    Panel("hello-c64", "rps", "Hello world, c=64: throughput", "requests a second, more is better"),
    Panel("hello-c1000", "p99_us", "Hello world, c=1000: 99th percentile", "milliseconds, less is better"),
    Panel("json-c64-close", "rps", "JSON, connection closed, c=64", "requests a second, more is better"),
    Panel("upload-c10", "cpu_us", "1 MB upload, c=10: CPU a request", "microseconds, less is better"),
    Panel("echo-c10", "cpu_us", "0.3 MB echo, c=10: CPU a request", "microseconds, less is better"),
)


def svg(results: Results) -> str:
    drawn = [(panel, bars) for panel in PANELS if (bars := _bars(results, panel))]
    most = max((len(bars) for _, bars in drawn), default=0)
    height = TITLE_HEIGHT + most * (BAR + GAP) + MARGIN
    rows = (len(drawn) + 1) // 2
    width, total = 2 * PANEL_WIDTH + 3 * MARGIN, rows * height + 2 * MARGIN + 16
    body = []
    for index, (panel, bars) in enumerate(drawn):
        x = MARGIN + index % 2 * (PANEL_WIDTH + MARGIN)
        body.append(_panel(panel, bars, x, MARGIN + index // 2 * height))
    footer = f"{results.document['date']} · one worker on one core · {results.document['machine']['cpu']}"
    body.append(_text(MARGIN, total - MARGIN + 6, footer, FAINT, 11))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" height="{total}" '
        'font-family="system-ui, sans-serif" role="img" aria-label="Benchmark of Apus beside its peers">\n'
        f'<rect width="{width}" height="{total}" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _bars(results: Results, panel: Panel) -> list[tuple[str, str, float]]:
    """(contender, label, value), in the order of the tables."""
    found = []
    for name, title in results.titles.items():
        cell = results.cell(panel.scenario, name)
        if cell and cell.values[panel.key] is not None:
            value = cell.values[panel.key]
            found.append((name, title, value / 1000 if panel.hint.startswith("milliseconds") else value))
    return found


def _panel(panel: Panel, bars: list[tuple[str, str, float]], x: int, y: int) -> str:
    room = PANEL_WIDTH - LABEL_WIDTH - VALUE_WIDTH
    longest = max(value for _, _, value in bars) or 1
    lines = [_text(x, y + 12, panel.title, TEXT, 14, "600"), _text(x, y + 29, panel.hint, FAINT, 11)]
    for index, (name, title, value) in enumerate(bars):
        top = y + TITLE_HEIGHT + index * (BAR + GAP)
        length = max(1.0, value / longest * room)
        colour = OURS if name == "apus" else THEIRS
        lines.append(_text(x, top + BAR - 5, _short(title), TEXT, 12, "600" if name == "apus" else "400"))
        lines.append(
            f'<rect x="{x + LABEL_WIDTH}" y="{top}" width="{length:.1f}" height="{BAR}" rx="2" fill="{colour}"/>'
        )
        lines.append(_text(x + LABEL_WIDTH + length + 6, top + BAR - 5, _figure(value), TEXT, 12))
    return "\n".join(lines)


def _short(title: str) -> str:
    return title.split(" (")[0]


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _text(x: float, y: float, text: str, colour: str, size: int, weight: str = "400") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" font-weight="{weight}">{escape(text)}</text>'
    )
