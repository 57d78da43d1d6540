"""Task workers and senders that are killed: every caller gets an answer or an error, and no task that had not begun is
lost."""

import os
import random
import signal
import threading
import time

from support import PATIENCE, until, written
from task_cases import OBJECTS, PLAIN, WORKER_DIED, TaskCase

# Many workers die young here, and the master's back-off is not what is tested.
SETTINGS = {"worker_num": 2, "task_worker_num": 3}


class Killed(TaskCase):
    def task_pids(self, server):
        return [worker["pid"] for worker in server.status()["workers"] if worker["role"] == "task" and worker["state"] == "serving"]

    def kill_one(self, server, chance):
        """Kills a task worker; one that was told of as serving may have gone by then."""

        def killed():
            pids = self.task_pids(server)
            try:
                return pids and os.kill(chance.choice(pids), signal.SIGKILL) is None
            except ProcessLookupError:
                return False

        until("a task worker to kill", killed)

    def test_the_caller_learns_it_at_once(self):
        server = self.tasks({"task_worker_num": 1})
        answers = []
        caller = threading.Thread(target=lambda: answers.append(self.ask(server, "taskwait", {"do": "die"}, PATIENCE * 2)))
        caller.start()
        begun = server.folder / "begun"
        pid = int(written("the task to begin", begun))
        killed = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        caller.join()
        self.assertEqual(answers, [[False, WORKER_DIED]])
        self.assertLess(time.monotonic() - killed, PATIENCE, "it did not wait for its time-out")
        until("the event", lambda: self.lines(server, "died"))
        id, dead, code, number = self.lines(server, "died")[0]
        self.assertEqual((id, dead, code, number), (1, pid, 0, signal.SIGKILL))

    def test_the_event_tells_who_does_not_wait_and_nothing_runs_twice(self):
        server = self.tasks({"task_worker_num": 1})
        id = self.value(server, "task", {"do": "die", "tag": "once"})
        begun = server.folder / "begun"
        os.kill(int(written("the task to begin", begun)), signal.SIGKILL)
        until("the event", lambda: self.lines(server, "errors"))
        self.assertEqual(self.lines(server, "errors"), [[id, "the task worker that ran it died"]])
        self.assertEqual(self.value(server, "taskwait", {"do": "echo", "value": 1}, PATIENCE), 1)
        self.assertEqual([line[2] for line in self.lines(server, "ran")], ["once", None])
        self.assertIn(f"task {id} was lost with the worker that ran it", server.log())

    def storm(self, settings, on, ask):
        """Kills task workers again and again while callers wait; what the callers got."""
        server = self.tasks({**SETTINGS, **settings}, on=on)
        answers, stop = [], threading.Event()

        def call():
            while not stop.is_set():
                answers.append(ask(server))

        callers = [threading.Thread(target=call) for _ in range(6)]
        for caller in callers:
            caller.start()
        kills, chance = 0, random.Random(7)
        while kills < 12:
            self.kill_one(server, chance)
            kills += 1
            # Not a wait for anything: the moment of the kill is what varies.
            time.sleep(chance.random() * 0.1)
        stop.set()
        for caller in callers:
            caller.join(PATIENCE * 2)
            self.assertFalse(caller.is_alive(), f"a caller hangs: {server.said()[-2000:]}")
        return server, answers

    def test_nobody_hangs_while_workers_die(self):
        task = {"do": "sleep", "seconds": 0.005, "value": "done"}
        server, answers = self.storm({}, PLAIN, lambda server: self.ask(server, "taskwait", task, PATIENCE * 2))
        self.assertGreater(answers.count(["done", 0]), 10)
        self.assertEqual([answer for answer in answers if answer not in (["done", 0], [False, WORKER_DIED])], [])
        stats = until("rest", lambda: (now := self.value(server, "stats"))["tasking_num"] == 0 and now)
        self.assertEqual(stats["task_queue_bytes"], 0)

    def test_nobody_hangs_while_workers_with_coroutines_die(self):
        tasks = [{"do": "sleep", "seconds": 0.005, "value": n} for n in range(10)]
        settings = {"task_enable_coroutine": True, "enable_coroutine": False}
        server, answers = self.storm(settings, OBJECTS, lambda server: self.ask(server, "taskWaitMulti", tasks, PATIENCE * 2))
        whole = [answer for answer in answers if answer == [list(range(10)), 0]]
        self.assertGreater(len(whole), 5)
        for value, error in answers:
            if value is False:
                self.assertEqual(error, WORKER_DIED)
            else:
                got = value.items() if isinstance(value, dict) else enumerate(value)
                self.assertTrue(all(int(place) == result for place, result in got), value)

    def test_no_task_that_had_not_begun_is_lost(self):
        server = self.tasks({"worker_num": 1, "task_worker_num": 2})
        sent = [self.value(server, "task", {"do": "sleep", "seconds": 0.004, "tag": n}) for n in range(300)]
        chance = random.Random(3)
        for _ in range(8):
            self.kill_one(server, chance)
            time.sleep(chance.random() * 0.05)
        until("the rest to run", lambda: self.value(server, "stats")["tasking_num"] == 0)
        until("all to be told of", lambda: len(self.lines(server, "finished")) + len(self.lines(server, "errors")) >= len(sent))
        begun = [line[0] for line in self.lines(server, "ran")]
        finished, lost = {line[1] for line in self.lines(server, "finished")}, {line[0] for line in self.lines(server, "errors")}
        self.assertEqual(len(begun), len(set(begun)), "nothing ran twice")
        self.assertEqual(finished | lost, set(sent))
        self.assertFalse(finished & lost)
        self.assertLessEqual(len(lost), 8)

    def test_tasks_of_a_sender_that_died_run_all_the_same(self):
        server = self.tasks({"worker_num": 1, "task_worker_num": 1})
        self.value(server, "task", {"do": "until", "file": "open"})
        for n in range(10):
            self.value(server, "finish", {"do": "echo", "value": n, "tag": n})
        until("the first to begin", lambda: self.lines(server, "ran"))
        [sender] = [worker["pid"] for worker in server.status()["workers"] if worker["role"] == "worker"]
        os.kill(sender, signal.SIGKILL)
        until("the next one", lambda: len([line for line in self.lines(server, "started") if line[0] == 0]) == 2)
        (server.folder / "open").touch()
        until("all to run", lambda: len(self.lines(server, "ran")) == 11)
        until("rest", lambda: self.value(server, "stats")["tasking_num"] == 0)
        self.assertEqual(self.lines(server, "finished"), [])
