"""Handlers that throw, die, leak or wait too long; workers that are replaced for it."""

import os
import signal
import threading
import time

from support import Case, alive, until, written


def in_thread(work):
    out = []
    thread = threading.Thread(target=lambda: out.append(work()))
    thread.start()
    return thread, out


class Fatal(Case):
    HANDLER = """
    switch ($path) {
        case '/wait':
            touch("$folder/waiting-" . $request->get['n']);
            while (!file_exists("$folder/go")) { Coroutine::sleep(0.005); }
            // Nothing of the fatal error may stick to the process.
            $response->end('finished ' . getmypid() . ' ' . json_encode(['a' => [1.5, true]]));
            return;
        case '/memory':
            ini_set('memory_limit', '32M');
            str_repeat('x', 64_000_000);
            return;
        case '/compile':
            eval('function strlen() {}');
            return;
        case '/begun':
            $response->write('begun');
            str_repeat('x', 640_000_000_000);
            return;
    }
    $response->end((string) getmypid());
    """

    def fatal(self, path):
        server = self.serve(self.HANDLER)
        old = server.get("/").body
        waiting = [in_thread(lambda n=n: server.get(f"/wait?n={n}")) for n in range(3)]
        until("three wait", lambda: all((server.folder / f"waiting-{n}").exists() for n in range(3)))
        self.assertEqual(server.get(path).status, 500)
        # The others on that worker finish; a new worker serves meanwhile.
        new = until("a new worker", lambda: (pid := server.get("/").body) != old and pid)
        (server.folder / "go").touch()
        for thread, out in waiting:
            thread.join()
            self.assertEqual([(a.status, a.body) for a in out], [(200, b"finished " + old + b' {"a":[1.5,true]}')])
        until("the old worker has left", lambda: not alive(int(old)))
        self.assertEqual(server.get("/").body, new)
        self.assertEqual(server.stop(), 0)
        return server

    def test_memory_limit(self):
        self.fatal("/memory")

    def test_compile_error(self):
        self.fatal("/compile")

    def test_after_the_answer_has_begun_it_is_cut(self):
        server = self.serve(self.HANDLER)
        old = server.get("/").body
        data = server.raw(b"GET /begun HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertIn(b"begun", data)
        self.assertFalse(data.endswith(b"0\r\n\r\n"))
        until("a new worker", lambda: server.get("/").body != old)


class WithoutCoroutines(Case):
    """enable_coroutine off: handlers run on the worker's main stack."""

    HANDLER = Fatal.HANDLER.replace("case '/memory'", "case '/exit': $response->end('exited'); exit(3); case '/exit-unanswered': exit; case '/throw': throw new LogicException('on the main stack'); case '/memory'")

    def test_fatal_errors_and_exit(self):
        server = self.serve(self.HANDLER, settings={"enable_coroutine": False})
        old = server.get("/").body
        self.assertEqual(server.get("/throw").status, 500)
        until("it is logged", lambda: "uncaught LogicException: on the main stack" in server.log())
        self.assertEqual(server.get("/exit").body, b"exited")
        self.assertEqual(server.get("/exit-unanswered").status, 500)
        self.assertEqual(server.get("/").body, old)
        for path in ("/memory", "/compile"):
            old = server.get("/").body
            self.assertEqual(server.get(path).status, 500)
            until("a new worker", lambda: server.get("/").body != old)
        self.assertEqual(server.stop(), 0)


class MasterCallbacks(Case):
    def test_exit_in_the_master_stops_the_server(self):
        server = self.serve("touch(\"$folder/go\"); $server->reload(); $response->end('ok');", before="$server->on('beforereload', function () { exit(4); });")
        self.assertEqual(server.get("/").body, b"ok")
        self.assertEqual(server.wait(), 4)
        self.assertIn("beforereload called exit(): the server stops", server.log())

    def test_exit_after_a_fatal_error_still_stops_it(self):
        server = self.serve(before="""
        $server->on('beforereload', function () {
            static $calls = 0;
            $calls++ === 0 ? trigger_error('in the master', E_USER_ERROR) : exit(4);
        });""")
        server.kill(signal.SIGUSR1)
        until("it is logged", lambda: "a fatal error ended the callback of beforereload" in server.log())
        server.kill(signal.SIGUSR1)
        self.assertEqual(server.wait(), 4)

    def test_what_they_throw_is_logged_and_the_server_goes_on(self):
        server = self.serve("$server->reload(); $response->end((string) getmypid());", before="$server->on('beforereload', function () { throw new LogicException('in the master'); });")
        old = server.get("/").body
        until("a new worker", lambda: server.get("/").body != old)
        until("it is logged", lambda: "uncaught in beforereload: LogicException: in the master" in server.log())


class Crashes(Case):
    def test_a_killed_worker_is_replaced_and_workererror_tells(self):
        server = self.serve("$response->end((string) getmypid());", before="""
        $server->on('workererror', function ($server, $id, $pid, $code, $signal) use ($folder) {
            file_put_contents("$folder/error", json_encode([$id, $pid, $code, $signal]) . "\\n", FILE_APPEND);
        });""")
        old = int(server.get("/").body)
        os.kill(old, signal.SIGKILL)
        self.assertNotEqual(int(server.get("/").body), old)
        text = written("workererror", server.folder / "error")
        self.assertEqual(text, f"[0,{old},0,9]\n")

    def test_a_crash_loop_backs_off_and_is_reported(self):
        # The first worker serves; whatever comes after it dies at once.
        server = self.serve("if ($path === '/die') { touch(\"$folder/broken\"); posix_kill(getmypid(), 9); } $response->end('ok');".replace("posix_kill(getmypid(), 9)", "exec('kill -9 ' . getmypid())"), before="""
        $server->on('workerstart', function () use ($folder) {
            file_put_contents("$folder/starts", hrtime(true) . "\\n", FILE_APPEND);
            if (file_exists("$folder/broken")) { exec('kill -9 ' . getmypid()); }
        });""")
        starts = lambda: [int(line) for line in (server.folder / "starts").read_text().splitlines()]
        with server.connect() as client:
            client.send(b"GET /die HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertTrue(client.closed())
        until("five starts", lambda: len(starts()) >= 6)
        gaps = [(b - a) / 1e9 for a, b in zip(starts()[1:], starts()[2:])]
        # 0.1, 0.2, 0.4 … seconds: each pause is longer than the one before.
        self.assertEqual(gaps, sorted(gaps), gaps)
        self.assertRegex(server.log(), r"error: worker 0 .* was ended by SIGKILL: 3 times in a row within seconds of its start; next start in 400 ms")
        (server.folder / "broken").unlink()
        self.assertEqual(server.get("/").body, b"ok")
        self.assertEqual(server.stop(), 0)

    def test_a_failing_workerstart_is_reported(self):
        server = self.serve("$response->end('ok');", before="""
        $server->on('workerstart', function () use ($folder) {
            if (!file_exists("$folder/good")) { touch("$folder/good"); throw new LogicException('not today'); }
        });""")
        self.assertEqual(server.get("/").body, b"ok")
        self.assertRegex(server.log(), "uncaught LogicException: not today")


class Recycling(Case):
    def test_max_request(self):
        server = self.serve("$response->end((string) getmypid());", settings={"max_request": 20, "max_request_grace": 1})
        pids = set()

        def go_on():
            pids.add(server.get("/").body)
            return len(pids) >= 4
        until("a fourth worker", go_on)
        self.assertEqual(server.status()["totals"]["crashes"], 0)

    def test_max_request_on_one_kept_connection(self):
        server = self.serve("$response->end((string) getmypid());", settings={"max_request": 10, "max_request_grace": 1})
        served, held = set(), [server.connect()]

        def go_on():
            answer = held[0].request()
            served.add(answer.body)
            if answer.headers.get("connection") == "close":
                self.assertTrue(held[0].closed())
                held[0].sock.close()
                held[0] = server.connect()
            return len(served) >= 3
        until("a third worker", go_on)
        held[0].sock.close()

    def test_max_worker_memory(self):
        server = self.serve("static $kept = []; if ($path === '/leak') { $kept[] = str_repeat('x', 8_000_000); } $response->end((string) getmypid());", settings={"max_worker_memory": "96M"}, ini=["memory_limit=-1"])
        old = server.get("/").body
        until("a worker that grew is replaced", lambda: server.get("/leak").body != old)
        until("it left", lambda: not alive(int(old)))

    def test_max_worker_age(self):
        server = self.serve("$response->end((string) getmypid());", settings={"max_worker_age": 1})
        old = server.get("/").body
        until("a worker that aged is replaced", lambda: server.get("/").body != old)

    def test_stop_replaces_one_worker(self):
        server = self.serve("if ($path === '/stop') { $server->stop(); } $response->end((string) getmypid());")
        old = server.get("/stop").body
        until("a new worker", lambda: server.get("/").body != old)


class Waiting(Case):
    def test_max_wait_time_ends_what_does_not_end(self):
        server = self.serve("touch(\"$folder/begun\"); Coroutine::sleep(600); $response->end('never');", settings={"max_wait_time": 1})
        thread, out = in_thread(lambda: server.raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        until("the handler runs", lambda: (server.folder / "begun").exists())
        begin = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begin, 15)
        thread.join()
        self.assertFalse(out[0].startswith(b"HTTP/1.1 200"))

    def test_a_handler_that_blocks_the_loop_is_killed_after_max_wait_time(self):
        server = self.serve("touch(\"$folder/begun\"); for (;;) { }", settings={"max_wait_time": 1})
        thread, _ = in_thread(lambda: server.raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        until("the handler runs", lambda: (server.folder / "begun").exists())
        self.assertEqual(server.stop(), 0)
        thread.join()

    def test_a_graceful_stop_finishes_what_has_begun(self):
        server = self.serve("touch(\"$folder/begun\"); while (!file_exists(\"$folder/go\")) { Coroutine::sleep(0.005); } $response->end('finished');")
        thread, out = in_thread(lambda: server.get("/"))
        until("the handler runs", lambda: (server.folder / "begun").exists())
        idle = server.connect()
        server.kill(signal.SIGTERM)
        # An idle connection goes at once, a new one is refused or closed unanswered.
        self.assertTrue(idle.closed())
        (server.folder / "go").touch()
        thread.join()
        self.assertEqual((out[0].body, out[0].headers["connection"]), (b"finished", "close"))
        self.assertEqual(server.wait(), 0)

    def test_int_stops_at_once(self):
        server = self.serve("touch(\"$folder/begun\"); Coroutine::sleep(600); $response->end('never');")
        thread, out = in_thread(lambda: server.raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        until("the handler runs", lambda: (server.folder / "begun").exists())
        begin = time.monotonic()
        server.stop(signal.SIGINT)
        self.assertLess(time.monotonic() - begin, 10)
        thread.join()

    def test_a_killed_master_leaves_no_worker(self):
        server = self.serve("$response->end((string) getmypid());", settings={"worker_num": 2})
        workers = server.workers()
        server.kill(signal.SIGKILL)
        until("the workers leave", lambda: not any(alive(pid) for pid in workers))


class Blocked(Case):
    def test_a_handler_that_blocks_the_loop_is_counted_and_reported_with_its_stack(self):
        hog = "function hog() { $end = hrtime(true) + 100_000_000; while (hrtime(true) < $end); }"
        server = self.serve("hog(); $response->end((string) $server->stats()['loop_blocked_count']);", settings={"blocked_loop_warn": 0.02}, before=hog)
        server.get("/")
        until("it is counted", lambda: int(server.get("/").body) > 0)
        # While it runs: with the stack that tells where.
        until("it is reported", lambda: "blocked_loop_warn" in server.log())
        self.assertRegex(server.log(), r"(?s)warning: coroutine \d+ has kept its worker busy for .*server.php\(\d+\): hog\(\)")
