"""Workers share what clients open: counted, not timed. In a long run (APUS_LONG) as many as a large machine would have."""

import collections
import contextlib
import os
import signal
import unittest

from support import Case, state, until

WHO = "$response->end((string) $server->worker_id);"
LONG = os.environ.get("APUS_LONG") == "1"
# The busiest worker beside the mean. A machine that does other things wakes them in another order: there it is what
# tells a line of workers from one in which all are woken (3 and more of 16 workers).
MOST = 1.3 if LONG else 2.2


class Share(Case):
    alone = True

    def who(self, connection, close=False):
        return int(connection.request(close=close).body)

    def keep_open(self, server, count, opened):
        """Opens so many connections, and says how many each worker has."""
        workers = collections.Counter()
        for _ in range(count):
            connection = opened.enter_context(server.connect())
            workers[self.who(connection)] += 1
        return workers

    def close_each(self, server, count):
        workers = collections.Counter()
        for _ in range(count):
            with server.connect() as connection:
                workers[self.who(connection, close=True)] += 1
        return workers

    def assert_fair(self, counts, workers):
        mean = sum(counts.values()) / workers
        self.assertLessEqual(max(counts.values()), MOST * mean, sorted(counts.items()))
        self.assertEqual(len(counts), workers, sorted(counts.items()))

    def share(self, workers, kept, short, listen="'127.0.0.1', 0"):
        with contextlib.ExitStack() as opened:
            settings = {"worker_num": workers, "max_connection": kept + 1000}
            server = self.serve(WHO, settings=settings, listen=listen)
            self.assert_fair(self.keep_open(server, kept, opened), workers)
            self.assert_fair(self.close_each(server, short), workers)

    def test_four_workers_share(self):
        self.share(4, 200, 400)

    def test_sixteen_workers_share(self):
        self.share(16, 640, 1600)

    def test_two_for_each_of_many_workers_leave_none_idle(self):
        with contextlib.ExitStack() as opened:
            server = self.serve(WHO, settings={"worker_num": 8})
            # On a busy machine some of them begin late; who is at work has no connection kept for him.
            until("all serve", lambda: all(worker["state"] == "serving" for worker in server.status()["workers"]))
            until("all wait", lambda: all(state(pid) == "S" for pid in server.workers()))
            counts = self.keep_open(server, 32, opened)
            self.assertGreaterEqual(len(counts), 8 if LONG else 7, sorted(counts.items()))

    @unittest.skipUnless(LONG, "takes longer: APUS_LONG=1")
    def test_as_many_workers_as_a_large_machine_has(self):
        for workers in (4, 16, 64):
            with self.subTest(workers=workers):
                self.share(workers, 10_000, 100_000)

    def test_the_successor_of_a_killed_worker_gets_its_share(self):
        with contextlib.ExitStack() as opened:
            server = self.serve(WHO, settings={"worker_num": 4})
            self.keep_open(server, 200, opened)
            before = server.workers()
            os.kill(before[0], signal.SIGKILL)
            until("a successor", lambda: len(now := set(server.workers())) == 4 and before[0] not in now)
            until("that serves", lambda: all(w["state"] == "serving" for w in server.status()["workers"]))
            counts = self.keep_open(server, 50, opened)
            # What the others have is above the mean until the new one has caught up: it comes first more often.
            (_, most), (_, next_most) = counts.most_common(2)
            self.assertGreater(most, (1.5 if LONG else 1.0) * next_most, counts)
            rows = [worker["connections"] for worker in server.status()["workers"]]
            self.assertLessEqual(max(rows), MOST * sum(rows) / 4, rows)

    def test_a_blocked_worker_keeps_no_connection_waiting(self):
        handler = """
            if ($path === '/block') {
                file_put_contents("$folder/blocked", '', FILE_APPEND);
                while (!file_exists("$folder/go")) clearstatcache();
            }
            $response->end((string) $server->worker_id);"""
        with contextlib.ExitStack() as opened:
            server = self.serve(handler, settings={"worker_num": 3})
            blocked = []
            for _ in range(2):
                connection = opened.enter_context(server.connect())
                (server.folder / "blocked").unlink(missing_ok=True)
                connection.send(b"GET /block HTTP/1.1\r\nHost: test\r\n\r\n")
                until("it blocks", (server.folder / "blocked").exists)
                blocked.append(connection)
            # Each is answered while both are blocked: by the only one that is not.
            free = {self.who(opened.enter_context(server.connect())) for _ in range(50)}
            free |= {int(server.get("/").body) for _ in range(50)}
            self.assertEqual(len(free), 1)
            (server.folder / "go").touch()
            self.assertEqual(len(free | {int(connection.answer().body) for connection in blocked}), 3)
