"""phpt files, by PHP's own runner."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
JIT = ["opcache.enable_cli=1", "opcache.jit=tracing", "opcache.jit_buffer_size=64M"]


class Unable(Exception):
    """A section that cannot run; says why."""


def php():
    found = os.environ.get("APUS_PHP") or shutil.which("php")
    if not found:
        raise Unable("php is not installed")
    return found


def ask_php(code):
    return subprocess.run([php(), "-n", "-r", code], capture_output=True, text=True, check=True).stdout.strip()


def jit():
    """Opcache is a file of its own before PHP 8.5, where it is a part of PHP."""
    found = ask_php("echo is_file(ini_get('extension_dir') . '/opcache.so');")
    return ["zend_extension=opcache", *JIT] if found else JIT


def run_tests_php():
    """PHP's own runner, which comes with the headers of the PHP that is tested."""
    version = ask_php("echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;")
    for name in (f"php-config{version}", "php-config"):
        if shutil.which(name):
            build_dir = subprocess.run([name, "--phpapi"], capture_output=True, text=True, check=True).stdout.strip()
            for folder in (f"/usr/lib/php/{build_dir}/build", "/usr/lib/php/build", "/usr/local/lib/php/build"):
                if (Path(folder) / "run-tests.php").exists():
                    return Path(folder) / "run-tests.php"
    raise Unable(f"run-tests.php is missing: it comes with PHP's development files (php{version}-dev)")


def selected(files, words, top):
    """Those whose path below `top` holds one of the words; all where there is no word."""
    return [file for file in files if not words or any(word in str(file.relative_to(top)) for word in words)]


def tally(results):
    """Passed, failed and skipped, from the lines that PHP's runner writes: a state and a path each."""
    states = [line.split()[0] for line in results.splitlines() if line.strip()]
    return states.count("PASSED"), sum(s in ("FAILED", "BORKED", "LEAKED") for s in states), states.count("SKIPPED")


def run(session, folder, settings=(), jobs=None):
    """Runs the phpt files under a folder, on a copy, so that what the runner writes stays out of the tree."""
    with tempfile.TemporaryDirectory(prefix="apus-phpt-") as scratch:
        copy, results, chosen = Path(scratch) / "tests", Path(scratch) / "results", Path(scratch) / "list"
        shutil.copytree(TESTS, copy, ignore=shutil.ignore_patterns("__pycache__", "*.out", "*.diff"))
        wanted = selected(sorted((copy / folder).rglob("*.phpt")), session.words, copy)
        if not wanted:
            return
        chosen.write_text("".join(f"{file}\n" for file in wanted))
        command = [php(), "-n", str(run_tests_php()), "-q", "-n", "-p", php(), "--no-progress", "--offline",
                   "-g", "FAIL,BORK,LEAK,SKIP", "--show-diff", "-W", str(results), "--set-timeout", "120",
                   f"-j{min(jobs or session.jobs, len(wanted))}", "-d", f"extension={session.module()}"]
        for setting in settings:
            command += ["-d", setting]

        def count(code, output):
            passed, failed, skipped = tally(results.read_text() if results.exists() else "")
            print(f"{folder}: {passed} passed, {failed} failed, {skipped} skipped")
            return passed, failed

        session.command(None, count, [*command, "-r", str(chosen)], cwd=copy, env=session.environment())
