"""Medians, ratios, aims and what is rendered from them."""

import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from harness import chart, report
from harness.document import dated_path
from harness.results import Results


def run(rps=1000.0, cpu_us=10.0, errors=0, client_load=0.5) -> dict:
    return {
        "requests": 1000, "seconds": 1.0, "rps": rps, "cpu_us": cpu_us, "p50_us": 300, "p99_us": 900, "max_us": 2000,
        "errors": {"connect": errors}, "server_load": 1.0, "client_load": client_load, "foreign_load": 0.0,
        "rss_kib": 2048, "pss_kib": 1024, "processes": 1,
    }  # fmt: skip


def results(runs: dict) -> Results:
    concurrency = {"hello-c64": 64, "hello-c1000": 1000, "hello-c64-close": 64, "json-c64-close": 64}
    return Results({
        "format": 1, "date": "2026-01-02", "commit": "",
        "machine": {"cpu": "a <cpu>", "cores": 4, "kernel": "6", "wrk": "wrk 4", "scratch": "ext4"},
        "options": {"rounds": 3, "seconds": 1, "server_core": 2, "client_core": 3},
        "contenders": {name: {"title": name.title(), "version": ""} for name in ("apus", "floor", "fasthttp", "node")},
        "absent": {"swoole": "SWOOLE_SO is not set"},
        "failed": {"node in hello-c64": "wrong answer\nlog"},
        "scenarios": [
            {"name": name, "title": name, "concurrency": concurrency[name], "keep_alive": True} for name in runs
        ],
        "runs": runs,
    })  # fmt: skip


class Aims(unittest.TestCase):
    def test_states(self):
        found = results({
            "hello-c64": {
                "apus": [run(cpu_us=9.0), run(cpu_us=10.0), run(cpu_us=30.0)],
                "floor": [run(cpu_us=8.0)],
                "fasthttp": [run(cpu_us=11.0)],
            },
            "hello-c64-close": {"apus": [run(cpu_us=11.0)], "floor": [run(cpu_us=10.0)]},
            "json-c64-close": {name: [run(cpu_us=us)] for name, us in (("apus", 30.0), ("floor", 20.0), ("node", 50.0))},
            "hello-c1000": {"apus": [run(errors=0), run(errors=2)]},
        })  # fmt: skip
        states = [aim.state for aim in found.aims()]
        none = "not measured"
        self.assertEqual(states, ["met", "met", none, "not met", *[none] * 3, "not met", none, "not met"])
        # Of 10, 8 and 11 us the floor's 8 are nobody's own.
        self.assertEqual([found.aims()[at].value for at in (0, 1, 3)], [1.25, 1.1, 2 / 3])
        self.assertEqual(found.aims()[-1].value, 2)

    def test_what_is_compared_is_of_one_round(self):
        """The machine was slower by half from the second contender of the second round on."""
        found = results({
            "hello-c64": {
                "floor": [run(cpu_us=6.0), run(cpu_us=6.0), run(cpu_us=9.0)],
                "apus": [run(cpu_us=8.0), run(cpu_us=12.0), run(cpu_us=12.0)],
                "fasthttp": [run(cpu_us=10.0), run(cpu_us=15.0), run(cpu_us=15.0)],
            },
        })  # fmt: skip
        self.assertEqual(found.value("hello-c64", "apus", "cpu_us"), 12)
        self.assertAlmostEqual(found.ratio("hello-c64", "cpu_us", "apus", "floor"), 8 / 6)
        self.assertAlmostEqual(found.own_ratio("hello-c64", "fasthttp"), 0.5)

    def test_what_is_below_the_floor_is_nothing_of_its_own(self):
        cpu = {"apus": 7.0, "floor": 8.0, "fasthttp": 11.0}
        found = results({"hello-c64": {name: [run(cpu_us=us)] for name, us in cpu.items()}})
        self.assertEqual(found.own_ratio("hello-c64", "fasthttp"), 0)
        self.assertIsNone(found.own_ratio("hello-c64", "swoole"))

    def test_nothing_measured(self):
        self.assertEqual({aim.state for aim in results({}).aims()}, {"not measured"})


class Rendered(unittest.TestCase):
    def setUp(self):
        self.results = results({"hello-c64": {"apus": [run(client_load=1.0)], "floor": [run(cpu_us=None)]}})

    def test_markdown(self):
        text = report.markdown(self.results, "latest.svg")
        self.assertIn("| Apus | 1,000* | 10.0 |  | 0.30 | 0.90 | 0 | 2.0 | 1.0 |", text)
        self.assertIn("| Floor | 1,000 |  |", text)
        self.assertIn("Not measured: swoole (SWOOLE_SO is not set).", text)
        self.assertIn("Failed: node in hello-c64 (wrong answer).", text)

    def test_chart_is_well_formed(self):
        drawing = xml.fromstring(chart.svg(self.results))
        bars = [node for node in drawing.iter("{http://www.w3.org/2000/svg}rect") if node.get("rx")]
        self.assertEqual(len(bars), 3)

    def test_empty_chart(self):
        xml.fromstring(chart.svg(results({})))


class Files(unittest.TestCase):
    def test_no_run_overwrites_another(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for expected in ("2026-01-02-bench.json", "2026-01-02-bench-2.json", "2026-01-02-bench-3.json"):
                path = dated_path(folder, "2026-01-02", "bench")
                self.assertEqual(path.name, expected)
                results({}).save(path)
                self.assertEqual(Results.load(path).document["date"], "2026-01-02")


if __name__ == "__main__":
    unittest.main()
