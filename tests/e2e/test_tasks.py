"""Task workers: handing over, waiting, finishing, priorities, limits, reloads."""

import json
import os
import signal
import threading

from support import Case, alive, until, written
from task_cases import FAILED, OBJECTS, PLAIN, QUEUE_FULL, TIMEOUT, WORKER_DIED, TaskCase


class Handing(TaskCase):
    def test_ids_go_from_event_workers_to_task_workers(self):
        server = self.tasks({"worker_num": 2, "task_worker_num": 2})
        until("all to start", lambda: len(self.lines(server, "started")) == 4)
        started = sorted((id, task) for id, _, task in self.lines(server, "started"))
        self.assertEqual(started, [(0, False), (1, False), (2, True), (3, True)])
        who = self.value(server, "taskwait", {"do": "who"}, 10)
        self.assertIn(who["worker"], (2, 3))
        self.assertTrue(who["taskworker"])
        self.assertIn(who["from"], (0, 1))
        for seat in (0, 1):
            self.assertEqual(self.value(server, "taskwait", {"do": "who"}, 10, seat)["worker"], 2 + seat)

    def test_what_the_callback_returns_comes_back(self):
        server = self.tasks()
        for value in ("text", "", 5, 1.5, True, [1, {"a": None}], {"b": ["c"]}):
            self.assertEqual(self.value(server, "taskwait", {"do": "echo", "value": value}, 10), value)
        self.assertIsNone(self.value(server, "taskwait", {"do": "echo"}, 10), "it ended without a result")

    def test_finish_events_and_callbacks_run_in_the_sender(self):
        server = self.tasks()
        id = self.value(server, "task", {"do": "echo", "value": "one"})
        own = self.value(server, "finish", {"do": "echo", "value": "two"})
        self.value(server, "task", {"do": "echo"})
        several = self.value(server, "task", {"do": "finish", "values": [1, [2]], "value": 3})
        until("the results", lambda: len(self.lines(server, "finished")) == 5)
        got = sorted(self.lines(server, "finished"), key=lambda line: line[1])
        self.assertEqual(got[:2], [["event", id, "one", True], ["own", own, "two", True]])
        self.assertEqual(got[2:], [["event", several, value, True] for value in (1, [2], 3)])
        self.assertEqual(self.value(server, "taskwait", {"do": "finish", "values": ["first", "second"]}, 10), "first")

    def test_errors_come_back(self):
        server = self.tasks()
        self.assertEqual(self.ask(server, "taskwait", {"do": "throw"}, 10), [False, FAILED])
        self.assertEqual(self.ask(server, "taskwait", {"do": "exit"}, 10), [False, FAILED])
        self.assertEqual(self.ask(server, "taskwait", {"do": "sleep", "seconds": 1}, 0.05), [False, TIMEOUT])
        id = self.value(server, "task", {"do": "throw", "value": "the reason"})
        until("the event", lambda: self.lines(server, "errors"))
        [[failed, reason]] = self.lines(server, "errors")
        self.assertEqual(failed, id)
        self.assertIn("RuntimeException: the reason", reason)
        self.assertIn("the reason", server.log(), "what nobody waits for is logged as well")
        self.assertEqual(self.value(server, "taskwait", {"do": "echo", "value": 1}, 10), 1)

    def test_a_late_result_is_dropped_and_false_is_no_error(self):
        server = self.tasks({"task_worker_num": 1})
        self.assertEqual(self.ask(server, "taskwait", {"do": "until", "file": "go"}, 0.05), [False, TIMEOUT])
        (server.folder / "go").touch()
        # One task worker: what it gave before has come before this.
        self.assertEqual(self.ask(server, "taskwait", {"do": "echo", "value": False}, 10), [False, 0])
        self.assertEqual(self.lines(server, "finished"), [])

    def test_what_a_stop_leaves_undone_is_told(self):
        server = self.tasks({"task_worker_num": 1, "max_wait_time": 1})
        for task in ({"do": "die"}, {"do": "echo"}, {"do": "echo"}):
            self.value(server, "task", task)
        until("the first to begin", lambda: (server.folder / "begun").exists())
        server.stop()
        self.assertIn("2 tasks that waited were not run", server.log())

    def test_a_fatal_error_fails_the_task_and_replaces_the_worker(self):
        server = self.tasks({"task_worker_num": 1})
        first = self.value(server, "taskwait", {"do": "who"}, 10)["pid"]
        self.assertEqual(self.ask(server, "taskwait", {"do": "fatal"}, 10), [False, FAILED])
        second = self.value(server, "taskwait", {"do": "who"}, 20)["pid"]
        self.assertNotEqual(first, second)
        until("the old one to leave", lambda: not alive(first))

    def test_many_by_position(self):
        server = self.tasks()
        tasks = [{"do": "echo", "value": "a"}, {"do": "throw"}, {"do": "sleep", "seconds": 0.05, "value": "c"}, {"do": "echo"}]
        self.assertEqual(self.value(server, "taskWaitMulti", tasks, 10), {"0": "a", "2": "c", "3": None})
        self.assertEqual(self.value(server, "taskCo", tasks, 10), ["a", False, "c", None])
        self.assertEqual(self.value(server, "taskWaitMulti", [], 10), [])
        self.assertEqual(self.ask(server, "taskWaitMulti", [{"do": "throw"}], 10), [False, FAILED])
        late = [{"do": "echo", "value": 1}, {"do": "sleep", "seconds": 2}]
        self.assertEqual(self.value(server, "taskWaitMulti", late, 0.3), [1])
        self.assertEqual(self.ask(server, "taskWaitMulti", late[1:], 0.05), [False, TIMEOUT])

    def test_objects(self):
        for settings in ({"task_enable_coroutine": True}, {"task_use_object": True}, {"task_object": True}):
            with self.subTest(settings):
                server = self.tasks(settings, on=OBJECTS)
                task = self.value(server, "taskwait", {"do": "task"}, 10)
                self.assertEqual((task["task"], task["data"], task["from"]), ("Apus\\Server\\Task", True, 0))
                self.assertEqual(task["flags"] & 2, 2, "packed")
                self.assertGreaterEqual(task["age"], 0)
                self.assertEqual(self.value(server, "taskwait", {"do": "finish", "values": ["f"]}, 10), "f")

    def test_one_at_a_time_or_many(self):
        tasks = [{"do": "until", "file": "open", "value": n} for n in range(4)]
        for settings, running in (({"task_worker_num": 1}, 1), ({"task_worker_num": 1, "task_enable_coroutine": True}, 4)):
            with self.subTest(settings):
                server = self.tasks(settings, on=OBJECTS if "task_enable_coroutine" in settings else PLAIN)
                for task in tasks:
                    self.value(server, "task", task)
                until("the tasks to begin", lambda: len(self.lines(server, "ran")) == running)
                stats = self.value(server, "stats")
                self.assertEqual((stats["tasking_num"], stats["task_queue_num"]), (4, 4 - running))
                self.assertEqual(stats["task_idle_worker_num"], 0)
                (server.folder / "open").touch()
                until("the results", lambda: len(self.lines(server, "finished")) == 4)
                stats = until("rest", lambda: (now := self.value(server, "stats"))["task_idle_worker_num"] and now)
                self.assertEqual((stats["tasking_num"], stats["task_queue_bytes"], stats["task_count"]), (0, 0, 4))
                self.assertEqual(server.status()["totals"]["tasks"], 4)

    def test_priorities(self):
        server = self.tasks({"task_worker_num": 1})
        self.value(server, "task", {"do": "until", "file": "open"})
        until("it to begin", lambda: self.lines(server, "ran"))
        for n, priority in enumerate((2, 1, 0, 1, 0, 2)):
            self.value(server, "task", {"do": "echo", "tag": [priority, n]}, -1, None, priority)
        (server.folder / "open").touch()
        until("all of them", lambda: len(self.lines(server, "ran")) == 7)
        order = [line[2] for line in self.lines(server, "ran")[1:]]
        self.assertEqual(order, [[0, 2], [0, 4], [1, 1], [1, 3], [2, 0], [2, 5]])

    def test_misuse_is_told(self):
        server = self.tasks(on="")
        self.assertIn("on('task'", self.ask(server, "task", 1)["message"])
        server = self.tasks()
        self.assertEqual(self.ask(server, "task", 1, 2)["thrown"], "ValueError")
        self.assertEqual(self.ask(server, "task", 1, -1, None, 3)["thrown"], "ValueError")
        told = self.serve("try { $server->finish(1); } catch (Apus\\Server\\Exception $e) { $response->end($e->getMessage()); }", settings={"task_worker_num": 1}, before="$server->on('task', 'strlen');")
        self.assertIn(b"finish() works inside the callback", told.get().body)
        self.assertEqual(self.ask(server, "taskCancel", 12345), [False, 0])

    def test_a_result_that_cannot_be_packed_is_told_as_such_and_where(self):
        callback = "$server->on('task', function ($server, $id, $from, $data) { note('ran', $id); return fn () => 1; });"
        server = self.tasks({"task_worker_num": 1}, on=callback)
        self.assertEqual(self.ask(server, "taskwait", 1, 10), [False, FAILED])
        self.assertEqual(len(self.lines(server, "ran")), 1)
        id = self.value(server, "task", 1)
        until("the event", lambda: self.lines(server, "errors"))
        [[failed, reason]] = self.lines(server, "errors")
        self.assertEqual(failed, id)
        for text in (reason, server.log()):
            self.assertRegex(text, r"it ran, but the result of the callback at /.*\.php:\d+ cannot be sent: .*Serialization of 'Closure' is not allowed")
            self.assertNotIn("could not be run", text)

    def test_time_outs_are_numbers(self):
        code = """
    $told = [];
    foreach ([fn () => $server->taskwait(1, NAN), fn () => $server->taskWaitMulti([1], NAN), fn () => $server->taskCo([1], NAN), fn () => $server->compute('time', [], null, NAN)] as $call) {
        try { $told[] = $call(); } catch (ValueError $e) { $told[] = substr($e->getMessage(), strpos($e->getMessage(), '(): ') + 4); }
    }
    $response->end(json_encode($told));
"""
        server = self.serve(code, settings={"task_worker_num": 1}, before="$server->on('task', fn () => 1);")
        self.assertEqual(server.get().json(), [f"Argument #{n} ($timeout) must be a number of seconds (negative for no limit), NAN given" for n in (2, 2, 2, 4)])

    def test_large_data_both_ways(self):
        server = self.serve(
            "$sent = random_bytes(16 << 20); $got = $server->taskwait($sent, 30); $other = $server->taskwait([$sent], 30); $response->end(json_encode([$got === strrev($sent), $other === [strrev($sent)]]));",
            settings={"task_worker_num": 1},
            before="$server->on('task', fn ($server, $id, $from, $data) => is_array($data) ? array_map('strrev', $data) : strrev($data));",
            ini=["memory_limit=512M"])
        self.assertEqual(server.get().json(), [True, True], server.said())

    def test_data_that_can_never_fit_names_the_setting(self):
        server = self.serve("try { $server->task(str_repeat('x', 2 << 20)); } catch (Apus\\Server\\TaskException $e) { $response->end($e->getMessage()); }",
                            settings={"task_worker_num": 1, "task_queue_size": "1M"}, before="$server->on('task', 'strlen');")
        self.assertIn(b"task_queue_size is 1048576", server.get().body)
        server = self.serve("$response->end(json_encode([$server->taskwait(1, 10), $server->getLastError()]));",
                            settings={"task_worker_num": 1, "task_queue_size": "1M"}, before="$server->on('task', fn () => str_repeat('x', 2 << 20));")
        self.assertEqual(server.get().json(), [False, FAILED])
        self.assertIn("larger than task_queue_size", server.log())

    def test_a_full_queue_refuses_and_waits_give_up_or_get_room(self):
        server = self.serve("""
    $big = str_repeat('x', 40 << 10);
    $ids = [];
    while (($id = $server->task($big)) !== false) { $ids[] = $id; }
    $full = $server->getLastError();
    $waited = [$server->taskwait($big, 0.1), $server->getLastError()];
    touch("$folder/open");
    $later = $server->taskwait($big, 20);
    $response->end(json_encode([count($ids), $full, $waited, $later]));
""", settings={"task_worker_num": 1, "task_queue_size": "256K"}, before=r"""
$server->on('task', function ($server, $id, $from, $data) { global $folder; while (!file_exists("$folder/open")) { usleep(2000); } return strlen($data); });
""")
        count, full, waited, later = server.get().json()
        self.assertEqual((count, full, waited, later), (6, QUEUE_FULL, [False, QUEUE_FULL], 40 << 10))

    def test_tasks_from_task_workers_and_by_destination_reach_the_other(self):
        server = self.tasks(on=r"""$server->on('task', fn ($server, $id, $from, $data) => $data['do'] === 'nest'
            ? ['nested' => $server->taskwait(['do' => 'who'], 10, 1), 'self' => $server->worker_id]
            : perform($server, $id, $from, $data));""")
        got = self.value(server, "taskwait", {"do": "nest"}, 10, 0)
        self.assertEqual((got["self"], got["nested"]["worker"], got["nested"]["from"]), (1, 2, 1))

    def test_messages_reach_task_workers(self):
        server = self.tasks({"task_worker_num": 1}, more="$server->on('pipemessage', fn ($server, $from, $message) => note('mail', $server->worker_id, $from, $message));")
        self.value(server, "sendMessage", "hello", 1)
        until("the message", lambda: self.lines(server, "mail") == [[1, 0, "hello"]])


class Master(Case):
    def test_its_callbacks_hand_tasks_over(self):
        # What Octane's ticks do: a timer of the master sends tasks, and hears nothing of them.
        server = self.serve(script="""<?php
        $server = new Swoole\\Http\\Server('127.0.0.1', 0);
        $server->set(['worker_num' => 1, 'task_worker_num' => 2, 'enable_coroutine' => false]);
        $server->on('start', function ($server): void {
            $server->task('first');
            Swoole\\Timer::after(1, function () use ($server): void {
                $ids = [$server->task(['second' => 2], 1), @$server->task(1, 2), @$server->task(1, -1, fn () => 1)];
                file_put_contents('ids', json_encode($ids));
            });
        });
        $server->on('task', function ($server, $id, $from, $data): string {
            file_put_contents('ran', json_encode([$id, $data, $server->worker_id]) . "\\n", FILE_APPEND);
            return 'told to nobody';
        });
        $server->on('finish', fn () => file_put_contents('finished', '1'));
        $server->on('request', fn ($request, $response) => $response->end('ok'));
        $server->start();
        """, ini=["apus.swoole_compat=1"])
        ran = server.folder / "ran"
        until("both to run", lambda: ran.exists() and ran.read_text().count("\n") == 2)
        told = sorted(json.loads(line) for line in ran.read_text().splitlines())
        self.assertEqual([told[0][:2], told[1]], [[0, "first"], [1, {"second": 2}, 2]])
        ids = written("the timer", server.folder / "ids")
        self.assertEqual(json.loads(ids), [1, False, False])
        self.assertEqual((server.get().body, server.stop()), (b"ok", 0))
        self.assertFalse((server.folder / "finished").exists())


class Blocking(TaskCase):
    """Without coroutines, as Laravel Octane serves: enable_coroutine off, taskWaitMulti() blocks the worker."""

    def test_octane(self):
        server = self.tasks({"enable_coroutine": False, "worker_num": 2})
        tasks = [{"do": "sleep", "seconds": 0.02, "value": n} for n in range(10)]
        for _ in range(5):
            self.assertEqual(self.value(server, "taskWaitMulti", tasks, 10), list(range(10)))
        self.assertEqual(self.ask(server, "taskWaitMulti", [{"do": "sleep", "seconds": 2}], 0.05), [False, TIMEOUT])
        self.assertEqual(self.value(server, "taskwait", {"do": "echo", "value": "v"}, 10), "v")

    def test_results_of_others_wait_for_the_loop(self):
        server = self.tasks({"enable_coroutine": False, "task_worker_num": 1})
        own = self.value(server, "finish", {"do": "sleep", "seconds": 0.1, "value": "own"})
        self.assertEqual(self.value(server, "taskWaitMulti", [{"do": "sleep", "seconds": 0.1, "value": 1}], 10), [1])
        until("the callback", lambda: self.lines(server, "finished"))
        self.assertEqual(self.lines(server, "finished"), [["own", own, "own", False]])

    def test_a_death_ends_the_wait(self):
        server = self.tasks({"enable_coroutine": False, "task_worker_num": 1})
        answers = []
        thread = threading.Thread(target=lambda: answers.append(self.ask(server, "taskwait", {"do": "die"}, 25)))
        thread.start()
        pid = int(written("the task to begin", server.folder / "begun"))
        os.kill(pid, signal.SIGKILL)
        thread.join()
        self.assertEqual(answers, [[False, WORKER_DIED]])
        self.assertEqual(self.value(server, "taskwait", {"do": "echo", "value": 1}, 10), 1)

    def test_blocking_waits_for_room(self):
        server = self.serve(r"""
    for ($n = 0; $n < 6; $n++) { $server->task(str_repeat('x', 40 << 10)); }
    $response->end(json_encode($server->taskwait(str_repeat('y', 40 << 10), 20)));
""", settings={"task_worker_num": 1, "task_queue_size": "256K", "enable_coroutine": False}, before="$server->on('task', function ($server, $id, $from, $data) { usleep(10000); return $data[0]; });")
        self.assertEqual(server.get().json(), "y")


class Reloading(TaskCase):
    def pids(self, server, role):
        return {worker["pid"] for worker in server.status()["workers"] if worker["role"] == role and worker["state"] == "serving"}

    def test_usr2_replaces_task_workers_alone(self):
        server = self.tasks({"worker_num": 2, "task_worker_num": 2})
        workers, tasks = self.pids(server, "worker"), self.pids(server, "task")
        server.kill(signal.SIGUSR2)
        until("new task workers", lambda: len(now := self.pids(server, "task")) == 2 and not now & tasks)
        self.assertEqual(self.pids(server, "worker"), workers)
        self.assertTrue(self.value(server, "reload", True))
        again = self.pids(server, "task")
        until("new ones again", lambda: len(now := self.pids(server, "task")) == 2 and now != again)
        self.assertEqual(self.pids(server, "worker"), workers)

    def test_reloads_lose_no_task(self):
        server = self.tasks({"worker_num": 2, "task_worker_num": 2})
        sent, stop = [], threading.Event()

        def send():
            while not stop.is_set():
                sent.append(self.value(server, "taskwait", {"do": "echo", "value": len(sent)}, 25))

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            self.assertTrue(server.control("reload wait")["ok"])
            before = self.pids(server, "task")
            server.kill(signal.SIGUSR2)
            until("new task workers", lambda: len(now := self.pids(server, "task")) == 2 and not now & before)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertGreater(len(sent), 20)
        self.assertNotIn("crash", server.log())
        self.assertEqual(server.status()["totals"]["crashes"], 0)

    def test_a_stop_runs_what_waits(self):
        server = self.tasks({"task_worker_num": 1})
        for n in range(20):
            self.value(server, "task", {"do": "sleep", "seconds": 0.01, "tag": n})
        ran = server.folder / "ran"
        text = []
        reader = threading.Thread(target=lambda: (server.process.wait(), text.append(ran.read_text())))
        reader.start()
        self.assertEqual(server.stop(), 0)
        reader.join()
        self.assertEqual(text[0].count("\n"), 20)

    def test_task_max_request_replaces_workers(self):
        server = self.tasks({"task_worker_num": 1, "task_max_request": 5, "task_max_request_grace": 1})
        pids = set()

        def replaced():
            # The one that has had its fill goes on until the next one is there.
            pids.add(self.value(server, "taskwait", {"do": "who"}, 25)["pid"])
            return len(pids) > 3

        until("three were replaced", replaced)
        self.assertEqual(server.status()["totals"]["crashes"], 0)
        self.assertEqual(len(self.pids(server, "worker")), 1)

    def test_the_command_shows_roles(self):
        import subprocess

        from support import command
        server = self.tasks()
        self.value(server, "taskwait", {"do": "echo", "value": 1}, 10)
        text = subprocess.run([command(), "status", "--pid", str(server.pid)], capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"1 tasks, 0 running, 0 failed")
        self.assertRegex(text, r"(?m)^1\.1 +task +\d+ +serving")


class Ending(TaskCase):
    def test_everybody_leaves_when_the_master_is_killed(self):
        server = self.tasks({"worker_num": 1, "task_worker_num": 2, "max_wait_time": 20}, more="$server->addProcess(new Apus\\Process(fn () => sleep(100)));")
        workers = until("all of them", lambda: len(found := server.status()["workers"]) == 4 and found)
        pids = [worker["pid"] for worker in workers]
        for n in range(5):
            self.value(server, "task", {"do": "sleep", "seconds": 0.05, "tag": n})
        os.kill(server.pid, signal.SIGKILL)
        until("them to leave", lambda: not any(alive(pid) for pid in pids))
        self.assertEqual(len(self.lines(server, "ran")), 5, "what waited was run")

    def test_int_ends_tasks_at_once(self):
        server = self.tasks({"task_worker_num": 1, "max_wait_time": 60})
        self.value(server, "task", {"do": "until", "file": "never"})
        until("it to begin", lambda: self.lines(server, "ran"))
        self.assertEqual(server.stop(signal.SIGINT), 0)

    def test_blocked_loops_of_task_workers_are_no_news(self):
        server = self.tasks({"task_worker_num": 1, "blocked_loop_warn": "20ms"}, on="$server->on('task', function () { $end = hrtime(true) + 100_000_000; while (hrtime(true) < $end); return 1; });")
        self.assertEqual(self.value(server, "taskwait", 1, 10), 1)
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("blocked", server.log())
