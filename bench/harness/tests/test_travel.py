"""The travel benchmark: phases, figures, aims, tables; the Go implementation against the end-to-end tests' model."""

import copy
import io
import json
import shutil
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

from harness import contenders
from harness.travel import data, plan, report, suite
from harness.travel.results import TravelResults

PHASES = plan.phases(4, 2, 4, 1)


def phase(**figures):
    told = {"requests": 100, "failed": 0, "failures": {}, "example": "", "histogram": [[256, 90], [512, 10]], "rate": 25.0}
    told |= {"cpu_us": 40.0, "p50_us": 100.0, "p90_us": 200.0, "p99_us": 300.0, "p999_us": 400.0, "max_us": 500.0}
    return {**told, "client_load": 0.5, "foreign_load": 0.0, **figures}


def run(**figures):
    phases = {one.name: phase() for one in PHASES}
    return {"load_seconds": 100.0, "pss_kib": 1024 * 900, "pss_after_kib": 1024 * 1000, "phases": phases, **figures}


def document(full=True):
    return {
        "format": "travel-1",
        "date": "2026-01-31",
        "machine": {"cpu": "Test CPU", "cores": 4, "kernel": "6.1", "scratch": "tmpfs", "load_average": [0, 0, 0]},
        "options": {"full": full, "size": plan.FULL.text, "rounds": 2, "server_cores": "0,1", "client_cores": "2,3"},
        "contenders": {name: {"title": name.title(), "version": "1"} for name in ("apus", "go")},
        "absent": {},
        "failed": {},
        "phases": [{"name": one.name, "title": one.title, "last": one.last, "seconds": one.seconds} for one in PHASES],
        "runs": {"apus": [run(visits_mb=280.0, restart_seconds=5.0), run(load_seconds=120.0)], "go": [run()]},
    }


class Figures(unittest.TestCase):
    def test_a_phase_counts_its_requests(self):
        counts = {one.name: one.count for one in plan.phases(180, 120, 120, 10)}
        self.assertEqual(counts, {"get": 18_090, "post": 12_000, "get-after": 132_000, "most": 0})

    def test_aims(self):
        aims = {aim.text: (aim.value, aim.state) for aim in TravelResults(document()).aims()}
        self.assertEqual(aims["Wrong answers of Apus, all phases, at most"], (0, "met"))
        self.assertEqual(aims["Load time of Apus, s, at most"], (110.0, "met"))
        self.assertEqual(aims["Visits with both indexes, Apus, MB, at most"], (280.0, "met"))
        self.assertEqual(aims["All processes of Apus, PSS after the phases, MiB, at most"], (1000.0, "met"))
        self.assertEqual(aims["p99 of Apus, POST, 100 a second, ms, at most"][1], "met")
        self.assertEqual(len(TravelResults(document(full=False)).aims()), 4)

    def test_wrong_answers_are_an_aim_not_met_and_are_shown(self):
        told = document()
        told["runs"]["apus"][0]["phases"]["post"] |= {"failed": 3, "failures": {"wrong status": 3}, "example": "POST /x: 400"}
        results = TravelResults(told)
        self.assertEqual((results.failed("apus"), results.failed("apus", "post"), results.failed("go")), (3, 3, 0))
        self.assertEqual(results.aims()[0].state, "not met")
        self.assertIn("Apus in post: {'wrong status': 3}, such as POST /x: 400", report.markdown(results))

    def test_ratios_and_tables(self):
        told = document()
        told["runs"]["go"][0]["phases"]["get"]["cpu_us"] = 80.0
        results = TravelResults(told)
        self.assertEqual(results.ratio("get", "cpu_us", "apus", "go"), 0.5)
        text = report.markdown(results)
        self.assertIn("| GET, 1 to 200 a second | Apus | 25 | 40.0 | 0.10 | 0.20 | 0.30 | 0.40 | 0.50 | 0 | 1.00 |", text)
        self.assertIn("| 0.256 ms | 90.00 % | 90.00 % |", text)
        self.assertIn("Data in memory", report.terminal(results))

    def test_what_was_not_measured_leaves_no_number(self):
        told = copy.deepcopy(document())
        del told["runs"]["go"]
        told["failed"]["go"] = "the server ended at once\nlog"
        text = report.markdown(TravelResults(told))
        self.assertIn("Failed: go (the server ended at once).", text)
        self.assertNotIn("| Go |", text)

    def test_files_of_another_format_are_refused(self):
        with self.assertRaises(ValueError):
            TravelResults({"format": "ws-1"})

    def test_arguments(self):
        given = suite.Travel.parse(["--seconds", "1,2,3,4"])
        self.assertEqual([one.seconds for one in suite.phases(given)], [1, 2, 3, 4])
        self.assertEqual([one.seconds for one in suite.phases(suite.Travel.parse(["--quick"]))], [4, 4, 4, 2])
        for words in (["--seconds", "1,2"], ["--seconds", "1,2,3,x"], ["--seconds", "1,2,3,0"], ["--rounds", "0"]):
            with self.assertRaises(SystemExit), redirect_stderr(io.StringIO()):
                suite.Travel.parse(words)

    def test_recipes(self):
        found = suite.Travel.known()
        self.assertEqual([one.name for one in found], ["apus", "go"])
        tokens = {**found[0].tokens(), "RUN": "r", "PORT": "1", "DATA": "d", "WORKERS": "2", "SNAPSHOT": "s"}
        for one in found:
            self.assertTrue([contenders.fill(word, tokens) for words in one.start for word in words])


@unittest.skipUnless(shutil.which("go") and shutil.which("php"), "needs go and php")
class RightAnswers(unittest.TestCase):
    def test_the_go_implementation_agrees_with_the_model(self):
        sys.path.insert(0, str(contenders.ROOT / "tests" / "e2e"))
        from travel_model import Model

        with tempfile.TemporaryDirectory(prefix="apus-travel-") as scratch:
            programs = data.build(Path(scratch))
            phases = plan.phases(10, 12, 2, 1)
            made = data.make(Path(scratch), programs, plan.Size(120, 80, 1500), phases)
            self.assertEqual(data.make(Path(scratch), programs, plan.Size(120, 80, 1500), phases), made)
            model, statuses = Model(made / "data"), set()
            for name in ("phase_1_get", "phase_2_post", "phase_3_get"):
                bodies = _bodies((made / "ammo" / f"{name}.ammo").read_bytes())
                lines = (made / "answers" / f"{name}.answ").read_text().splitlines()
                self.assertEqual(len(bodies), len(lines))
                for body, line in zip(bodies, lines):
                    method, target, status, *value = line.split("\t")
                    if method == "POST":
                        _, kind, word = target.partition("?")[0].split("/")
                        right = (model.post(kind, word, json.loads(body)), {})
                    else:
                        right = model.get(target)
                    found = (int(status), json.loads(value[0]) if value else None)
                    self.assertEqual(found[0], right[0], line)
                    if found[0] == 200:
                        self.assertEqual(found[1], right[1], line)
                    statuses.add((method, found[0]))
            right = {(method, status) for method in ("GET", "POST") for status in (200, 400, 404)}
            self.assertEqual(statuses, right)


def _bodies(ammo: bytes) -> list[bytes]:
    found = []
    while ammo:
        head, _, ammo = ammo.partition(b"\n")
        length = int(head.split()[0])
        found.append(ammo[:length].partition(b"\r\n\r\n")[2])
        ammo = ammo[length + 1 :]
    return found
