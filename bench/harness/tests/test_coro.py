"""The coroutine benchmark: what contenders print, medians, ratios, aims, recipes."""

import copy
import json
import tempfile
import unittest
from pathlib import Path

from harness import contenders, coro, coro_report
from harness.coro_results import CoroResults
from harness.load import Failed

FIGURES = {"ops": 1000, "cpu_s": 0.001, "wall_s": 0.002}


def document():
    def runs(*nanoseconds):
        return [{"cpu_ns": one, "wall_ns": one * 2} for one in nanoseconds]

    return {
        "format": 1,
        "date": "2026-01-31",
        "machine": {"cpu": "Test CPU", "cores": 4, "kernel": "6.1", "scratch": "tmpfs", "load_average": [0, 0, 0]},
        "options": {"rounds": 3, "core": 3, "quick": False},
        "contenders": {name: {"title": name.title(), "version": "1"} for name in ("apus", "swoole", "fiber")},
        "absent": {"go": "no command go\nmore"},
        "failed": {},
        "cases": [
            {"name": "pair", "title": "Switch"},
            {"name": "memory", "title": "Memory"},
            {"name": "late", "title": "Late"},
        ],
        "runs": {
            "pair": {"apus": runs(100, 300, 200), "swoole": runs(160, 160, 160), "fiber": runs(700, 500, 600)},
            "memory": {
                "apus": [{"bytes": 2048.0, "cpu_ns": 1, "wall_ns": 1}],
                "swoole": [{"bytes": 4096.0, "cpu_ns": 1, "wall_ns": 1}],
            },
            "late": {"apus": [{"late_p50_ms": 0.0, "late_p99_ms": 1.0, "cpu_ns": 1, "wall_ns": 1}]},
        },
    }


class Parse(unittest.TestCase):
    def test_the_last_line_counts(self):
        figures = coro.figures("Warning: something\n" + json.dumps(FIGURES) + "\n", "", 0)
        self.assertEqual((figures["cpu_ns"], figures["wall_ns"]), (1000.0, 2000.0))

    def test_no_figures_are_a_failure_that_says_why(self):
        for stdout, stderr, code in (("", "PHP Fatal error: no Channel", 255), ("{}", "", 0), ("7", "", 0), ("nonsense", "", 1)):
            with self.subTest(stdout=stdout), self.assertRaises(Failed) as caught:
                coro.figures(stdout, stderr, code)
            self.assertIn(stderr or stdout, str(caught.exception))

    def test_figures_with_an_exit_code_are_a_failure(self):
        with self.assertRaises(Failed):
            coro.figures(json.dumps(FIGURES), "", 139)


class Figures(unittest.TestCase):
    def test_medians_and_ratios(self):
        results = CoroResults(document())
        self.assertEqual(results.value("pair", "apus", "cpu_ns"), 200)
        self.assertEqual(results.chief_ratio("pair", "apus", "swoole"), 1.25)
        self.assertEqual(results.chief_ratio("memory", "apus", "swoole"), 0.5)
        self.assertIsNone(results.chief_ratio("late", "apus", "swoole"))

    def test_aims(self):
        states = {aim.text: aim.state for aim in CoroResults(document()).aims()}
        self.assertEqual(states["Switch: Apus / Swoole, at most"], "not met")
        self.assertEqual(states["Memory: Apus / Swoole, at most"], "met")
        self.assertEqual(states["Late: Apus / Swoole, at most"], "not measured")
        self.assertEqual(states["Switch: PHP Fiber / Apus, at least"], "met")
        # Three times less memory or lateness is nobody's aim.
        self.assertNotIn("Memory: PHP Fiber / Apus, at least", states)
        self.assertEqual(states["Memory of a sleeping coroutine, KiB, at most"], "met")

    def test_other_formats_are_refused(self):
        with self.assertRaises(ValueError):
            CoroResults(document() | {"format": 2})

    def test_save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a" / "b.json"
            CoroResults(document()).save(path)
            self.assertEqual(CoroResults.load(path).document, document())

    def test_the_report_says_all(self):
        text = coro_report.markdown(CoroResults(document()))
        for part in ("| Switch | ns CPU | 200 | 160 | 600 | 1.25 | 3.00 |", "2.0 | 4.0", "Not measured: go (no command go).", "Test CPU"):
            self.assertIn(part, text)
        empty = copy.deepcopy(document()) | {"runs": {}}
        self.assertIn("not measured", coro_report.terminal(CoroResults(empty)))


class Recipes(unittest.TestCase):
    def test_all_contenders_are_whole(self):
        known = coro.Coro.known()
        self.assertEqual([one.name for one in known], list(coro.Coro.ORDER))
        for one in known:
            words = " ".join(one.start[0])
            self.assertIn("@CASE@ @N@", words)
            for name in one.files:
                self.assertTrue((one.folder / name).is_file(), name)

    def test_every_contender_has_every_case(self):
        sources = {
            "php": (contenders.BENCH / "coro/_php/cases.php.in").read_text(),
            "go": (contenders.BENCH / "coro/contenders/go/main.go").read_text(),
            "node": (contenders.BENCH / "coro/contenders/node/cases.mjs").read_text(),
        }
        for case in coro.CASES:
            self.assertEqual(case.count % 10_000, 0, case.name)
            self.assertIn(f"function {case.name}(int $n)", sources["php"])
            self.assertIn(f'"{case.name}"', sources["go"])
            self.assertRegex(sources["node"], rf"\b{case.name}(\(n\)|: )")
