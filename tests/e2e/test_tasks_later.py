"""Tasks that run later, again and again, and by the calendar; computations."""

import json
import os
import signal
import threading
import time

from support import PATIENCE, ROOT, alive, until, written
from task_cases import PLAIN, TaskCase


class Later(TaskCase):
    def runs(self, server, tag):
        return [line for line in self.lines(server, "ran") if line[2] == tag]

    def test_after_some_time(self):
        server = self.tasks()
        begun = time.time()
        id = self.value(server, "taskAfter", 0.3, {"do": "echo", "value": "later", "tag": "later"})
        soon = self.value(server, "taskAfter", 0, {"do": "echo", "value": "soon"})
        self.assertEqual(self.value(server, "stats")["task_delayed_num"] in (1, 2), True)
        until("both", lambda: len(self.lines(server, "finished")) == 2)
        self.assertGreaterEqual(time.time() - begun, 0.3)
        self.assertEqual(self.lines(server, "finished"), [["event", soon, "soon", True], ["event", id, "later", True]])
        self.assertEqual(self.value(server, "stats")["task_delayed_num"], 0)

    def test_again_and_again_on_one_worker_at_a_time(self):
        server = self.tasks({"worker_num": 2, "task_worker_num": 3}, more="$server->on('workerstart', fn ($server, $id) => $id < 2 && $server->taskEvery(0.05, ['do' => 'echo', 'tag' => 'every'], 'the only one'));")
        until("ten runs", lambda: len(self.runs(server, "every")) >= 10)
        self.assertEqual(self.value(server, "stats")["task_delayed_num"] <= 1, True, "the second took the first one's place")
        ids = {line[0] for line in self.runs(server, "every")[3:]}
        self.assertEqual(len(ids), 1)
        self.assertEqual(self.ask(server, "taskCancel", ids.pop()), [True, 0])
        until("rest", lambda: self.value(server, "stats")["tasking_num"] == 0)
        count = len(self.runs(server, "every"))
        self.value(server, "taskwait", {"do": "sleep", "seconds": 0.2}, 10)
        self.assertEqual(len(self.runs(server, "every")), count)

    def test_long_runs_do_not_overlap(self):
        server = self.tasks({"task_worker_num": 3})
        self.value(server, "taskEvery", 0.01, {"do": "sleep", "seconds": 0.1, "tag": "slow"})
        until("a run", lambda: self.runs(server, "slow"))
        for _ in range(20):
            self.assertLessEqual(self.value(server, "stats")["tasking_num"], 1)

    def test_cron(self):
        server = self.tasks()
        self.value(server, "taskCron", "* * * * * *", {"do": "echo", "tag": "cron"}, "each second", "Europe/Berlin")
        until("two runs", lambda: len(self.runs(server, "cron")) >= 2)
        far = self.value(server, "taskCron", "0 0 29 2 *", {"do": "echo", "tag": "far"})
        self.assertEqual(self.ask(server, "taskCancel", far), [True, 0])
        self.assertEqual(self.runs(server, "far"), [])
        for expression, zone, told in (("* * *", "", "five fields"), ("61 * * * *", "", "61 * * * *"), ("* * * * *", "Nowhere/Land", "Nowhere/Land"), ("0 0 31 2 *", "", "date")):
            answer = self.ask(server, "taskCron", expression, 1, "", zone)
            self.assertEqual(answer["thrown"], "ValueError")
            self.assertIn(told, answer["message"])
        for method, seconds in (("taskAfter", -1), ("taskEvery", 0), ("taskEvery", 1e12)):
            self.assertEqual(self.ask(server, method, seconds, 1)["thrown"], "ValueError")

    def test_deaths_and_reloads_lose_none(self):
        server = self.tasks({"task_worker_num": 1})
        self.value(server, "taskEvery", 0.05, {"do": "echo", "tag": "every"})
        self.value(server, "taskAfter", 2, {"do": "echo", "tag": "after"})
        self.value(server, "taskCron", "* * * * * *", {"do": "echo", "tag": "cron"})
        # Whoever handed them over, and whoever runs them, are killed; then all are replaced.
        for role in ("worker", "task"):
            [pid] = [worker["pid"] for worker in server.status()["workers"] if worker["role"] == role]
            os.kill(pid, signal.SIGKILL)
            until("its end", lambda: not alive(pid))
        until("the next ones", lambda: sum(worker["state"] == "serving" for worker in server.status()["workers"]) == 2)
        self.assertTrue(server.control("reload wait")["ok"])
        count = len(self.runs(server, "every"))
        until("it to go on", lambda: len(self.runs(server, "every")) > count + 2)
        until("the delayed one", lambda: self.runs(server, "after"))
        seconds = len(self.runs(server, "cron"))
        until("the calendar", lambda: len(self.runs(server, "cron")) > seconds)
        self.assertEqual(len(self.runs(server, "after")), 1)

    def test_a_death_in_a_run_is_told_and_the_next_comes(self):
        server = self.tasks({"task_worker_num": 1})
        id = self.value(server, "taskEvery", 0.05, {"do": "die", "tag": "die"})
        for count in (1, 2):
            until("a run", lambda: len(self.runs(server, "die")) == count)
            os.kill(self.runs(server, "die")[-1][3], signal.SIGKILL)
        until("the events", lambda: len(self.lines(server, "errors")) == 2)
        self.assertEqual({line[0] for line in self.lines(server, "errors")}, {id})
        self.assertTrue(self.value(server, "taskCancel", id))


# What /compute?args=["name", …] computes.
COMPUTE = r"""
class Sum {
    public function __construct(private int $start) {}
    public function add(int ...$numbers): int { return $this->start + array_sum($numbers); }
    public function __invoke(int $n): int { return $this->start * $n; }
    public static function twice(int $n): int { return 2 * $n; }
    public function sendable(int $more): Closure { return function (int $n) use ($more) { $twice = fn ($x) => $x * 2; return $twice($this->start + $more + $n); }; }
}
function counting(int $to): int { for ($n = 1; $n <= $to; $n++) { Apus\progress(['at' => $n]); } return $n - 1; }
function endless(string $file): void { file_put_contents($file, getmypid()); while (true) { usleep(1000); Apus\progress(); } }
function compute($server, array $args) {
    global $folder, $outside;
    $factor = 3; $counter = 0;
    return match ($args[0]) {
        'function' => $server->compute('array_sum', [[1, 2, 3]]),
        'named' => $server->compute(strrev(...), ['abc']),
        'static' => $server->compute('Sum::twice', [4]),
        'pair' => $server->compute([Sum::class, 'twice'], [5]),
        'method' => $server->compute([new Sum(10), 'add'], [1, 2]),
        'first class' => $server->compute((new Sum(10))->add(...), [3]),
        'invokable' => $server->compute(new Sum(10), [3]),
        'closure' => $server->compute(fn (int $n) => $n * $factor, [7]),
        'used' => $server->compute(static function () use ($factor, &$counter) { $counter++; return [$factor, $counter, getmypid()]; }),
        'nested' => $server->compute(function () { return (function () { return (fn () => 'deep')(); })(); }),
        'this' => $server->compute((new Sum(10))->sendable(5), [1]),
        'main' => $server->compute($outside, [6]),
        'null' => $server->compute(fn () => null),
        'throws' => $server->compute(function () { throw new DomainException('of the domain'); }),
        'included' => $server->compute(require "$folder/included.php"),
        'resource' => $server->compute('strlen', [STDIN]),
        'progress' => (function () use ($server) { $seen = []; $result = $server->compute('counting', [4], function ($value) use (&$seen) { $seen[] = $value['at']; }); return [$result, $seen]; })(),
        'stopped' => $server->compute('counting', [1000000], fn ($value) => $value['at'] < 3),
        'timeout' => $server->compute('endless', ["$folder/endless"], null, 0.2),
        'die' => $server->compute('perform', [null, 0, 0, ['do' => 'die']]),
    };
}
$outside = function (int $n) { return $n + 0.5; };
"""


class Computing(TaskCase):
    def setUp(self):
        self.server = self.tasks({"task_worker_num": 1}, on="", more=COMPUTE)

    def compute(self, name):
        answer = self.ask(self.server, "compute", name)
        return answer if isinstance(answer, dict) else answer[0]

    def test_every_kind_of_callable(self):
        expected = {"function": 6, "named": "cba", "static": 8, "pair": 10, "method": 13, "first class": 13, "invokable": 30, "closure": 21, "nested": "deep", "this": 32, "main": 6.5, "null": None}
        self.assertEqual({name: self.compute(name) for name in expected}, expected)
        factor, counter, pid = self.compute("used")
        self.assertEqual((factor, counter), (3, 1))
        self.assertEqual([pid], [worker["pid"] for worker in self.server.status()["workers"] if worker["role"] == "task"])

    def test_failures_are_exceptions(self):
        thrown = self.compute("throws")
        self.assertEqual((thrown["thrown"], thrown["code"]), ("Apus\\Server\\TaskException", 801))
        self.assertIn("DomainException: of the domain", thrown["message"])
        (self.server.folder / "included.php").write_text("<?php return fn () => 1;")
        self.assertEqual(self.compute("included")["code"], 807)
        self.assertEqual(self.compute("resource")["thrown"], "Apus\\PackException")
        self.assertEqual(self.compute("closure"), 21)

    def test_progress_and_calling_off(self):
        self.assertEqual(self.compute("progress"), [4, [1, 2, 3, 4]])
        self.assertEqual(self.compute("stopped")["code"], 804)
        self.assertEqual(self.compute("timeout")["code"], 803)
        # The worker is free again: what ran was called off, too.
        self.assertEqual(self.compute("closure"), 21)
        until("rest", lambda: self.value(self.server, "stats")["tasking_num"] == 0)

    def test_a_death_is_an_exception(self):
        answers = []
        thread = threading.Thread(target=lambda: answers.append(self.compute("die")))
        thread.start()
        begun = self.server.folder / "begun"
        os.kill(int(written("it to begin", begun)), signal.SIGKILL)
        thread.join(PATIENCE)
        self.assertEqual(answers[0]["code"], 802)

    def test_without_coroutines(self):
        self.server = self.tasks({"task_worker_num": 1, "enable_coroutine": False}, on=PLAIN, more=COMPUTE)
        self.assertEqual(self.compute("closure"), 21)
        self.assertEqual(self.compute("progress"), [4, [1, 2, 3, 4]])
        self.assertEqual(self.compute("stopped")["code"], 804)
        self.assertEqual(self.compute("timeout")["code"], 803)


class Example(TaskCase):
    def test_the_example(self):
        server = self.serve(script=f"<?php $argv = ['server.php', '0']; require {json.dumps(str(ROOT / 'examples/tasks/server.php'))};")
        self.assertEqual(server.get("/thumbnails").json(), ["eno", "owt", "eerht"])
        self.assertEqual(server.get("/primes?below=100000").json(), {"primes": 9592, "steps": 9})
        self.assertGreater(server.get("/mail?to=ann").json()["task"], 4)
        until("the mail", lambda: "mail to ann sent by worker" in server.said())
        self.assertEqual(server.get("/").json()["task_delayed_num"], 1)
