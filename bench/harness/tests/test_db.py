"""`bench/run db`: the plan, the right answers, what ab prints, and what is rendered."""

import hashlib
import json
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from harness.db import load, measure, network, pace, plan, report, verify
from harness.db.results import DbResults, core_list
from harness.db.suite import Databases
from harness.suite import chosen
from harness.verify import WrongAnswer

AB = """Complete requests:      9990
Failed requests:        25
   (Connect: 1, Receive: 2, Length: 20, Exceptions: 2)
Write errors:           3
Non-2xx responses:      15
"""


def row(number: int, **extra) -> dict:
    description = hashlib.md5(str(number).encode()).hexdigest() * 6
    return {"id": number, "name": f"item {number:05}", "description": description, **extra}


def run(rps=1000.0, cpu_us=100.0, errors=None, pool_limit=None, steady=None) -> dict:
    return {
        "requests": 1000, "seconds": 1.0, "rps": rps, "cpu_us": cpu_us, "database_us": 50.0, "p50_us": 300.0,
        "p99_us": 900.0, "errors": errors or {"connect": 0}, "server_load": 1.0, "database_load": 0.5,
        "client_load": 0.5, "pss_kib": 1024, "connections": 120, "pool_limit_rps": pool_limit,
        "steady_rps": steady,
    }  # fmt: skip


def results(runs: dict, failed: dict | None = None) -> DbResults:
    titles = {"apus": "Apus", "swoole": "Swoole", "apache": "Apache mod_php"}
    return DbResults({
        "format": DbResults.FORMAT, "date": "2026-01-02", "commit": "",
        "machine": {"cpu": "a cpu", "cores": 4, "kernel": "6", "scratch": "ext4", "database": "MariaDB 1"},
        "options": {
            "seconds": 1.5, "requests": None, "workers": 24, "pool": 5, "unix": False,
            "server_cores": "2", "database_cores": "0,1", "client_core": 3,
        },
        "contenders": {name: {"title": title, "version": ""} for name, title in titles.items()},
        "absent": {"fpm": "no command nginx; to have it: apt-get"},
        "failed": failed or {},
        "runs": runs,
    })  # fmt: skip


class Plan(unittest.TestCase):
    def test_without_a_core_for_each_they_are_shared(self):
        self.assertEqual(plan.cores([0, 1, 2, 3]), ("2", "0,1", 3))
        self.assertEqual(plan.cores([4, 5]), ("4", "5", 5))
        self.assertEqual(plan.cores([7]), ("7", "7", 7))
        self.assertNotIn("shared", report.markdown(results({})))
        few = results({})
        few.document["options"] |= {"server_cores": "0", "database_cores": "1", "client_core": 1}
        self.assertIn("`ab -k` on 1 (shared: this machine has no core for each)", report.markdown(few))

    def test_tests_at_every_concurrency(self):
        suite = Databases(Databases.parse(["--tests", "basic,*sleep*", "--concurrency", "10,20"]))
        names = [case.name for case in suite.cases()]
        self.assertEqual(names, [f"{test}-c{number}" for number in (10, 20) for test in ("basic", "sleeping_query_with_pool")])
        quick = Databases(Databases.parse(["--quick"]))
        self.assertEqual([case.name for case in quick.cases()], [f"{name}-c100" for name in plan.QUICK])
        for words in ("0", "2001", "many"):
            with self.assertRaises(ValueError):
                Databases(Databases.parse(["--concurrency", words])).concurrencies()

    def test_queries_under_way(self):
        asleep = chosen(plan.TESTS, ["sleeping_query_with_pool"])[0]
        pool = plan.Pool(workers=24, size=5)
        self.assertEqual(plan.pool_queries(asleep, pool.of("apus", 1000), 1000), 120)
        self.assertEqual(plan.pool_queries(asleep, pool.of("apus", 100), 100), 100)
        self.assertEqual(plan.pool_queries(asleep, pool.of("apache", 500), 500), 500)
        self.assertIsNone(plan.pool_queries(chosen(plan.TESTS, ["basic"])[0], 120, 100))

    def test_queries_a_second_within_times(self):
        samples = [(1.0, 100), (2.0, 400), (3.0, 1400), (4.0, 2000), (5.0, 2001)]
        self.assertEqual(pace.between(samples, 1.5, 4.5), 800.0)
        self.assertIsNone(pace.between(samples, 3.5, 4.5))
        self.assertIsNone(pace.between(samples, 4.5, 1.5))

    def test_requests(self):
        self.assertEqual(load.requests_for(5000.0, 2, 100), 10_000)
        self.assertEqual(load.requests_for(300.0, 2, 1000), 2000)
        self.assertEqual(load.requests_for(50.0, 2, 1000), 1000)
        self.assertEqual(load.requests_for(50.0, 2, 1000, sleeps=True), 4000)
        self.assertEqual(load.requests_for(1e9, 2, 100), load.MOST_REQUESTS)


class Answers(unittest.TestCase):
    def test_every_test_has_a_right_answer(self):
        for test in plan.TESTS:
            with self.assertRaises(WrongAnswer):
                verify.check(test.name, 200, b"{}")

    def test_right(self):
        verify.check("basic", 200, b'{"test":"basic"}')
        verify.check("basic_query", 200, json.dumps({"test": "basic_query", "row": row(1234)}).encode())
        slept = [{"id": number, "name": f"item {number:05}", "slept": 0} for number in (1000, 9999)]
        name = "real_app_simulation_with_files_and_connections_simpler"
        answer = {"test": name, "classes": 45, "cache": 15_890, "files": 1024, "slept": slept}
        verify.check(name, 200, json.dumps(answer).encode())

    def test_wrong(self):
        wrong = [
            (500, b'{"test":"basic_query"}'),
            (200, b"<html>"),
            (200, json.dumps({"test": "basic_query"}).encode()),
            (200, json.dumps({"test": "basic_query", "row": row(12)}).encode()),
            (200, json.dumps({"test": "basic_query", "row": row(1234, name="item 01235")}).encode()),
            (200, json.dumps({"test": "basic", "row": row(1234)}).encode()),
        ]
        for status, body in wrong:
            with self.assertRaises(WrongAnswer, msg=body):
                verify.check("basic_query", status, body)


class Network(unittest.TestCase):
    """Against mean value analysis, which is another way to the same."""

    def mean_value(self, users: int, thinking: float, demand: float) -> float:
        length = rate = 0.0
        for number in range(1, users + 1):
            residence = demand * (1 + length)
            rate = number / (thinking + residence)
            length = rate * residence
        return rate

    def test_a_connection_for_each_user(self):
        for users, core in ((1, 700.0), (100, 700.0), (100, 480.0), (100, 100.0)):
            expected = self.mean_value(users, 0.2, 1 / core)
            self.assertAlmostEqual(network.rate(users, users / 0.2, users, core, 1), expected, places=6)

    def test_more_users_than_connections(self):
        self.assertAlmostEqual(network.rate(2, 10.0, 1, 10.0, 1), 10 * 2 / 3)
        self.assertAlmostEqual(network.rate(1000, 600.0, 120, 700.0, 1), 600.0, places=3)
        self.assertAlmostEqual(network.rate(1000, 700.0, 120, 600.0, 2), 600.0, places=3)


class Ab(unittest.TestCase):
    def test_each_failure_is_counted_once(self):
        found = load.failures(AB, unanswered=10, status=15)
        self.assertEqual(
            found,
            {"connect": 1, "receive": 2, "length": 5, "exceptions": 2, "status": 15, "write": 3, "unanswered": 10},
        )

    def test_no_failure(self):
        self.assertEqual(sum(load.failures("Failed requests:        0\n", 0, 0).values()), 0)


class Rendered(unittest.TestCase):
    def setUp(self):
        self.results = results(
            {
                "basic_query_with_pool-c100": {
                    "apus": [run(rps=4000.0, cpu_us=50.0), run(rps=6000.0), run(rps=4200.0, cpu_us=60.0)],
                    "swoole": [run(rps=3000.0, cpu_us=50.0)],
                    "apache": [run(rps=2000.0, errors={"receive": 7})],
                },
                "sleeping_query_with_pool-c100": {"apus": [run(rps=1800.0, cpu_us=100.0, pool_limit=2000.0, steady=1900.0)]},
                "real_app_simulation_with_files_and_connections-c100": {
                    "apus": [run(rps=150.0, cpu_us=4000.0, pool_limit=500.0, steady=200.0)]
                },
            },
            {"apache in basic-c100": "ab ended with 1\nlog"},
        )

    def test_aims(self):
        states = {aim.text: (aim.value, aim.state) for aim in self.results.aims()}
        self.assertEqual(states["Failures of Apus in all tests, at most"], (0, "met"))
        swoole = "CPU, basic_query_with_pool, c=100: Apus / Swoole, at most"
        self.assertEqual(states[swoole], (1.2, "not met"))
        apache = "Requests/s, basic_query_with_pool, c=100: Apus / Apache mod_php, at least"
        self.assertEqual(states[apache], (2.1, "not met"))
        slept = "Of what pool and core allow, sleeping_query_with_pool, c=100, at least"
        self.assertEqual(states[slept], (self.results.room("sleeping_query_with_pool", 100, "apus").share, "met"))
        computed = "Of what pool and core allow, real_app_simulation_with_files_and_connections, c=100, at least"
        # The core allows 250.
        self.assertAlmostEqual(states[computed][0], 0.8, places=2)
        self.assertEqual(states[computed][1], "not met")

    def test_failures(self):
        self.assertEqual(self.results.all_failures("apus"), 0)
        self.assertEqual(self.results.all_failures("apache"), 8)
        self.assertIsNone(self.results.all_failures("fpm"))

    def test_markdown(self):
        text = report.markdown(self.results)
        self.assertIn("| basic_query_with_pool | 4,200 | 3,000 | 2,000! | 1.40 | 2.10 |", text)
        self.assertIn("| sleeping_query_with_pool | 100 | Apus | 120 | 2,000 | 10,000 | 1,995 | 1,900 | 95% |", text)
        self.assertIn("7 receive", text)
        self.assertIn("Failed: apache in basic-c100 (ab ended with 1).", text)
        self.assertIn("Not measured: fpm", text)
        self.assertIn("sleeping_query_with_pool", report.terminal(self.results))

    def test_nothing_measured(self):
        self.assertEqual({aim.state for aim in results({}).aims()}, {"not measured"})
        report.markdown(results({}))

    def test_a_file_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "db.json"
            self.results.save(path)
            self.assertEqual(DbResults.load(path).document, self.results.document)
            path.write_text('{"format": 1}')
            with self.assertRaises(ValueError):
                DbResults.load(path)

    def test_cores(self):
        self.assertEqual(core_list("0,2-4"), [0, 2, 3, 4])


class Classes(unittest.TestCase):
    def test_a_hundred_files(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "classes"
            measure.write_classes(target)
            self.assertEqual(len(list(target.iterdir())), 100)
            self.assertIn("final class Model7\n", (target / "Model7.php").read_text())


if __name__ == "__main__":
    unittest.main()
