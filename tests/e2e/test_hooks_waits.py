"""Every kind of call that waits: many at once, broken off in the middle, and two on one connection
(fixtures/hooks/waits.php)."""

import re
import time

from hooks import FOLDER, QUIET, HookCase, each, kinds_of, servers, waits

COUNT = 100
# What two coroutines can share, and must not.
CONNECTIONS = [
    "pdo_mysql", "pdo_mysql prepared", "pdo_mysql tls", "mysqli", "mysqli prepared", "pdo_pgsql", "pdo_pgsql tls", "pgsql", "pgsql params", "phpredis", "phpredis pipeline", "predis",
    "memcached", "sqlite", "sqlite3", "curl kept", "stream", "tls", "ssl", "fsockopen", "stream udp", "socket", "socket line", "socket udp", "socket recvmsg",
]


def together(self, name):
    told = self.json(FOLDER / "together.php", name, COUNT, kinds=kinds_of(name), env={"WORK": "1"} if QUIET else {})
    serial = COUNT * (1 if name == "sleep" else 0.1)
    print(f"     {COUNT} x {name}: {told['seconds']:.3f} s in place of {serial:.0f} s", flush=True)
    self.assertEqual((told["count"], told["wrongs"]), (COUNT, 0), told)
    # Without concurrency it would be 10 s (sleep: 100 s); a loaded machine gets its time.
    self.assertLess(told["seconds"], serial * 0.3, told)
    if QUIET:
        self.assertLess(told["seconds"] - told["work"], serial * 0.03, told)
    self.assertGreaterEqual(told["seconds"], serial / COUNT * 0.9, told)


@each(waits(), together)
class Together(HookCase):
    """100 coroutines, each of which waits for 0.1 seconds."""


def cancel(self, name):
    begin = time.monotonic()
    *told, left = self.json(FOLDER / "cancel.php", name, kinds=kinds_of(name))
    # Not even the end of the process waits for what was broken off.
    self.assertLess(time.monotonic() - begin, 15)
    for one in told:
        self.assertTrue(one["done"] and one["ended"], one)
        # The call would take 20 seconds.
        self.assertLess(one["seconds"], 5, one)
        self.assertEqual(one["outcome"][-1], "finally", one)
        self.assertEqual(one["outcome"][0] == "canceled", one["throw"], one)
        self.assertEqual(one.get("again", "works"), "works", one)
    self.assertEqual((len(told), left), (4, 1), "coroutines that are left")


# Whoever drops the stream of a child process waits for the child, with Apus and without.
@each([name for name in waits() if name != "popen"], cancel)
class Cancel(HookCase):
    """A call that is broken off ends at once, and what comes after it is whole."""


def conflict(self, name):
    told = self.json(FOLDER / "conflict.php", name, kinds=kinds_of(name))
    self.assertEqual(len(told.get("conflict", [])), 2, told)
    for message, second in zip(told["conflict"], told["second ids"]):
        numbers = [int(n) for n in re.findall(r"coroutine (\d+)", message)]
        self.assertEqual(sorted(numbers), sorted([told["first"], second]), message)
    self.assertTrue(told["result"], "the first one's result")
    self.assertTrue(told["after"], "and the connection works on")


@each(CONNECTIONS, conflict)
class Conflict(HookCase):
    """The second coroutine on a connection gets an exception that names both; the first one gets what is its own."""


class Storm(HookCase):
    """All kinds at once, broken off at random."""

    def test_all_kinds_at_once(self):
        # Not those that take whole seconds, that need a holder, or are persistent.
        names = [name for name in waits() if name not in ("sleep", "sqlite", "sqlite3", "flock", "pdo_mysql persistent", "memcached")]
        for seed in (1,):
            told = self.json(
                FOLDER / "storm.php",
                seed,
                3,
                *names,
                kinds=(servers.MariaDB, servers.PostgreSQL, servers.Redis, servers.Slow),
                ini=["display_errors=0"],
            )
            self.assertEqual((told["wrong"], told["left"]), ([], 1), told)
            self.assertLessEqual(told["descriptors"], 3, told)
            self.assertGreater(told["calls"] - told["marked"], 50, told)
            self.assertGreater(told["canceled"], 5, told)
