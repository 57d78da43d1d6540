"""What all benchmarks share: a whole run of one that measures nothing, its files, its exit codes; the arguments of
all."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

from harness import page, suites
from harness.document import Aim, Document
from harness.load import LoadFailed
from harness.programs import Case
from harness.suite import Suite, chosen, names, prepare

RECIPE = """title = "Of {name}"
start = [["true"]]
version = ["echo", "{name} 1"]
[[needs]]
command = "{command}"
install = "nothing"
"""


class FakeResults(Document):
    def aims(self):
        return [Aim("Figure of apus, at most", self.value("one", "apus", "figure"), 2)]


class Fake(Suite):
    NAME = "fake"
    COMMAND = "bench/run fake"
    ABOUT = "Nothing."
    RESULTS = FakeResults
    REPORT = SimpleNamespace(
        markdown=lambda results: page.page("# Fake", page.aims(results.aims()), *results.notes()),
        terminal=lambda results: page.blocks([("Aims", page.aims(results.aims()))]),
    )
    ORDER = ("apus", "peer", "absent")
    CASES = (Case("one", "One"), Case("other", "Other"))
    QUICK = ("one",)
    QUICK_HELP = "one case"
    ROUNDS = (2, 1)
    SECONDS = (3.0, 0.5)
    TOOLS = {}
    told: dict = {}
    measured: list = []

    @classmethod
    def folder(cls):
        return cls.place

    def settings(self):
        return {"rounds": self.options.rounds}

    def measure(self, step):
        self.measured.append((step.case.name, step.number, step.contender.name))
        answer = self.told.get((step.contender.name, step.number), 1.0)
        if isinstance(answer, BaseException):
            raise answer
        return {"figure": answer}

    def line(self, step, figures):
        return f"figure {figures['figure']}"


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        Fake.place = Path(self.folder.name) / "contenders"
        for name, command in (("peer", "true"), ("apus", "true"), ("absent", "no-such-command")):
            (Fake.place / name).mkdir(parents=True)
            (Fake.place / name / "contender.toml").write_text(RECIPE.format(name=name, command=command))
        Fake.told, Fake.measured = {}, []
        self.out = Path(self.folder.name) / "out"

    def run_it(self, *words: str) -> tuple[int, str]:
        said = io.StringIO()
        with redirect_stderr(said), redirect_stdout(said):
            code = Fake.main(["--out", str(self.out), *words])
        return code, said.getvalue()

    def results(self) -> dict:
        (path,) = self.out.glob("*.json")
        return json.loads(path.read_text())

    def test_contenders_take_turns_and_all_is_kept(self):
        code, said = self.run_it("--check")
        self.assertEqual(code, 0, said)
        turns = [(case, number, name) for case in ("one", "other") for number in (1, 2) for name in ("apus", "peer")]
        self.assertEqual(Fake.measured, turns)
        kept = self.results()
        order = ["format", "date", "commit", "machine", "options", "contenders", "absent", "failed", "cases", "runs"]
        self.assertEqual(list(kept), order)
        self.assertEqual(kept["contenders"]["peer"], {"title": "Of peer", "version": "peer 1"})
        self.assertIn("no command no-such-command", kept["absent"]["absent"])
        self.assertEqual(kept["runs"]["other"]["peer"], [{"figure": 1.0}, {"figure": 1.0}])
        self.assertIn("Not measured: absent", (self.out / "latest-fake.md").read_text())
        self.assertIn("| Figure of apus, at most | 2 | 1.00 | met |", (self.out / "latest-fake.md").read_text())

    def test_quick_measures_less_and_names_the_file_so(self):
        self.assertEqual(self.run_it("--quick", "--contenders", "peer")[0], 0)
        self.assertEqual(Fake.measured, [("one", 1, "peer")])
        self.assertTrue(next(self.out.glob("*.json")).name.endswith("-fake-quick.json"))

    def test_what_fails_is_left_out_from_there_on_and_is_an_error(self):
        Fake.told = {("apus", 1): LoadFailed("no figures\nlog")}
        code, said = self.run_it("--cases", "one")
        self.assertEqual(code, 1)
        self.assertEqual(Fake.measured, [("one", 1, "apus"), ("one", 1, "peer"), ("one", 2, "peer")])
        self.assertEqual(self.results()["failed"], {"apus in one": "no figures\nlog"})
        self.assertIn("Failed: apus in one (no figures).", (self.out / "latest-fake.md").read_text())
        self.assertIn("left out from here on: no figures", said)

    def test_an_aim_that_is_not_met_is_an_error_with_check_only(self):
        Fake.told = {("apus", 1): 9.0}
        self.assertEqual(self.run_it("--quick")[0], 0)
        self.assertEqual(self.run_it("--quick", "--check")[0], 1)

    def test_a_run_that_is_stopped_leaves_what_it_had(self):
        Fake.told = {("peer", 1): KeyboardInterrupt()}
        code, said = self.run_it()
        self.assertEqual(code, 130)
        self.assertIn("stopped", said)
        self.assertEqual(self.results()["runs"], {"one": {"apus": [{"figure": 1.0}]}})

    def test_a_resumed_run_measures_what_is_missing(self):
        Fake.told = {("peer", 1): KeyboardInterrupt()}
        self.run_it("--cases", "one", "--contenders", "apus,peer")
        (path,) = self.out.glob("*.json")
        Fake.told, Fake.measured = {}, []
        code, said = self.run_it("--resume", str(path))
        self.assertEqual(code, 0, said)
        others = [("other", number, name) for number in (1, 2) for name in ("apus", "peer")]
        self.assertEqual(Fake.measured, [("one", 1, "peer"), ("one", 2, "apus"), ("one", 2, "peer"), *others])
        whole = {"apus": [{"figure": 1.0}] * 2, "peer": [{"figure": 1.0}] * 2}
        self.assertEqual(self.results()["runs"], {"one": whole, "other": whole})
        self.assertEqual([case["name"] for case in self.results()["cases"]], ["one", "other"])

    def test_render_writes_the_page_again(self):
        self.run_it("--quick")
        (path,) = self.out.glob("*.json")
        (self.out / "latest-fake.md").unlink()
        self.assertEqual(self.run_it("--render", str(path))[0], 0)
        self.assertIn("# Fake", (self.out / "latest-fake.md").read_text())

    def test_what_does_not_exist_is_refused(self):
        for words in (["--cases", "two"], ["--contenders", "apus,nobody"], ["--contenders", "absent"]):
            code, said = self.run_it(*words)
            self.assertEqual(code, 2, words)
            self.assertIn("bench/run fake: no", said)

    def test_list_says_who_is_ready(self):
        code, said = self.run_it("--list")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"apus +Of apus +ready\n +peer +Of peer +ready\n +absent +Of absent +no command no-such-command")
        self.assertIn("cases (q: part of --quick)\n  q one   One\n    other Other\n", said)


class Arguments(unittest.TestCase):
    def test_every_benchmark_declares_what_the_base_needs(self):
        for word in suites.SUITES:
            with self.subTest(word):
                suite = suites.find(word)
                self.assertEqual(suite.COMMAND.split()[1:], [word] if word and word != "coro" else [])
                listed = {name for name, _ in suite.listed(suite.parse([]))}
                self.assertTrue(listed)
                self.assertLessEqual(set(suite.QUICK), listed)
                self.assertEqual({one.name for one in suite.known()}, set(suite.ORDER))
                for words in ([], ["--quick"]):
                    options = suite.parse([*words, "--out", "x", "--scratch", "y", "--contenders", "apus"])
                    self.assertEqual((options.out, options.scratch), (Path("x"), Path("y")))
                for words in (["--rounds", "0"], ["--rounds", "x"], ["--seconds", "0"]):
                    with self.assertRaises(SystemExit), redirect_stderr(io.StringIO()):
                        suite.parse(words)

    def test_results_of_a_quick_run_are_kept_aside(self):
        for word in suites.SUITES:
            suite = suites.find(word)
            self.assertEqual(suite.parse(["--quick"]).out, suite.parse([]).out / "tmp")

    def test_patterns(self):
        cases = (Case("aa", ""), Case("ab", ""), Case("b", ""))
        self.assertEqual([one.name for one in chosen(cases, ["b", "a*"])], ["aa", "ab", "b"])
        with self.assertRaisesRegex(ValueError, "nosuch"):
            chosen(cases, ["aa", "nosuch"])
        self.assertEqual(names(" a, b,,"), ["a", "b"])

    def test_unknown_contenders_are_refused(self):
        with self.assertRaisesRegex(ValueError, "nosuch"):
            prepare([], ["nosuch"])


if __name__ == "__main__":
    unittest.main()
