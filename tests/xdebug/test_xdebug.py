"""Xdebug loaded beside the module: its modes do no harm, and its step debugger works in coroutines."""
import glob
import os
import subprocess
import unittest
from pathlib import Path

from lib.dbgp import Debugger

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
SO = os.environ.get("APUS_SO") or os.environ.get("APUS_EXTENSION") or str(TESTS.parent / "target/ci/libapus.so")
XDEBUG = glob.glob("/usr/lib/php/20220829/xdebug.so")
TARGET = HERE / "target.php"


def line_of(text, nth=1):
    numbers = [n for n, line in enumerate(TARGET.read_text().splitlines(), 1) if text in line]
    return numbers[nth - 1]


def php(*arguments, **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("XDEBUG_")}
    command = ["php", "-n", "-d", f"zend_extension={XDEBUG[0]}", "-d", f"extension={SO}", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, **options
    )


@unittest.skipUnless(XDEBUG, "php8.2-xdebug is not installed")
class Modes(unittest.TestCase):
    def random(self, mode, *settings):
        for seed in ("1", "2"):
            with php("-d", f"xdebug.mode={mode}", *settings, TESTS / "random/random.php", seed, "2000") as run:
                out, _ = run.communicate(timeout=100)
            self.assertEqual(run.returncode, 0, out)
            self.assertTrue(out.endswith("ok\n"), out)

    def test_develop_debug_and_coverage_together(self):
        self.random("develop,debug,coverage", "-d", "xdebug.start_with_request=no")

    def test_trace_and_profile(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            self.random("trace,profile", "-d", "xdebug.start_with_request=yes", "-d", f"xdebug.output_dir={folder}")
            self.assertTrue(os.listdir(folder))

    def test_coverage_sees_lines_after_a_wait(self):
        code = (f"xdebug_start_code_coverage(); require '{TARGET}';"
                f"echo json_encode(xdebug_get_code_coverage()['{TARGET}'][{line_of('$after = ')}]);")
        with php("-d", "xdebug.mode=coverage", "-r", code) as run:
            out, _ = run.communicate(timeout=30)
        self.assertTrue(out.endswith("joined\n1"), out)


@unittest.skipUnless(XDEBUG, "php8.2-xdebug is not installed")
class StepDebugger(unittest.TestCase):
    def begin(self, *arguments):
        debugger = Debugger()
        self.addCleanup(debugger.__exit__)
        self.php = php(*debugger.php_settings(), TARGET, *arguments)
        self.addCleanup(self.php.stdout.close)
        self.addCleanup(self.php.wait)
        self.addCleanup(self.php.kill)
        self.session = debugger.accept()
        self.addCleanup(self.session.close)

    def assert_stops(self, stop, line):
        self.assertEqual((stop.status, stop.file, stop.line), ("break", str(TARGET), line))

    def test_stops_in_a_coroutine_and_steps_over_a_wait(self):
        self.begin("alone")
        sleeps = line_of("Coroutine::sleep")
        self.session.breakpoint(TARGET, sleeps)
        self.assert_stops(self.session.run(), sleeps)
        self.assertEqual(self.session.evaluate("$before").value, "before alone")
        self.assertEqual(self.session.stack()[0].where, "work")
        self.assert_stops(self.session.step_over(), line_of("$after ="))
        self.assert_stops(self.session.step_over(), line_of("return $after"))
        self.assertEqual(self.session.evaluate("$after").value, "after alone in 1")

    def test_each_coroutine_and_fiber_stops(self):
        self.begin()
        sleeps = line_of("Coroutine::sleep")
        self.session.breakpoint(TARGET, sleeps)
        for name in ("first", "second"):
            self.assert_stops(self.session.run(), sleeps)
            self.assertEqual(self.session.evaluate("$before").value, f"before {name}")

    def test_stops_after_the_wait_in_both(self):
        self.begin()
        after = line_of("return $after")
        self.session.breakpoint(TARGET, after)
        for name, cid in (("first", 2), ("second", 3)):
            self.assert_stops(self.session.run(), after)
            self.assertEqual(self.session.evaluate("$after").value, f"after {name} in {cid}")
            self.assertEqual(self.session.evaluate("\\Apus\\Coroutine::getCid()").value, str(cid))
        self.assertEqual(self.session.run().status, "stopping")
        self.session.run()
        out, _ = self.php.communicate(timeout=10)
        self.assertEqual(out, "after second in 3\njoined\n")
        self.assertEqual(self.php.returncode, 0)


if __name__ == "__main__":
    unittest.main()
