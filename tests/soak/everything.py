#!/usr/bin/env python3
"""Everything at once on one server, with reloads and kills: `tests/soak/everything.py --help`.

Requests, uploads, WebSockets that join, speak and leave, tasks, a table, a queue, queries and slow clients; each answer
is checked for being its client's own. Passes when none was wrong, nothing failed but what a kill had in hand, no
acknowledged message or count is lost, and memory, descriptors and processes are what they were; over half an hour and
more a straight line through the second half of the memory's samples may rise by 1 %. Needs MariaDB. With a module that
has AddressSanitizer (--asan) it has to find nothing.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "e2e")]

import hooks  # noqa: E402
import support  # noqa: E402
from disturbance import Chaos, Memory, counted  # noqa: E402
from lib import servers, watched  # noqa: E402
from lib.websocket import CLOSE, WebSocket, code_of  # noqa: E402

# A kill spoils what was under way at that moment, and for so many seconds what comes to a process that is dying.
GRACE = 1.0
# How a worker that leaves ends its WebSockets.
LEAVING = (1001, 1012)
COUNTERS = 20
# Of why it failed, for --figures.
MOST_SAID = 4000
# MiB that AddressSanitizer keeps back in each process of what was freed. Little, so that the master's, which frees some
# 16 KB a reload, is full long before the half of an hour from which on memory has to be flat.
ASAN_QUARANTINE = 1
SLOW = b"".join(bytes([97 + piece]) * 100_000 for piece in range(10))
PASSES = {"echo": 8, "upload": 2, "task": 3, "count": 6, "push": 4, "pop": 6, "query": 4, "room": 2, "slow": 1, "leave": 1}


class Wrong(Exception):
    """An answer that nobody should have been given."""


class Ended(Exception):
    """A WebSocket was told that its worker leaves."""


class Client(threading.Thread):
    """One that does one thing after the other, at random, and checks what it is told."""

    def __init__(self, soak, number, seed):
        super().__init__(daemon=True)
        self.soak, self.random, self.number, self.made = soak, random.Random(seed), number, 0

    def run(self):
        while not self.soak.over.is_set():
            name = self.random.choices(list(PASSES), list(PASSES.values()))[0]
            self.made += 1
            begun = time.monotonic()
            try:
                getattr(self, name)(f"{self.number}-{self.made}")
            except Wrong as wrong:
                self.soak.wrong.append(f"{name}: {wrong}")
            except Ended:
                pass
            except Exception as error:  # noqa: BLE001
                self.soak.failed.append((begun, time.monotonic(), name, f"{type(error).__name__}: {error}"[:400]))
            else:
                self.soak.done[name] += 1

    def ask(self, path, body=None):
        with self.soak.server.connect() as connection:
            answer = connection.request("GET" if body is None else "POST", path, body=body, close=True)
        if answer.status != 200:
            raise ConnectionError(f"answered {answer.status}: {answer.body[:200]}")
        return answer.json()

    def expect(self, got, wanted):
        if got != wanted:
            raise Wrong(f"{got!r:.300} in place of {wanted!r:.300}")

    def echo(self, mark):
        self.expect(self.ask(f"/echo?value={mark}"), hashlib.sha1(mark.encode()).hexdigest())

    def upload(self, _):
        body = self.random.randbytes(self.random.randrange(1, 1 << 20))
        self.expect(self.ask("/upload", body), hashlib.md5(body).hexdigest())

    def task(self, mark):
        self.expect(self.ask(f"/task?value={mark}"), mark[::-1])

    def query(self, mark):
        wanted = {"hash": hashlib.sha1(f"row-{mark}".encode()).hexdigest(), "mark": mark}
        self.expect(self.ask(f"/query?value={mark}"), wanted)

    def count(self, _):
        """Counts up in the table; what was acknowledged is there at the end."""
        key = self.random.randrange(COUNTERS)
        with self.soak.lock:
            self.soak.begun[key] += 1
        self.ask(f"/count?value=c{key}")
        with self.soak.lock:
            self.soak.counted[key] += 1

    def push(self, mark):
        with self.soak.lock:
            self.soak.pushing.add(mark)
        self.expect(self.ask("/push", mark.encode()), True)
        with self.soak.lock:
            self.soak.pushed.add(mark)

    def pop(self, _):
        got = self.ask("/pop")
        if got is not False:
            self.soak.take(got)

    def room(self, mark):
        """Two join a room; what one says comes to both, in order."""
        with self.member(mark) as one, self.member(mark) as other:
            for member in (one, other):
                self.expect(self.heard(member), "joined")
            for number in range(self.random.randrange(1, 20)):
                one.say(f"{mark} {number}")
                for member in (one, other):
                    self.expect(self.heard(member), str(number))
            one.close()

    def member(self, room):
        return WebSocket.connect(self.soak.server.port, f"/?room={room}")

    def heard(self, member):
        opcode, data = member.message()
        if opcode == CLOSE:
            code, _ = code_of(data)
            raise Ended if code in LEAVING else Wrong(f"closed with {code}")
        return data.decode()

    def slow(self, _):
        """Asks byte by byte, and reads late."""
        with self.soak.server.connect() as connection:
            for byte in b"GET /slow HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n":
                connection.send(bytes([byte]))
                time.sleep(0.002)
            time.sleep(0.2)
            answer = connection.answer()
        self.expect((answer.status, len(answer.body), answer.body == SLOW), (200, len(SLOW), True))

    def leave(self, mark):
        """Does not wait for the answer."""
        with self.soak.server.connect() as connection:
            connection.send(f"GET /slow?value={mark} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
            time.sleep(self.random.random() / 20)


class Soak(unittest.TestCase):
    options = None
    # What was counted and measured, for --figures.
    figures = {}

    def setUp(self):
        settings, missing = hooks.extensions()
        if missing & {"mysqlnd", "pdo", "pdo_mysql"}:
            self.skipTest(f"this PHP lacks {', '.join(sorted(missing))}")
        ini = [part for part in settings if part != "-d"]
        database = servers.MariaDB()
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-soak-")))
        self.log, self.found = folder / "log", folder / "found"
        # Its clients may be starved on a machine that does other things: no request is too slow for it.
        wanted = {"worker_num": 2, "task_worker_num": 1, "package_max_length": "2M", "header_timeout": 600}
        wanted |= {"log_file": str(self.log), "blocked_loop_warn": 0}
        env = {"SOAK_SETTINGS": json.dumps(wanted), **database.environment()}
        if self.options.asan:
            env |= {"USE_ZEND_ALLOC": "0", **watched.asan_environment(self.found, ASAN_QUARANTINE, frames=1)}
        self.server = self.enterContext(support.Server(script=(HERE / "everything.php").read_text(), ini=ini, env=env))
        self.over, self.lock = threading.Event(), threading.Lock()
        self.done, self.wrong, self.failed = dict.fromkeys(PASSES, 0), [], []
        self.begun, self.counted = [0] * COUNTERS, [0] * COUNTERS
        self.pushing, self.pushed, self.popped = set(), set(), set()

    def take(self, mark):
        with self.lock:
            if mark in self.popped:
                self.wrong.append(f"{mark} was popped twice")
            if mark not in self.pushing:
                self.wrong.append(f"{mark} was popped, and nobody has pushed it")
            self.popped.add(mark)

    def runTest(self):  # noqa: N802
        options = self.options
        memory = Memory(self.server, self.server.folder, kept_back=(ASAN_QUARANTINE << 20) * options.asan)
        chaos = Chaos(self.server, options, random.Random(options.seed), roles=("worker", "task"))
        clients = [Client(self, number, options.seed + number) for number in range(options.clients)]
        for client in clients:
            client.start()
        end = time.monotonic() + options.seconds
        while time.monotonic() < end and not self.wrong:
            time.sleep(0.5)
            chaos.turn()
            memory.look()
        self.over.set()
        for client in clients:
            client.join(180)
            self.assertFalse(client.is_alive(), "a client hangs")
        try:
            self.report(memory, chaos)
        except AssertionError as error:
            self.figures["wrong"] = str(error)[:MOST_SAID]
            raise

    def report(self, memory, chaos):
        kills = [at for at, _ in chaos.kills]
        bare = [failure for failure in self.failed if not any(failure[0] - GRACE <= at <= failure[1] for at in kills)]
        print(f"answered: {self.done}, together {sum(self.done.values())}")
        print(f"reloads {chaos.reloads}, kills {[kind for _, kind in chaos.kills]}, spoilt by them {len(self.failed) - len(bare)}")
        print(memory.summary(), flush=True)
        rising = memory.rising()
        self.figures |= {
            "seconds": self.options.seconds,
            "answered": sum(self.done.values()),
            "reloads": chaos.reloads,
            "kills": len(kills),
            "spoilt": len(self.failed) - len(bare),
            **memory.figures(),
        }
        self.assertEqual(self.wrong, [], "answers are wrong")
        self.assertEqual(watched.errors(watched.WATCHERS["asan"], self.found), "")
        log = self.log.read_text(errors="replace") if self.log.exists() else ""
        self.assertEqual([failure[2:] for failure in bare], [], f"failed without a kill\n{log[-4000:]}")
        self.assertNotIn("panicked", log)
        self.assertLessEqual(len(self.failed), len(kills) * 2 * self.options.clients)
        self.assertEqual(chaos.problems, [])
        self.nothing_is_lost()
        self.assertEqual([name for name, count in self.done.items() if not count], [])
        self.assertEqual(memory.problems() + rising, [])

    def nothing_is_lost(self):
        """What a count or a push was answered is there; of what was popped a killed worker may have had one in hand."""
        ask = Client(self, "last", 0).ask
        for key, counted in enumerate(self.counted):
            if self.begun[key]:
                found = ask(f"/counted?value=c{key}")
                self.assertTrue(counted <= found <= self.begun[key], f"c{key} is {found}, of {counted} to {self.begun[key]}")
        while (mark := ask("/pop")) is not False:
            self.take(mark)
        in_hand = sum(name == "pop" for _, _, name, _ in self.failed)
        lost = self.pushed - self.popped
        print(f"pushed {len(self.pushed)}, popped {len(self.popped)}, counted {sum(self.counted)}, lost {len(lost)} of {in_hand} in hand")
        self.figures |= {"pushed": len(self.pushed), "lost": len(lost)}
        self.assertLessEqual(len(lost), in_hand, f"lost: {sorted(lost)[:20]}")
        self.assertEqual(self.wrong, [])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=float(os.environ.get("EVERYTHING_SECONDS", "3600")))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--reload", type=float, default=10, metavar="SECONDS", help="between two reloads")
    parser.add_argument("--kill", type=float, default=60, metavar="SECONDS", help="between two kills")
    parser.add_argument("--asan", action="store_true", help="the module (APUS_SO) is one of tools/asan-module")
    parser.add_argument("--figures", action="store_true", help="the last line is what was counted, as JSON")
    return parser.parse_args()


def main():
    options = parse()
    code = counted(Soak, options)
    if options.figures:
        print(json.dumps({"wrong": code, **Soak.figures}))
    return code


if __name__ == "__main__":
    sys.exit(main())
