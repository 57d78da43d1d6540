"""The runner: what is counted, what is chosen, what a whole run says and how it ends."""

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from runner import counts, phpt, sections
from runner.sections import ROOT, SECTIONS, Section, choose
from runner.session import Done, Session

LONG = [
    "valgrind", "release", "asan", "kills", "share", "attacks", "traffic", "everything", "requests", "testssl", "sapi", "differential",
]  # fmt: skip
WHOLE = [
    "format", "lints", "rules", "readme", "rust", "build", "examples", "toolchain", "samples", "training", "bench", "runner",
    "phpt", "phpt-jit", "ceilings", "sanitize", "xdebug", "e2e", "conformance", "h2spec", "others",
]  # fmt: skip


class Counts(unittest.TestCase):
    def test_a_check_is_one_test(self):
        self.assertEqual((counts.one(0, ""), counts.one(3, "")), ((1, 0), (0, 1)))

    def test_a_build_with_nothing_to_do_compiles_nothing(self):
        self.assertEqual(counts.nothing_compiled(0, "    Finished `ci` profile in 0.3s\n"), (1, 0))
        self.assertEqual(counts.nothing_compiled(0, "   Compiling apus-php v0.1.0\n    Finished `ci` profile in 90s\n"), (0, 1))
        self.assertEqual(counts.nothing_compiled(101, "error: could not compile"), (0, 1))

    def test_cargo_has_a_line_for_each_test(self):
        output = "test a::b ... ok\ntest c - should panic ... ok\ntest d ... FAILED\ntest e ... ignored\ntest result: FAILED. 9 passed\n"
        self.assertEqual(counts.cargo(101, output), (2, 1))

    def test_the_last_counts_are_those_of_the_whole(self):
        self.assertEqual(counts.last(0, "3 passed, 1 failed\nmore\n12 passed, 0 failed\n"), (12, 0))
        self.assertEqual(counts.last(0, "nothing"), (0, 0))

    def test_unittests(self):
        self.assertEqual(counts.unittests(0, "Ran 12 tests in 1 s\n\nOK (skipped=2)\n"), (12, 0))
        self.assertEqual(counts.unittests(1, "Ran 12 tests in 1 s\n\nFAILED (failures=1, errors=2, skipped=3)\n"), (9, 3))

    def test_a_command_that_failed_without_a_count_has_failed(self):
        self.assertEqual(counts.counted(counts.last, 1, "7 passed, 0 failed"), (7, 1))
        self.assertEqual(counts.counted(counts.cargo, 101, "error: could not compile"), (0, 1))
        self.assertEqual(counts.counted(counts.last, 1, "7 passed, 2 failed"), (7, 2))
        self.assertEqual(counts.counted(counts.last, -9, ""), (0, 1))

    def test_phpt_states(self):
        self.assertEqual(phpt.tally("PASSED a\nFAILED b\nSKIPPED c\nLEAKED d\nBORKED e\nPASSED f\n\n"), (2, 3, 1))


class Choice(unittest.TestCase):
    def test_everything_in_its_order(self):
        self.assertEqual(choose(None, [], None, False), WHOLE)
        self.assertEqual(choose(None, [], None, True), LONG)

    def test_a_given_module_is_what_is_tested(self):
        chosen = choose(None, [], Path("apus.so"), False)
        self.assertEqual(chosen, ["training", "phpt", "phpt-jit", "ceilings", "sanitize", "xdebug", "e2e", "conformance", "h2spec"])

    def test_words_choose_among_phpt(self):
        self.assertEqual(choose(None, ["sleep"], None, False), ["phpt", "phpt-jit", "ceilings"])
        top = Path("/t")
        files = [top / "phpt/a/sleep.phpt", top / "phpt/b/wait.phpt", top / "phpt/sleepy/c.phpt"]
        self.assertEqual(phpt.selected(files, ["sleep"], top), [files[0], files[2]])
        self.assertEqual(phpt.selected(files, [], top), files)

    def test_only_names_sections_of_any_kind(self):
        self.assertEqual(choose(["e2e", "rules", "asan"], ["x"], Path("apus.so"), False), ["rules", "e2e", "asan"])

    def test_what_runs_on_every_php_exists(self):
        self.assertLessEqual(set(sections.ON_EVERY_PHP), set(WHOLE))


def printing(text, code=0):
    return [sys.executable, "-c", f"print({text!r}); raise SystemExit({code})"]


class Runs(unittest.TestCase):
    """Sections that print what a real one would."""

    def run_them(self, given, **environment):
        said = io.StringIO()
        kept = {name: value for name, value in os.environ.items() if name not in ("APUS_SO", "APUS_EXTENSION")}
        with mock.patch.dict(os.environ, {**kept, **environment}, clear=True), mock.patch("runner.session.SECTIONS", given):
            with redirect_stdout(said):
                code = Session("ci", 1, []).run([section.name for section in given])
        return code, said.getvalue()

    def command(self, name, counter, command):
        return Section(name, "", lambda session: session.command(None, counter, command), module=False)

    def test_the_table_and_the_last_line_count_all(self):
        first = self.command("first", counts.last, printing("3 passed, 0 failed"))
        second = self.command("second", counts.one, printing("fine"))
        code, said = self.run_them([first, second])
        self.assertEqual(code, 0)
        self.assertRegex(said, r"section +passed +failed +seconds\nfirst +3 +0 +\d+\nsecond +1 +0 +\d+\n4 passed, 0 failed\n$")
        self.assertIn("\n== first: ", said)

    def test_a_failure_is_the_exit_code_and_the_rest_still_runs(self):
        first = self.command("first", counts.last, printing("3 passed, 0 failed", code=7))
        second = self.command("second", counts.one, printing("fine"))
        code, said = self.run_them([first, second])
        self.assertEqual((code, said.splitlines()[-1]), (1, "4 passed, 1 failed"))

    def test_what_leaves_a_process_behind_has_failed(self):
        code = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid); print('3 passed, 0 failed')"
        with mock.patch("runner.session.LINGER", 0.2):
            done = Session.show([sys.executable, "-c", code])
        os.kill(int(done.output.split()[0]), signal.SIGKILL)
        self.assertEqual(done.code, 1)
        self.assertIn("still runs", done.output)
        self.assertEqual(counts.counted(counts.last, *done), (3, 1))

    def test_nothing_that_ran_is_a_failure(self):
        self.assertEqual(self.run_them([Section("none", "", lambda session: None, module=False)])[0], 1)

    def test_what_cannot_run_has_failed(self):
        missing = self.command("missing", counts.one, ["/no/such/program"])
        code, said = self.run_them([missing, self.command("second", counts.one, printing("fine"))])
        self.assertEqual((code, said.splitlines()[-1]), (1, "1 passed, 1 failed"))

    def test_a_module_that_was_not_built_is_not_tested(self):
        needs = Section(
            "needs", "", lambda session: session.command(None, counts.one, printing("x"), env=session.environment())
        )
        with mock.patch.object(Session, "show", lambda self, command, env=None, cwd=None: (1, "")):
            with mock.patch.object(Session, "build", lambda self: setattr(self, "_build", False)):
                code, said = self.run_them([needs._replace(module=False)])
        self.assertEqual(code, 1)
        self.assertIn("the module was not built", said)

    def test_a_given_module_is_what_tests_get(self):
        shown = [sys.executable, "-c", "import os; print(os.environ['APUS_SO'], os.environ['APUS_EXTENSION'], os.environ['XDEBUG_MODE'])"]
        needs = Section(
            "needs",
            "",
            lambda session: session.command(None, counts.one, shown, env=session.environment()),
            module=False,
        )
        said = self.run_them([needs], APUS_SO="/built/libapus.so")[1]
        self.assertIn("/built/libapus.so /built/libapus.so off\n", said)

    def test_other_versions_are_tested_in_their_roots(self):
        ran = []

        def show(command, env=None, cwd=None):
            ran.append(" ".join(map(str, command[:4])))
            return Done(0, "5 passed, 0 failed")

        section = next(section for section in SECTIONS if section.name == "others")
        done = mock.Mock(stdout="8.4.1", returncode=0)
        with mock.patch.object(Session, "show", staticmethod(show)), mock.patch("subprocess.run", return_value=done):
            with mock.patch.object(Path, "unlink"), mock.patch.object(Path, "exists", return_value=True):
                code, said = self.run_them([section], TEST_PHP="8.4", APUS_SO="/built/libapus.so")
        self.assertEqual(ran, ["tools/root make 8.4", "cargo build --profile ci", "tools/root run 8.4 tests/run"])
        self.assertRegex(said, r"root 8.4 +1 +0 .*\nbuild 8.4 +1 +0 .*\nphp 8.4.1 +5 +0 .*\ntested on PHP 8.4.1\n7 passed, 0 failed\n")
        self.assertEqual(code, 0)

    def test_another_version_begins_with_what_was_built_for_the_first(self):
        with tempfile.TemporaryDirectory() as target, mock.patch.dict(os.environ, CARGO_TARGET_DIR=target):
            session = Session("ci", 1, [])
            self.assertEqual(list(session.target_of("8.4").parent.iterdir()), [])
            built = session.target / "ci" / "deps" / "libtokio.rlib"
            built.parent.mkdir(parents=True)
            built.write_text("compiled")
            os.utime(built, (1, 1))
            begun = session.target_of("8.4") / "ci" / "deps" / "libtokio.rlib"
            self.assertEqual((begun.read_text(), begun.stat().st_mtime), ("compiled", 1))
            begun.write_text("its own")
            self.assertEqual((session.target_of("8.4"), begun.read_text()), (session.target / "php8.4", "its own"))
            self.assertEqual([path.name for path in session.target_of("8.4").iterdir()], ["ci"])


class CommandLine(unittest.TestCase):
    def run_it(self, *words):
        return subprocess.run([ROOT / "tests/run", *words], capture_output=True, text=True, check=False)

    def test_list_names_all(self):
        listed = self.run_it("--list")
        self.assertEqual(re.findall(r"^(\S+)", listed.stdout, re.M), [*WHOLE, *LONG])
        self.assertEqual(listed.returncode, 0)

    def test_unknown_sections_are_refused(self):
        self.assertEqual(self.run_it("--only", "nosuch").returncode, 2)


if __name__ == "__main__":
    unittest.main()
