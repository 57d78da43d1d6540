"""The API: what has to be answered, the worst case, failures."""

import unittest

from harness import api


def results(runs: dict) -> api.ApiResults:
    names = sorted({name for contenders in runs.values() for name in contenders})
    return api.ApiResults({
        "format": 1,
        "contenders": {name: {"title": name} for name in names},
        "runs": {case: {name: [figures] for name, figures in contenders.items()} for case, contenders in runs.items()},
    })  # fmt: skip


def run(cpu_us: float, rps: float, failed: int = 0) -> dict:
    return {"cpu_us": cpu_us, "rps": rps, "failed": failed, "foreign_load": 0.25}


class Aims(unittest.TestCase):
    def setUp(self):
        self.results = results({
            "event-c100": {"apus": run(10, 300), "chi": run(20, 100), "fpm": run(100, 10)},
            "list-c1000": {"apus": run(22, 90, 1), "chi": run(20, 100), "swoole": run(21, 100)},
            "campaign-c100": {"apus": run(10, 101), "swoole": run(10, 100)},
        })  # fmt: skip
        self.found = {aim.text: aim for aim in self.results.aims()}

    def test_the_worst_case_counts(self):
        self.assertEqual(self.found["CPU, the worst case: Apus / chi, at most"].value, 1.1)
        self.assertEqual(self.found["CPU, the worst case: Apus / chi, at most"].state, "not met")
        self.assertEqual(self.found["Throughput, the worst case: Apus / chi, at least"].value, 0.9)
        self.assertEqual(self.found["Throughput, the worst case: Apus / fpm, at least"].state, "met")
        self.assertEqual(self.found["CPU, the worst case: Apus / gin, at most"].state, "not measured")

    def test_a_page_that_is_php_has_a_limit_of_its_own(self):
        cpu, throughput = (self.found[text] for text in ("CPU, fifty campaigns: Apus / swoole, at most", "Throughput, fifty campaigns: Apus / swoole, at least"))
        self.assertEqual((round(cpu.value, 2), cpu.limit, cpu.state), (1.05, 1.05, "met"))
        self.assertEqual((throughput.value, throughput.limit, throughput.state), (0.9, 0.95, "not met"))
        self.assertEqual(self.found["CPU, the worst case but for fifty campaigns: Apus / swoole, at most"].value, 1.0)

    def test_throughput_counts_where_the_server_sets_the_pace(self):
        full = {**run(10, 50), "client_core_load": 0.98}
        found = {aim.text: aim.value for aim in results({
            "campaign-c100": {"apus": {**run(9, 110), "client_core_load": 0.9}, "swoole": {**run(10, 100), "client_core_load": 0.9}},
            "campaign-c1000": {"apus": full, "swoole": run(8, 100)},
            "event-c100": {"apus": run(11, 90), "swoole": {**run(10, 100), "client_core_load": 1.0}},
        }).aims()}  # fmt: skip
        self.assertEqual(found["Throughput, the worst case but for fifty campaigns: Apus / swoole, at least"], 1.1)
        self.assertEqual(found["CPU, the worst case but for fifty campaigns: Apus / swoole, at most"], 1.25)

    def test_one_failure_is_too_many(self):
        self.assertEqual(self.found["Failed requests of Apus, at most"].state, "not met")

    def test_columns(self):
        self.assertEqual(self.results.times("event-c100", "chi"), "2.00")
        self.assertEqual(self.results.times("event-c100", "apus"), "")
        self.assertEqual(self.results.noise("event-c100", "chi"), "25%")


class Contract(unittest.TestCase):
    def test_all_kinds_of_answers_are_in_it(self):
        statuses = {status for *_, status, _ in api.expected()}
        self.assertEqual(statuses, {200, 202, 400, 401, 404, 422})

    def test_the_last_page_is_shorter(self):
        pages = {path: value for _, path, _, _, status, value in api.expected() if status == 200}
        self.assertEqual(len(pages["/v1/campaigns?after=2000"]["campaigns"]), 50)
        self.assertEqual(len(pages[f"/v1/campaigns?after={api.CAMPAIGNS - 1}"]["campaigns"]), 1)


if __name__ == "__main__":
    unittest.main()
