"""Reloads and killed workers under a steady load."""

import os
import random
import signal
import threading

from support import Case, until


class Load(Case):
    alone = True

    def test_fifty_reloads_lose_no_request(self):
        server = self.serve("$response->end('ok');", settings={"worker_num": 2})
        load = self.wrk(server.url(), connections=32, seconds=120)
        generations = set()
        for _ in range(50):
            self.assertTrue(server.control("reload wait")["ok"])
            generations.update(server.workers())
        requests, errors, failed, text = load.result()
        self.assertGreater(requests, 1000, text)
        # A connection that closes is opened anew; what must not be is an unanswered request.
        self.assertEqual((errors, failed), ({}, 0), text)
        self.assertGreaterEqual(len(generations), 100)
        self.assertEqual(server.stop(), 0)

    def test_reloads_by_signal_lose_no_request(self):
        server = self.serve("Coroutine::sleep(0.002); $response->end('ok');", settings={"worker_num": 2})
        load = self.wrk(server.url(), connections=16, seconds=120)
        for _ in range(5):
            old = set(server.workers())
            server.kill(signal.SIGUSR1)
            until("new workers", lambda: len(now := set(server.workers())) == 2 and not now & old)
        _, errors, failed, text = load.result()
        self.assertEqual((errors, failed), ({}, 0), text)

    def test_new_connections_during_reloads_are_all_answered(self):
        server = self.serve("$response->end('ok');", settings={"worker_num": 2})
        over, bad, done = threading.Event(), [], [0]

        def client():
            while not over.is_set():
                try:
                    # A fresh connection each time: one in the accept queue must not be reset.
                    if server.get("/").body != b"ok":
                        bad.append("other answer")
                    done[0] += 1
                except Exception as error:
                    bad.append(repr(error))
        threads = [threading.Thread(target=client) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            server.control("reload wait")
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(bad, [])
        self.assertGreater(done[0], 50)

    def test_a_killed_worker_takes_only_its_own_requests(self):
        """Keep-alive clients that note which worker they were connected to: every failure must be on a killed one."""
        server = self.serve("$response->header('X-Worker', (string) getmypid()); Coroutine::sleep(0.001); $response->end('ok');", settings={"worker_num": 4})
        over, killed, failures, answered = threading.Event(), set(), [], [0]

        def client():
            connection, worker = server.connect(), None
            while not over.is_set():
                try:
                    answer = connection.request()
                    worker = int(answer.headers["x-worker"])
                    assert answer.status == 200
                    answered[0] += 1
                    if answer.headers.get("connection") == "close":
                        connection.sock.close()
                        connection, worker = server.connect(), None
                except Exception as error:
                    failures.append((worker, repr(error)))
                    connection.sock.close()
                    connection, worker = server.connect(), None
            connection.sock.close()
        threads = [threading.Thread(target=client) for _ in range(16)]
        for thread in threads:
            thread.start()
        per_kill = []
        for _ in range(10):
            until("four workers", lambda: len(server.status()["workers"]) == 4 and all(w["state"] == "serving" for w in server.status()["workers"]))
            victim = random.choice(server.status()["workers"])
            pid, before = victim["pid"], len(failures)
            killed.add(pid)
            os.kill(pid, signal.SIGKILL)
            until("a successor", lambda: pid not in server.workers() and len(server.workers()) == 4)
            mark = answered[0]
            until("requests go on", lambda: answered[0] > mark + 50)
            per_kill.append(len(failures) - before)
        over.set()
        for thread in threads:
            thread.join()
        # A connection that had no answer yet (worker None) was in flight on the killed one, too.
        others = [f for f in failures if f[0] is not None and f[0] not in killed]
        self.assertEqual(others, [])
        # At most the sixteen connections there are.
        self.assertLessEqual(max(per_kill), 16)
        self.assertEqual(len(server.status()["workers"]), 4)
        print(f"     kill -9 ten times: {answered[0]} answered, failed at each kill {per_kill}", flush=True)

    def test_kills_under_wrk_break_no_more_than_the_connections_of_that_worker(self):
        server = self.serve("$response->end('ok');", settings={"worker_num": 4})
        load = self.wrk(server.url(), connections=32, seconds=120)
        bound = 0
        for _ in range(10):
            # wrk opens its connections anew after a kill; when all are there, the victim's are what may fail.
            rows = until("all connections", lambda: sum(w["connections"] for w in server.status()["workers"]) == 32 and server.status()["workers"])
            victim = random.choice([w for w in rows if w["connections"]])
            bound += victim["connections"]
            os.kill(victim["pid"], signal.SIGKILL)
            until("a successor", lambda: victim["pid"] not in server.workers() and len(server.workers()) == 4)
        requests, errors, failed, text = load.result()
        self.assertEqual(failed, 0, text)
        self.assertLessEqual(sum(errors.values()), bound, text)
        print(f"     kill -9 ten times under wrk: {requests} answered, errors {errors}", flush=True)
