"""Processes, scenarios and recipes."""

import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from harness import contenders, procs, scenarios
from harness.db.suite import Databases
from harness.suite import chosen
from harness.web import Web

FORKS = "import os, time; os.fork(); time.sleep(60)"


class Procs(unittest.TestCase):
    def test_stat_with_a_strange_name(self):
        text = "7 (a) b (c) S 3 7 7 0 -1 4194304 1 2 3 4 100 20 3 4 20 0 5 0 999 1 2"
        self.assertEqual(procs.Stat.parse(text), procs.Stat(7, "S", 3, 120, 7, 5, 999))

    def test_own_figures(self):
        own = procs.tree([os.getpid()])
        self.assertEqual(own[0].pid, os.getpid())
        self.assertGreater(procs.cpu_seconds(own), 0)
        rss, pss = procs.memory_kib(own[:1])
        self.assertGreaterEqual(rss, pss)
        self.assertGreater(pss, 0)

    def test_the_busiest_process_is_the_one_that_works(self):
        idle = subprocess.Popen([sys.executable, "-c", "held = bytearray(32 << 20); input()"], stdin=subprocess.PIPE)
        try:
            own = procs.read_stat(os.getpid())
            found = procs.busiest_kib([procs.read_stat(idle.pid), own])
            self.assertEqual(found, procs.memory_kib([own])[0])
            self.assertEqual(procs.busiest_kib([]), 0)
        finally:
            idle.communicate(b"\n")

    def test_threads_are_summed(self):
        worked, done = threading.Event(), threading.Event()

        def work():
            began = time.thread_time()
            while time.thread_time() - began < 0.02:
                pass
            worked.set()
            done.wait()

        before = procs.cpu_seconds(procs.tree([os.getpid()])[:1])
        thread = threading.Thread(target=work)
        thread.start()
        worked.wait()
        used = procs.cpu_seconds(procs.tree([os.getpid()])[:1]) - before
        done.set()
        thread.join()
        self.assertGreaterEqual(used, 0.02)

    def test_a_stopped_group_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            core = min(os.sched_getaffinity(0))
            group = procs.Group(core, dict(os.environ), Path(folder), Path(folder) / "log")
            group.start([sys.executable, "-c", FORKS])
            deadline = time.monotonic() + 10
            while len(members := group.tree()) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(len(members), 2)
            group.stop()
            # The orphaned child is ended here; reaping it is its new parent's business.
            deadline = time.monotonic() + 10
            while any(procs.running(stat) for stat in members) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertFalse(any(procs.running(stat) for stat in members))


class Scenarios(unittest.TestCase):
    def test_names_are_unique_and_quick_exists(self):
        names = [scenario.name for scenario in scenarios.ALL]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(chosen(scenarios.ALL, list(scenarios.QUICK))), len(scenarios.QUICK))

    def test_unknown_pattern(self):
        with self.assertRaises(ValueError):
            chosen(scenarios.ALL, ["helo-*"])


class Recipes(unittest.TestCase):
    RUN_TOKENS = {name: "x" for name in ("RUN", "FILES", "PORT", "CHILDREN", "SWOOLE_SO")}

    def test_every_recipe_and_template_fills(self):
        found = Web.known()
        self.assertEqual({one.name for one in found}, set(Web.ORDER))
        for contender in found:
            tokens = {**contender.tokens(), **self.RUN_TOKENS}
            for words in [*contender.build, *contender.start, contender.version]:
                for word in words:
                    contenders.fill(word, tokens)
            for name in contender.files:
                contenders.fill((contender.folder / name).read_text(), tokens)

    def test_every_recipe_of_the_database_fills(self):
        found = Databases.known()
        self.assertEqual({one.name for one in found}, {"apus", "swoole", "fpm", "apache"})
        run = {"APP", "CLASSES", "WORKERS", "POOL", "CONNECTIONS", "DB_PASSWORD", "DB_PORT", "DB_SOCKET", "DB_NAME", "DB_USER"}
        for contender in found:
            tokens = {**contender.tokens(), **self.RUN_TOKENS, **dict.fromkeys(run, "x")}
            for words in [*contender.start, contender.version]:
                for word in words:
                    contenders.fill(word, tokens)
            for name in contender.files:
                contenders.fill((contender.folder / name).read_text(), tokens)

    def test_modules_that_swoole_wants_come_before_it(self):
        argv = ["php", "-d", "extension=curl", "-d", "extension=@SWOOLE_SO@", "x.php"]
        with mock.patch.dict("os.environ", {"SWOOLE_MODULES": "curl,mysqlnd"}):
            found = contenders.with_modules(contenders.Contender("swoole", Path(), "", [argv, ["php"]], version=argv))
        wanted = ["php", "-d", "extension=curl", "-d", "extension=mysqlnd", "-d", "extension=@SWOOLE_SO@", "x.php"]
        self.assertEqual((found.start, found.version), ([wanted, ["php"]], wanted))

    def test_unknown_token(self):
        with self.assertRaises(KeyError):
            contenders.fill("@PROT@", {"PORT": "1"})


if __name__ == "__main__":
    unittest.main()
