"""The front door: costs at the same size, which contender takes part where, counts of instructions."""

import tempfile
import unittest
from pathlib import Path

from harness import front


def results(runs: dict) -> front.FrontResults:
    names = {name for contenders in runs.values() for name in contenders}
    return front.FrontResults({
        "format": 1,
        "contenders": {name: {"title": name} for name in names},
        "runs": {case: {name: [figures] for name, figures in contenders.items()} for case, contenders in runs.items()},
    })  # fmt: skip


class SameSize(unittest.TestCase):
    POINTS = [[100, 50.0], [200, 30.0], [400, 10.0]]

    def test_between_two_sizes_in_proportion(self):
        self.assertEqual(front.between(self.POINTS, 150), 40.0)
        self.assertEqual(front.between(self.POINTS, 300), 20.0)

    def test_at_a_size_and_outside_of_all(self):
        self.assertEqual(front.between(self.POINTS, 200), 30.0)
        self.assertEqual(front.between(self.POINTS, 50), 50.0)
        self.assertEqual(front.between(self.POINTS, 900), 10.0)

    def test_the_level_of_the_other_does_not_count(self):
        runs = {
            "gzip-1": {"apus": {"size": 150, "cpu_us": 20.0}, "nginx": {"size": 200, "cpu_us": 30.0}},
            "gzip-2": {"nginx": {"size": 100, "cpu_us": 50.0}},
        }
        self.assertEqual(results(runs).coded(1), 0.5)
        self.assertIsNone(results(runs).coded(6))


class Aims(unittest.TestCase):
    def test_what_the_log_adds(self):
        runs = {"hello": {"apus": {"cpu_us": 10.0}, "apus-log": {"cpu_us": 10.2}, "apus-metrics": {"cpu_us": 11.0}}}
        states = {aim.text: aim.state for aim in results(runs).aims()}
        self.assertEqual(states["Access log on, more CPU of a hello world, %, at most"], "met")
        self.assertEqual(states["Figures on, more CPU of a hello world, %, at most"], "not met")
        self.assertEqual(states["CPU, a file of 1 KiB: Apus / nginx, at most"], "not measured")


class Parts(unittest.TestCase):
    def test_additions_take_part_in_hello_world_alone(self):
        who = {case.name: {name for name in front.Front.ORDER if case.has(name)} for case in front.CASES}
        self.assertEqual(who["small"], {"apus", "nginx", "swoole"})
        self.assertEqual(who["hello"], set(front.Front.ORDER))
        self.assertEqual(who["counted"], {"apus", "apus-log", "apus-metrics"})

    def test_the_site(self):
        with tempfile.TemporaryDirectory() as folder:
            front.make_site(Path(folder))
            sizes = {path.name: path.stat().st_size for path in Path(folder).iterdir()}
        self.assertEqual((sizes["small.txt"], sizes["large.bin"]), (1024, 100 << 20))
        self.assertTrue(32 << 10 <= sizes["data.json"] < 33 << 10)

    def test_instructions(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "1"
            file.write_text("events: Ir\nfn=(1) main\n1 5\ntotals: 12345\n")
            self.assertEqual(front.totals(file), 12345)


if __name__ == "__main__":
    unittest.main()
