#!/usr/bin/env python3
"""Runs phpt files under valgrind, or with AddressSanitizer.

    tests/lib/watched.py                     all phpt of coroutines, the engine and the hooks
    tests/lib/watched.py hook/held cycles    those whose path holds one of these words
    tests/lib/watched.py --asan [WORD...]    all phpt there are with AddressSanitizer, for which tools/asan-module
    builds the module

What a program prints depends on how fast it runs, so that the watcher alone is asked, about each process with PHP that
a test starts; and whether the test ended. PHP's own allocator is off, so that the watcher sees each allocation. A
program with an error on purpose, wrong.php, is run first: the watcher has to see it. APUS_SO names the module, APUS_PHP
the php binary. The last line counts.
"""
import atexit
import concurrent.futures
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, NamedTuple

TESTS = Path(__file__).resolve().parent.parent
# Under valgrind a program takes thirty times as long.
SECONDS = 240
# For what grows by a fault.
ADDRESS_SPACE = 8 << 30
# These need a limit that the kernel sets to the address space, or die of SIGSEGV on purpose.
NEVER = {"engine/limits", "engine/stack_overflow"}
# These need the limit of memory, which is kept by PHP's own allocator.
LIMITED = {"engine/fatal", "engine/fatal_marks", "engine/time_limit", "coserver/script_ends", "coserver/http_fatal"}


def php():
    return os.environ.get("APUS_PHP") or shutil.which("php")


def module():
    return str(Path(os.environ.get("APUS_SO") or os.environ["APUS_EXTENSION"]).resolve())


def sections(path):
    parts = re.split(r"^--([A-Z_]+)--[ \t]*\n", path.read_text(errors="replace"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def settings(parts, loaded):
    """The extensions of a test that are not a part of this PHP, the module, and the test's own settings. What PCRE
    compiles reads past the end of texts, within what is mapped."""
    extensions = [name for name in parts.get("EXTENSIONS", "").split() if name.lower() not in loaded]
    lines = [*(f"extension={name}" for name in [*extensions, module()]), "pcre.jit=0"] + parts.get("INI", "").strip().splitlines()
    return [word for line in lines for word in ("-d", line)]


def built_in():
    listed = subprocess.run([php(), "-n", "-m"], capture_output=True, text=True, check=True).stdout
    return {name.lower() for name in listed.split()}


class Watcher(NamedTuple):
    """What looks at a program while it runs."""
    name: str
    # The folders whose tests it runs, and which of these tests it leaves out.
    folders: tuple
    without: set
    # The words before the command, and what is added to the environment, for a log (of each process: with its number
    # behind) and whether other
    # programs are watched that the test starts.
    words: Callable[[Path, bool], list]
    environment: Callable[[Path], dict]
    # The first line of an error in a log.
    error: re.Pattern


def valgrind(log, children):
    # The stack of a fiber may lie near another one: what moves the stack pointer by more than the frame is a switch.
    # Processes that are forked
    # are watched in any case.
    return ["prlimit", f"--as={ADDRESS_SPACE}", "valgrind", "-q", "--num-callers=24", "--max-stackframe=200000",
            f"--trace-children={'yes' if children else 'no'}", f"--log-file={log}.%p"]


@functools.cache
def preloaded():
    """What php is given before its own libraries: the runtime that the C compiler brings, and what lets php load a
    module that needs it."""
    folder = tempfile.mkdtemp(prefix="apus-asan-")
    atexit.register(shutil.rmtree, folder)
    first = f"{folder}/preload.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", first, TESTS / "lib" / "asan_preload.c"], check=True)
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{first} {Path(runtime).resolve()}"


def asan_environment(log, quarantine_megabytes=256, frames=16):
    """`frames`: how many callers of an allocation are noted, for ever, where they are others than before. PHP is built
    without frame pointers, so that from the second on they often are."""
    # What a program keeps until its end is no error. The runtime need not come first: see asan_preload.c.
    options = f"log_path={log}:detect_leaks=0:detect_stack_use_after_return=0:verify_asan_link_order=0:malloc_context_size={frames}"
    # Each thread's own part of it is a megabyte unless that is said.
    kept_back = f"quarantine_size_mb={quarantine_megabytes}:thread_local_quarantine_size_kb={min(1024, quarantine_megabytes * 64)}"
    return {"LD_PRELOAD": preloaded(), "ASAN_OPTIONS": f"{options}:{kept_back}"}


WATCHERS = {
    # Other lines are remarks: a program that ended by SIGTERM, a system call that valgrind does not know.
    # tests/sanitize has the random test for longer.
    "valgrind": Watcher("valgrind", ("coroutine", "engine", "hook"), NEVER | LIMITED | {"engine/random"}, valgrind, lambda log: {}, re.compile(
        r"^==\d+== (Invalid |Conditional jump|Use of uninit|Syscall param|Mismatched|Source and dest|Jump to|Argument .* fishy"
        r"|Process terminating .* signal (4|6|7|8|11) )"
    )),
    "asan": Watcher("AddressSanitizer", ("**",), NEVER, lambda log, children: [], asan_environment, re.compile(r"^==\d+==|^ERROR: ")),
}


def errors(watcher, log):
    """The logs in which there is an error; the first hundred lines of them."""
    texts = [path.read_text(errors="replace") for path in sorted(log.parent.glob(f"{log.name}.*"))]
    found = "".join(text for text in texts if any(watcher.error.match(line) for line in text.splitlines()))
    return "".join(found.splitlines(keepends=True)[:100])


def available(parts, loaded):
    """Whether this PHP has the extensions that a test names, or finds them: each may need those before it."""
    names = parts.get("EXTENSIONS", "").split()
    words = [word for name in names if name.lower() not in loaded for word in ("-d", f"extension={name}")]
    checks = " && ".join(f"extension_loaded('{name}')" for name in ["standard", *names])
    return subprocess.run([php(), "-n", *words, "-r", f"exit({checks} ? 0 : 1);"], capture_output=True, check=False).returncode == 0


def skipped(watcher, parts, script, options):
    if "SKIPIF" not in parts:
        return False
    ask = script.with_suffix(".skip.php")
    ask.write_text(parts["SKIPIF"])
    environment = {**os.environ, **watcher.environment(script.with_suffix(".skip"))}
    out = subprocess.run(
        [php(), "-n", *options, str(ask)],
        capture_output=True,
        text=True,
        cwd=script.parent,
        env=environment,
        check=False,
    ).stdout
    return out.lstrip().lower().startswith("skip")


def run(command, folder, more):
    """What a command printed, and whether it ended in time; its children end with it."""
    environment = {**os.environ, "APUS_SO": module(), "APUS_EXTENSION": module(), "USE_ZEND_ALLOC": "0", "XDEBUG_MODE": "off", **more}
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
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


def look(watcher, path, loaded):
    """What is wrong with a test, or nothing; None when it is skipped."""
    parts = sections(path)
    options = settings(parts, loaded)
    script = path.with_suffix(".php")
    script.write_text(parts["FILE"])
    if not available(parts, loaded) or skipped(watcher, parts, script, options):
        return None
    log = path.with_suffix(".log")
    words = watcher.words(log, "PHP_BINARY" in parts["FILE"])
    more = {"USE_ZEND_ALLOC": "1"} if f"{path.parent.name}/{path.stem}" in LIMITED else {}
    output, over = run([*words, php(), "-n", *options, str(script)], script.parent, {**watcher.environment(log), **more})
    # A test that could not begin found nothing because it looked at nothing.
    early = re.search(r"^.*(?:Unable to load dynamic library|Parse error|Uncaught Error: (?:Call to undefined function|Class)).*$", output, re.M)
    late = "" if over else f"was not over after {SECONDS} s\n{output[-2000:]}\n"
    return errors(watcher, log) + (early.group() + "\n" if early else "") + late


def blind(watcher, folder, loaded):
    """What a program prints whose error, in the module, the watcher does not see; nothing when it sees it."""
    log = folder / "wrong.log"
    options = settings({"EXTENSIONS": "ffi", "INI": "ffi.enable=1"}, loaded)
    output, _ = run(
        [*watcher.words(log, False), php(), "-n", *options, str(TESTS / "lib" / "wrong.php")],
        folder,
        watcher.environment(log),
    )
    return "" if "apus_zend::values" in errors(watcher, log) else output or "nothing"


def main():
    words = [word for word in sys.argv[1:] if word != "--asan"]
    watcher = WATCHERS["asan" if "--asan" in sys.argv[1:] else "valgrind"]
    loaded = built_in()
    failed = passed = left_out = 0

    def count(label, wrong):
        nonlocal failed, passed, left_out
        print(f"{'skip' if wrong is None else 'FAIL' if wrong else 'ok  '}  {label}\n{wrong or ''}", end="", flush=True)
        failed += bool(wrong)
        passed += wrong == ""
        left_out += wrong is None

    with tempfile.TemporaryDirectory(prefix="apus-watched-") as scratch:
        count(f"{watcher.name} sees an error", blind(watcher, Path(scratch), loaded))
        copy = Path(scratch) / "tests"
        shutil.copytree(TESTS, copy, ignore=shutil.ignore_patterns("__pycache__"))
        named = {
            str(path.relative_to(copy / "phpt").with_suffix("")): path
            for folder in watcher.folders
            for path in sorted((copy / "phpt").glob(f"{folder}/*.phpt"))
        }
        wanted = [
            name for name in named if name not in watcher.without and (not words or any(word in name for word in words))
        ]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, wrong in zip(wanted, pool.map(lambda name: look(watcher, named[name], loaded), wanted)):
                count(f"{name} under {watcher.name}", wrong)
    print(f"{left_out} skipped")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
