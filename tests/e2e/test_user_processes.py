"""User processes: addProcess(), their pipe, their restarts, their end."""

import json
import os
import signal

from support import Case, alive, until, written

# Notes what comes over the pipe, and answers with it; ends by itself when told to.
ECHO = r"""
$echo = new Apus\Process(function (Apus\Process $process) use ($folder, $server) {
    file_put_contents("$folder/born", json_encode([getmypid(), $process->pid, $process->id === $server->worker_id ? $process->id : -1, $server->master_pid === posix_or_parent()]) . "\n", FILE_APPEND);
    $socket = $process->exportSocket();
    while (true) {
        $text = $socket->recv(65535, -1);
        if ($text === 'leave') { return; }
        if ($text === 'fail') { exit(3); }
        $socket->send("$text from " . getmypid());
    }
}, false, 2, true);
function posix_or_parent(): int { preg_match('/^PPid:\s+(\d+)/m', file_get_contents('/proc/self/status'), $m); return (int) $m[1]; }
$added = $server->addProcess($echo);
"""
ASK = r"""
    $echo->write(ltrim($path, '/'));
    $response->end($echo->exportSocket()->recv(65535, 20));
"""
TELL = "$echo->write(ltrim($path, '/')); $response->end((string) $added);"


def handler(code):
    return "global $echo, $added; " + code


class UserProcesses(Case):
    def lines(self, server, name="born"):
        path = server.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def users(self, server):
        return [worker for worker in server.status()["workers"] if worker["role"] == "user"]

    def test_workers_talk_to_it_over_its_pipe(self):
        server = self.serve(handler(ASK), before=ECHO, settings={"worker_num": 1, "task_worker_num": 0})
        [[pid, own, id, child_of_master]] = until("its birth", lambda: self.lines(server))
        self.assertEqual((own, id, child_of_master), (pid, 1, True))
        for n in range(3):
            self.assertEqual(server.get(f"/hello{n}").body.decode(), f"hello{n} from {pid}")
        [user] = self.users(server)
        self.assertEqual((user["id"], user["pid"], user["state"]), (1, pid, "serving"))
        self.assertEqual(server.stop(), 0)
        self.assertFalse(alive(pid))

    def test_it_comes_again_with_the_same_pipe(self):
        server = self.serve(handler("if ($path === '/leave' || $path === '/fail') { " + TELL + " } else {" + ASK + "}"), before=ECHO)
        until("its birth", lambda: self.lines(server))
        for number, how in enumerate(("leave", "fail", "kill"), 2):
            if how == "kill":
                os.kill(self.lines(server)[-1][0], signal.SIGKILL)
            else:
                server.get(f"/{how}")
            pid = until(f"the next one after {how}", lambda: len(born := self.lines(server)) == number and born[-1][0])
            self.assertEqual(server.get("/again").body.decode(), f"again from {pid}")
        self.assertIn("has ended; next start in", server.log())
        self.assertIn("exited with code 3", server.log())

    def test_reloads_leave_it_alone(self):
        server = self.serve(handler(ASK), before=ECHO)
        [[pid, *_]] = until("its birth", lambda: self.lines(server))
        self.assertTrue(server.control("reload wait")["ok"])
        self.assertEqual(server.get("/still").body.decode(), f"still from {pid}")
        self.assertEqual(len(self.lines(server)), 1)

    def test_it_may_wait_for_the_order_to_leave(self):
        server = self.serve(settings={"worker_num": 1}, before=r"""
$server->addProcess(new Apus\Process(function ($process) use ($folder) {
    touch("$folder/waits");
    $came = Apus\Coroutine\System::waitSignal(15, -1);
    file_put_contents("$folder/left", json_encode([$came, count(file("$folder/stopped"))]));
}, false, 0, true));
$server->on('workerstop', fn () => file_put_contents("$folder/stopped", "worker\n", FILE_APPEND));
""")
        until("it to wait", lambda: (server.folder / "waits").exists())
        self.assertEqual(server.stop(), 0)
        self.assertEqual(json.loads((server.folder / "left").read_text()), [15, 1], "after the workers")

    def test_it_hands_tasks_over(self):
        server = self.serve(settings={"worker_num": 1, "task_worker_num": 1}, before=r"""
$server->on('task', fn ($server, $id, $from, $data) => $data * 2);
$server->addProcess(new Apus\Process(function ($process) use ($folder, $server) {
    $result = [$server->taskwait(21, 10), Apus\Coroutine::getCid() > 0, $server->taskWaitMulti([1, 2], 10)];
    file_put_contents("$folder/result", json_encode($result));
    sleep(100);
}, false, 0, true));
$server->addProcess(new Apus\Process(function ($process) use ($folder, $server) {
    file_put_contents("$folder/blocking", json_encode([$server->taskwait(21, 10), Apus\Coroutine::getCid() > 0]));
    sleep(100);
}, false, 0, false));
""")
        for name, expected in (("result", [42, True, [2, 4]]), ("blocking", [42, False])):
            path = server.folder / name
            self.assertEqual(json.loads(written("the result", path)), expected)
        self.assertEqual([user["id"] for user in self.users(server)], [2, 3])

    def test_misuse_is_told(self):
        server = self.serve(r"""
    try { $server->addProcess(new Apus\Process(fn () => 1)); } catch (Apus\Server\Exception $e) { $response->end($e->getMessage()); }
""", before=r"""
$process = new Apus\Process(fn () => sleep(100));
$server->addProcess($process);
try { $server->addProcess($process); } catch (Apus\Process\Exception $e) { file_put_contents("$folder/twice", $e->getMessage()); }
""")
        self.assertIn(b"before start()", server.get().body)
        self.assertNotEqual((server.folder / "twice").read_text(), "")

    def test_a_worker_is_not_forked(self):
        # Without coroutines, too: the child would go on as a second worker on the same sockets.
        handler = r"""
    $codes = [];
    foreach ([fn () => pcntl_fork(), fn () => (new Apus\Process(fn () => 1))->start()] as $fork) {
        try { $fork(); } catch (Apus\Coroutine\Exception $e) { $codes[] = $e->getCode() === Apus\Coroutine\Exception::CANNOT_FORK; }
    }
    $response->end(json_encode([Coroutine::getCid(), $codes, getmypid()]));
"""
        for coroutines in (False, True):
            server = self.serve(handler, settings={"enable_coroutine": coroutines})
            cid, codes, pid = server.get().json()
            self.assertEqual((cid > 0, codes), (coroutines, [True, True]))
            self.assertEqual([worker["pid"] for worker in server.status()["workers"]], [pid])
            self.assertEqual(server.stop(), 0)
