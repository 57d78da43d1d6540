#!/usr/bin/env python3
"""Runs phpt files under valgrind.

    tests/lib/watched.py                     all phpt of coroutines, the engine and the hooks
    tests/lib/watched.py hook/held cycles    those whose path holds one of these words

What a program prints depends on how fast it runs, so that valgrind alone is asked, about each process with PHP that a test starts; and whether
the test ended. PHP's own allocator is off: valgrind sees each allocation. APUS_SO names the module, APUS_PHP the php binary. The last line counts.
"""
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
FOLDERS = ("coroutine", "engine", "hook")
# A program takes thirty times as long.
SECONDS = 240
# Tests of the limit of memory are left out below, since it is PHP's own allocator that keeps it; this is for what grows by a fault.
ADDRESS_SPACE = 8 << 30
# tests/sanitize has the random test for longer; these need a limit that PHP's own allocator or the kernel sets, or die of SIGSEGV on purpose.
OTHERS = {"engine/random", "engine/fatal", "engine/limits", "engine/stack_overflow", "engine/time_limit"}
# The first line of an error in a log. Other lines are remarks: a program that ended by SIGTERM, a system call that valgrind does not know.
ERROR = re.compile(
    r"^==\d+== (Invalid |Conditional jump|Use of uninit|Syscall param|Mismatched|Source and dest|Jump to|Argument .* fishy"
    r"|Process terminating .* signal (4|6|7|8|11) )"
)


def php():
    return os.environ.get("APUS_PHP") or shutil.which("php")


def module():
    return str(Path(os.environ.get("APUS_SO") or os.environ["APUS_EXTENSION"]).resolve())


def sections(path):
    parts = re.split(r"^--([A-Z_]+)--[ \t]*\n", path.read_text(errors="replace"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def settings(parts, loaded):
    """The extensions of a test that are not a part of this PHP, the module, and the test's own settings. What PCRE compiles reads past the end
    of texts, within what is mapped."""
    extensions = [name for name in parts.get("EXTENSIONS", "").split() if name.lower() not in loaded]
    lines = [*(f"extension={name}" for name in [*extensions, module()]), "pcre.jit=0"] + parts.get("INI", "").strip().splitlines()
    return [word for line in lines for word in ("-d", line)]


def built_in():
    listed = subprocess.run([php(), "-n", "-m"], capture_output=True, text=True, check=True).stdout
    return {name.lower() for name in listed.split()}


def valgrind(log, children):
    # The stack of a fiber may lie near another one: what moves the stack pointer by more than the frame is a switch. Processes that are forked
    # are watched in any case.
    return ["prlimit", f"--as={ADDRESS_SPACE}", "valgrind", "-q", "--num-callers=24", "--max-stackframe=200000",
            f"--trace-children={'yes' if children else 'no'}", f"--log-file={log}.%p"]


def errors(logs):
    """The logs in which there is an error; the first hundred lines of them."""
    texts = [path.read_text(errors="replace") for path in logs]
    found = "".join(text for text in texts if any(ERROR.match(line) for line in text.splitlines()))
    return "".join(found.splitlines(keepends=True)[:100])


def skipped(parts, script, options):
    if "SKIPIF" not in parts:
        return False
    ask = script.with_suffix(".skip.php")
    ask.write_text(parts["SKIPIF"])
    out = subprocess.run([php(), "-n", *options, str(ask)], capture_output=True, text=True, cwd=script.parent, check=False).stdout
    return out.lstrip().lower().startswith("skip")


def run(command, folder):
    """What a command printed, and whether it ended in time; its children end with it."""
    environment = {**os.environ, "APUS_SO": module(), "APUS_EXTENSION": module(), "USE_ZEND_ALLOC": "0", "XDEBUG_MODE": "off"}
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=environment,
                                 start_new_session=True)
        try:
            child.wait(SECONDS)
        except subprocess.TimeoutExpired:
            pass
        over = child.poll() is not None
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        output.seek(0)
        return output.read().decode(errors="replace"), over


def look(path, loaded):
    """What is wrong with a test, or nothing."""
    parts = sections(path)
    options = settings(parts, loaded)
    script = path.with_suffix(".php")
    script.write_text(parts["FILE"])
    if skipped(parts, script, options):
        return ""
    log = path.with_suffix(".log")
    output, over = run([*valgrind(log, "PHP_BINARY" in parts["FILE"]), php(), "-n", *options, str(script)], script.parent)
    # A test that could not begin found nothing because it looked at nothing.
    early = re.search(r"^.*(?:Unable to load dynamic library|Parse error|Uncaught Error: (?:Call to undefined function|Class)).*$", output, re.M)
    late = "" if over else f"was not over after {SECONDS} s\n{output[-2000:]}\n"
    return errors(sorted(log.parent.glob(f"{log.name}.*"))) + (early.group() + "\n" if early else "") + late


def main():
    words = sys.argv[1:]
    loaded = built_in()
    failed = passed = 0
    with tempfile.TemporaryDirectory(prefix="apus-watched-") as scratch:
        copy = Path(scratch) / "tests"
        shutil.copytree(TESTS, copy, ignore=shutil.ignore_patterns("__pycache__"))
        named = {str(path.relative_to(copy / "phpt").with_suffix("")): path for folder in FOLDERS for path in sorted((copy / "phpt" / folder).glob("*.phpt"))}
        wanted = [name for name in named if name not in OTHERS and (not words or any(word in name for word in words))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, wrong in zip(wanted, pool.map(lambda name: look(named[name], loaded), wanted)):
                print(f"{'FAIL' if wrong else 'ok  '}  {name} under valgrind\n{wrong}", end="", flush=True)
                failed += bool(wrong)
                passed += not wrong
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
