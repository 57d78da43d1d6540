"""What the tests of the hooks share: PHP programs run as plain PHP, with the module outside coroutines, and inside
run()."""

import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from concurrent.futures import ThreadPoolExecutor

import support

sys.path.insert(0, str(support.HERE.parent))
from lib import servers  # noqa: E402

FOLDER = support.HERE / "fixtures" / "hooks"
# Each before those that need it.
EXTENSIONS = ["ctype", "iconv", "mbstring", "posix", "sockets", "curl", "mysqlnd", "pdo", "mysqli", "pdo_mysql", "pgsql", "pdo_pgsql", "sqlite3", "pdo_sqlite", "igbinary", "msgpack", "redis", "memcached"]
PLAIN, OUTSIDE, INSIDE = "plain PHP", "the module, outside coroutines", "inside run()"
# A machine with nothing else to do sets it, and gets the bound of the design: 0.3 s of waiting for what takes 10 s one
# after the other.
QUIET = os.environ.get("APUS_TEST_QUIET") == "1"


@functools.lru_cache(1)
def extensions():
    """Settings that load what the programs use, and the names of what this PHP does not have."""
    ask = "echo json_encode([ini_get('extension_dir'), array_map('strtolower', get_loaded_extensions())]);"
    folder, built_in = json.loads(
        subprocess.run([support.php(), "-n", "-r", ask], capture_output=True, text=True, check=True).stdout
    )
    files = {name for name in EXTENSIONS if (pathlib.Path(folder) / f"{name}.so").exists()}
    settings = [part for name in EXTENSIONS if name in files and name not in built_in for part in ("-d", f"extension={name}")]
    return settings, {name for name in EXTENSIONS if name not in files and name not in built_in}


def environment(*kinds):
    variables = {}
    for kind in kinds:
        variables.update(servers.shared(kind).environment())
    return variables


def waits():
    """The names in waits.php."""
    return re.findall(r"^    '([^']+)' => new Wait", (FOLDER / "waits.php").read_text(), re.M)


def kinds_of(name):
    """The servers that a name of waits.php needs."""
    for word, kind in (("mysql", servers.MariaDB), ("pgsql", servers.PostgreSQL), ("redis", servers.Redis)):
        if word in name:
            return kind, servers.Slow
    return (servers.Slow,)


class HookCase(support.Case):
    def php(self, *line, mode=INSIDE, kinds=(), ini=(), env=None, patience=support.PATIENCE * 2, wrapper=(), code=0):
        """What a program prints; it has to end with this exit code, and print nothing but on stdout."""
        settings, missing = extensions()
        if missing:
            raise unittest.SkipTest(f"this PHP lacks {', '.join(sorted(missing))}: tools/install-packages test")
        module = [] if mode == PLAIN else ["-d", f"extension={support.module()}"]
        jit = support.jit_settings() if os.environ.get("APUS_E2E_JIT") == "1" else []
        more = [*jit, *(part for setting in ini for part in ("-d", setting))]
        variables = {**os.environ, "LC_ALL": "C", "TZ": "UTC", **environment(*kinds), **(env or {})}
        command = [*wrapper, support.php(), "-n", *settings, *module, "-d", f"sendmail_path={FOLDER / 'sendmail'}", "-d", "display_errors=1", "-d", "html_errors=0", *more, *map(str, line)]
        # A child that a program leaves behind keeps what it inherited open: a file does not wait for it.
        scratch = self.scratch()
        with open(scratch / "out", "w+") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=variables,
                cwd=scratch,
                start_new_session=True,
            )
            try:
                ended = process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                ended = f"none within {patience} s"
            # What it left behind: children of calls that were broken off.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            out.seek(0)
            printed = out.read()
        self.assertEqual(ended, code, f"exit code of {mode} {' '.join(map(str, line))}\n{printed}")
        return printed

    def json(self, *line, **options):
        printed = self.php(*line, **options)
        try:
            return json.loads(printed)
        except ValueError:
            self.fail(f"not what {' '.join(map(str, line))} should print:\n{printed}")

    def scratch(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="apus-hooks-"))
        self.addCleanup(shutil.rmtree, path, True)
        return path

    def program(self, body):
        """A file with this PHP code, after common.php."""
        path = self.scratch() / "program.php"
        path.write_text(f"<?php\nuse Apus\\Coroutine;\nuse Apus\\Coroutine\\{{CanceledException, ConflictException}};\nuse function Apus\\go;\nuse function Apus\\Coroutine\\{{batch, run}};\nrequire {json.dumps(str(FOLDER / 'common.php'))};\n{body}")
        return path

    def inside(self, body, **options):
        """What this PHP code prints in a coroutine."""
        return self.php(self.program(f"run(function () {{\n{body}\n}});\n"), **options)

    def modes(self, body, **options):
        """What the same PHP code prints in each mode; the three run at the same time."""
        alone = self.program(f"(function () {{\n{body}\n}})();\n")
        coroutine = self.program(f"run(function () {{\n{body}\n}});\n")
        with ThreadPoolExecutor(3) as pool:
            programs = {
                mode: pool.submit(self.php, coroutine if mode == INSIDE else alone, mode=mode, **options)
                for mode in (PLAIN, OUTSIDE, INSIDE)
            }
            return {mode: program.result() for mode, program in programs.items()}

    def same(self, body, **options):
        """The code prints the same, byte for byte, in each mode; gives it back."""
        printed = self.modes(body, **options)
        self.assertNotEqual(printed[PLAIN], "")
        self.assertEqual(printed[PLAIN], printed[OUTSIDE], OUTSIDE)
        self.assertEqual(printed[PLAIN], printed[INSIDE], INSIDE)
        return printed[PLAIN]


def each(names, run):
    """A class decorator: one test for each name, which calls `run(self, name)`."""
    def add(case):
        for name in names:
            def test(self, name=name):
                run(self, name)
            test.__name__ = "test_" + re.sub(r"\W+", "_", name)
            test.__qualname__ = f"{case.__qualname__}.{test.__name__}"
            setattr(case, test.__name__, test)
        return case
    return add
