"""Programs that print their own figures: what is read of them, and what the tables make of it."""

import unittest

from harness import programs
from harness.load import Failed
from harness.memory import Memory, MemoryResults
from harness.soak import Soak, SoakResults
from harness.tasks import TaskResults, Tasks


def document(suite, runs: dict) -> dict:
    names = {name for case in runs.values() for name in case}
    return {
        "format": 1,
        "date": "2026-01-31",
        "machine": {"cpu": "a processor", "kernel": "6.1"},
        "options": {"count": 1_100_000, "rounds": 1, "seconds": 1.0, "cores": [0, 1]},
        "contenders": {name: {"title": name, "version": f"{name} 1\nmore"} for name in suite.ORDER if name in names},
        "absent": {"node": "no command node"},
        "failed": {},
        "runs": runs,
    }


class Figures(unittest.TestCase):
    def test_the_last_line_counts(self):
        self.assertEqual(programs.parse('Warning: x\n{"a": 1}\n', "", ("a",)), {"a": 1})

    def test_what_was_wrong_is_told(self):
        with self.assertRaisesRegex(Failed, "^memory rises$"):
            programs.parse('{"a": 1, "wrong": "memory rises"}', "FAILED", ("a",))

    def test_what_is_no_result_says_what_was_said(self):
        for text in ("", "Fatal error: x", '{"a": 0}', '{"b": 1}', '{"a": 1, "wrong": 2}', "[1]"):
            with self.subTest(text), self.assertRaisesRegex(Failed, "it said: (Fatal|boom|{|\\[)"):
                programs.parse(text, "" if text else "boom", ("a",))


class Tables(unittest.TestCase):
    def test_memory_is_scaled_to_the_aim(self):
        figures = {"bytes": 25 << 20, "load_s": 2.0, "reads_1": 3e6, "updates_1": 1e6, "shared": True}
        other = {"bytes": 50 << 20, "load_s": 4.0, "reads_1": 2e6, "updates_1": 2e6, "shared": False}
        results = MemoryResults(document(Memory, {"visits": {"apus-indexed": [figures], "apus-rows": [figures], "swoole-table": [other]}}))
        states = {aim.text.split(",")[0]: (aim.value, aim.state) for aim in results.aims()}
        self.assertEqual(states["MB of 11 M visits with both indexes"], (250, "met"))
        self.assertEqual(states["Memory: Apus\\Table / Swoole\\Table"], (0.5, "met"))
        self.assertEqual(states["Updates a second: Apus\\Table / Swoole\\Table"], (0.5, "not met"))
        self.assertEqual(states["Updates by 2 processes: Apus\\Table / Swoole\\Table"], (None, "not measured"))
        self.assertEqual(states["Updates with two indexes"], (None, "not measured"))
        page = Memory.REPORT.markdown(results)
        self.assertIn("| apus-rows | 25 | 2.0 | 3,000 |  | 1,000 |  | yes | 23.8 |", page)
        self.assertIn("Not measured: node (no command node).", page)

    def test_a_long_run_may_rise_by_one_per_cent(self):
        hour = {"answered": 1_000_000, "lost": 0, "each": 10 << 20, "each_rise": 0.5, "master_rise": -0.1, "descriptors_rise": 1.5}
        runs = {"everything": {"default": [hour]}, "requests": {"default": [{"answered": 10_000_000, "rise": 0.0}]}}
        results = SoakResults(document(Soak, runs))
        self.assertEqual([aim.state for aim in results.aims()], ["met", "met", "not met", "met"])
        self.assertIn("| default |  | 1,000,000 |", Soak.REPORT.markdown(results))

    def test_tasks_are_compared_with_swoole(self):
        runs = {
            "wait": {
                "apus": [{"tasks_s": 30_000, "p99_us": 50.0}, {"tasks_s": 50_000, "p99_us": 70.0}, {"tasks_s": 40_000, "p99_us": 60.0}],
                "swoole": [{"tasks_s": 20_000, "p99_us": 60.0}],
            }
        }
        results = TaskResults(document(Tasks, runs))
        self.assertEqual(results.value("wait", "apus", "tasks_s"), 40_000)
        page = Tasks.REPORT.table(results, Tasks.CASES[2])
        self.assertIn("| apus | 40,000 |  |  | 60.0 |  | 2.00 |", page)
        self.assertNotIn("redis", page)
        self.assertEqual([aim.state for aim in results.aims()][-3:], ["met", "not measured", "not measured"])

    def test_the_cpu_of_an_awaited_task_is_compared(self):
        cpu = {"apus": 31.0, "swoole": 40.0}
        results = TaskResults(document(Tasks, {"wait": {name: [{"cpu_us": figure}] for name, figure in cpu.items()}}))
        self.assertEqual([aim.state for aim in results.aims()][-2:], ["met", "not met"])


if __name__ == "__main__":
    unittest.main()
