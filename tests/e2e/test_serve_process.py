"""`apus serve`: what scripts may do, and what becomes of requests when processes die, hang, are too few or are replaced."""

import hashlib
import os
import signal
import threading

import support
from serve_cases import Browser, Sites
from support import until

FILES = {
    "hello.php": "<?php header('X-Test: yes'); setcookie('a', 'b c'); echo PHP_SAPI, php_sapi_name(), $_GET['n'] ?? '';",
    "pid.php": "<?php echo getmypid();",
    "post.php": """<?php header('Content-Type: application/json');
        $files = array_map(fn($f) => [$f['name'], $f['error'], $f['size'], is_uploaded_file($f['tmp_name']) && move_uploaded_file($f['tmp_name'], $_GET['to'])], $_FILES);
        $body = file_get_contents('php://input');
        echo json_encode([$_POST, $files, strlen($body), md5($body)]);""",
    "session.php": "<?php session_start(); echo $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;",
    "fatal.php": "<?php echo 'before'; none();",
    "memory.php": "<?php ini_set('memory_limit', '16M'); $a = str_repeat('x', 1 << 25);",
    "time.php": "<?php set_time_limit(1); while (true);",
    "exit.php": "<?php register_shutdown_function(function () { echo 'c'; }); echo 'a'; exit('b');",
    "fresh.php": "<?php class A { static $n = 0; } function f() { static $n = 0; return ++$n; } define('X', 1); ini_set('precision', 5); echo ++A::$n, f(), ini_get('precision');",
    "status.php": "<?php header('Content-Length: 3'); header('Connection: close'); header('Status: 418 Teapot'); echo 'abc';",
    "moved.php": "<?php header('HTTP/1.1 404 Nothing Here'); header('Location: /x', true, 302); header_remove('X-Powered-By');",
    "big.php": "<?php for ($i = 0; $i < 20; $i++) echo str_repeat('0123456789', 100000);",
    "headers.php": "<?php echo json_encode([getallheaders(), apache_request_headers() === getallheaders(), $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'], getenv('REQUEST_METHOD'), headers_sent()]);",
    "filter.php": """<?php
        echo json_encode([filter_has_var(INPUT_SERVER, 'HTTP_X_ONE'), filter_has_var(INPUT_SERVER, 'HTTP_X_TWO'),
            filter_input(INPUT_SERVER, 'REQUEST_METHOD'), filter_input_array(INPUT_SERVER, ['HTTP_X_ONE' => FILTER_VALIDATE_INT])]);""",
    "filtered.php": """<?php $_SERVER['HTTP_X_ONE'] = 'mine'; unset($_SERVER['REQUEST_METHOD']);
        echo json_encode([filter_input(INPUT_SERVER, 'HTTP_X_ONE'), $_SERVER['HTTP_X_ONE'], isset($_SERVER['REQUEST_METHOD']), $_SERVER['HTTP_X_TWO'] ?? null]);""",
    "flush.php": """<?php while (ob_get_level()) ob_end_flush(); echo 'first'; flush(); echo headers_sent() ? 'sent' : 'open';
        while (!file_exists($_GET['gate'])) { clearstatcache(); usleep(2000); } echo 'last';""",
    "finish.php": """<?php echo 'answer'; var_dump(fastcgi_finish_request()); echo 'nobody';
        while (!file_exists($_GET['gate'])) { clearstatcache(); usleep(2000); } file_put_contents($_GET['to'], fastcgi_finish_request() ? 'again' : 'once');""",
    "gone.php": """<?php ignore_user_abort(true); ob_implicit_flush(); while (ob_get_level()) ob_end_flush();
        file_put_contents($_GET['to'] . '.begun', '1'); while (!connection_aborted()) { echo str_repeat('x', 1000); usleep(1000); } file_put_contents($_GET['to'], connection_status());""",
    "stand.php": "<?php file_put_contents($_GET['gate'] . '.' . getmypid(), '1'); while (!file_exists($_GET['gate'])) { clearstatcache(); usleep(2000); } echo getmypid();",
    "slow.php": """<?php
        class Report {
            public static function lines(string $gate): string {
                return implode('', array_map(function ($part) use ($gate) {
                    while (!file_exists($gate)) {
                        clearstatcache();
                        usleep(50_000);
                    }
                    return $part;
                }, ['do', 'ne']));
            }
        }
        echo Report::lines($_GET['gate']);""",
    "crash.php": "<?php posix_kill(posix_getpid(), SIGSEGV); sleep(30);",
    "silent.php": "<?php sleep(300);",
    "endless.php": "<?php ignore_user_abort(true); file_put_contents($_GET['gate'] . '.' . getmypid(), '1'); while (true) { usleep(1000); }",
}


class Scripts(Sites):
    def scripts(self, **options):
        self.root = self.directory(FILES)
        return self.served(self.root, **options)

    def begun(self, gate, count=1):
        """The processes that stand at a gate."""
        found = lambda: list(self.root.glob(f"{gate}.*"))  # noqa: E731
        until(f"{count} scripts stand at {gate}", lambda: len(found()) >= count)
        return [int(path.name.rsplit(".", 1)[1]) for path in found()]

    def beside(self, ask):
        """What a request gives that goes on meanwhile: call it for the answer."""
        answers = []
        thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
        thread.start()

        def answer():
            thread.join(support.PATIENCE)
            return answers[0]

        return answer


FORKS = """<?php
echo 'parent ';
flush();
$pid = pcntl_fork();
if ($pid === 0) {
    echo 'child';
    flush();
    register_shutdown_function(fn () => file_put_contents($_GET['to'], 'ran'));
    exit(3);
}
pcntl_waitpid($pid, $status);
echo pcntl_wexitstatus($status), file_get_contents($_GET['to']), ' ', getmypid();
"""


class Answers(Scripts):
    def test_a_child_that_a_script_forks_answers_nothing(self):
        server = self.served(self.directory({"fork.php": FORKS}), workers=1)
        answers = [server.get(f"/fork.php?to={self.enterContext(Folder())}/file").body for _ in range(3)]
        self.assertRegex(answers[0], rb"^parent 3ran \d+$")
        self.assertEqual(answers, answers[:1] * 3)

    def test_heads_cookies_and_arguments(self):
        server = self.scripts()
        answer = server.get("/hello.php?n=5")
        self.assertEqual((answer.status, answer.body), (200, b"fpm-fcgifpm-fcgi5"))
        self.assertEqual((answer.headers["x-test"], answer.headers["set-cookie"]), ("yes", "a=b%20c"))
        self.assertEqual(answer.headers["content-length"], "17")
        with server.connect() as client:
            for _ in range(3):
                self.assertEqual(client.request("HEAD", "/hello.php").body, b"")
                self.assertEqual(client.request("GET", "/hello.php").body, b"fpm-fcgifpm-fcgi")

    def test_statuses(self):
        server = self.scripts()
        answer = server.get("/status.php")
        self.assertEqual((answer.status, answer.body), (418, b"abc"))
        moved = server.get("/moved.php")
        self.assertEqual((moved.status, moved.headers["location"]), (302, "/x"))
        self.assertNotIn("x-powered-by", moved.headers)

    def test_fields_of_the_request(self):
        server = self.scripts()
        headers = {"Authorization": "Basic bWU6cHc=", "X-One": "1"}
        told, same, user, password, method, sent = server.get("/headers.php", headers=headers).json()
        self.assertEqual((told["X-One"], same, user, password, method, sent), ("1", True, "me", "pw", "GET", False))

    def test_ext_filter_has_the_variables_of_the_request(self):
        server = self.scripts(workers=1)
        for one in ("1", "2"):
            headers = {"X-One": one, "X-Two": "<b>"} if one == "1" else {"X-One": one}
            told = server.get("/filter.php", headers=headers).json()
            self.assertEqual(told, [True, one == "1", "GET", {"HTTP_X_ONE": int(one)}])
            told = server.get("/filtered.php", headers=headers).json()
            self.assertEqual(told, [one, "mine", False, "<b>" if one == "1" else None])
        server = self.scripts(workers=1, ini=("filter.default=special_chars",))
        told = server.get("/filtered.php", headers={"X-One": "1", "X-Two": "<b>"}).json()
        self.assertEqual(told, ["1", "mine", False, "&#60;b&#62;"])

    def test_bodies_and_uploads(self):
        server = self.scripts(ini=("upload_max_filesize=8M", "post_max_size=8M"))
        browser = Browser(server)
        self.assertEqual(browser.post("/post.php", {"a": "1", "b[]": "2"}).json()[0], {"a": "1", "b": ["2"]})
        body = os.urandom(3_000_000)
        answer = browser.request("POST", "/post.php", body, {"Content-Type": "application/octet-stream"}).json()
        self.assertEqual(answer[2:], [len(body), hashlib.md5(body).hexdigest()])
        target = self.root / "uploaded"
        fields, files = {"x": "y"}, [("f", "a.bin", "application/octet-stream", body)]
        told = browser.upload(f"/post.php?to={target}", fields, files).json()
        self.assertEqual(told[:2], [{"x": "y"}, {"f": ["a.bin", 0, len(body), True]}])
        self.assertEqual(target.read_bytes(), body)
        files = [("f", "a.bin", "application/octet-stream", body * 2)]
        self.assertEqual(browser.upload(f"/post.php?to={target}", fields, files).json()[1]["f"][:2], ["a.bin", 0])

    def test_a_file_that_is_too_large_for_php(self):
        server = self.scripts(ini=("upload_max_filesize=1M",))
        files = [("f", "a.bin", "text/plain", b"x" * 1_100_000)]
        told = Browser(server).upload("/post.php", {"x": "y"}, files).json()
        self.assertEqual(told[:2], [{"x": "y"}, {"f": ["a.bin", 1, 0, False]}])

    def test_a_session_goes_on(self):
        browser = Browser(self.scripts(ini=(f"session.save_path={self.enterContext(Folder())}",)))
        self.assertEqual([browser.get("/session.php").body for _ in range(3)], [b"1", b"2", b"3"])

    def test_the_ends_of_scripts(self):
        server = self.scripts(workers=1, ini=("display_errors=0",))
        pid = server.get("/pid.php").body
        self.assertEqual(server.get("/exit.php").body, b"abc")
        for path in ("/fatal.php", "/memory.php", "/time.php"):
            self.assertEqual(server.get(path).status, 500, path)
        for _ in range(3):
            self.assertEqual(server.get("/fresh.php").body, b"115")
        self.assertEqual(server.get("/pid.php").body, pid, "none of them ended the process")
        for text in ("Call to undefined function none()", "Allowed memory size", "Maximum execution time"):
            self.assertIn(text, server.said())

    def test_output_comes_when_it_is_flushed(self):
        server = self.scripts()
        gate = self.root / "gate"
        with server.connect() as client:
            client.send(f"GET /flush.php?gate={gate} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
            while b"first" not in client.buffer:
                client.more()
            gate.touch()
            self.assertIn(b"last", client.rest())

    def test_long_output_waits_for_its_reader(self):
        server = self.scripts(workers=1)
        self.assertEqual(hashlib.md5(server.get("/big.php").body).digest(), hashlib.md5(b"0123456789" * 2_000_000).digest())

    def test_the_answer_may_end_before_the_script(self):
        server = self.scripts(workers=1)
        gate, to = self.root / "gate", self.root / "to"
        self.assertEqual(server.get(f"/finish.php?gate={gate}&to={to}").body, b"answer")
        gate.touch()
        until("the script goes on", to.exists)
        until("it ends", lambda: to.read_text() == "once")
        self.assertEqual(server.get("/exit.php").body, b"abc")

    def test_a_client_that_leaves_is_noticed(self):
        server = self.scripts(workers=1)
        to = self.root / "gone"
        with server.connect() as client:
            client.send(f"GET /gone.php?to={to} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            until("it has begun", (self.root / "gone.begun").exists)
        until("the script notices", to.exists)
        self.assertEqual(server.get("/exit.php").body, b"abc")
        self.assertEqual(to.read_text(), "1")


class Folder:
    def __enter__(self):
        import tempfile

        self.folder = tempfile.TemporaryDirectory(prefix="apus-e2e-")
        return self.folder.name

    def __exit__(self, *_):
        self.folder.cleanup()


class Processes(Scripts):
    def test_a_crash_is_answered_502_and_no_other_request_notices(self):
        server = self.scripts(workers=2)
        gate = self.root / "gate"
        other = self.beside(lambda: server.get(f"/stand.php?gate={gate}"))
        self.begun("gate")
        self.assertEqual(server.get("/crash.php").status, 502)
        self.assertEqual(server.get("/exit.php").body, b"abc")
        gate.touch()
        self.assertEqual(other().status, 200)
        until("both are there again", lambda: self.states(server) == ["serving", "serving"])

    def states(self, server):
        return [worker["state"] for worker in server.status()["workers"] if worker["role"] == "script"]

    def test_a_script_that_is_silent_for_too_long_is_killed(self):
        server = self.scripts(workers=1, settings={"script_timeout": 0.3})
        self.assertEqual(server.get("/silent.php").status, 504)
        self.assertEqual(server.get("/exit.php").body, b"abc")
        self.assertIn("script_timeout", server.said())

    def test_a_slow_script_is_named_with_its_calls(self):
        server = self.scripts(workers=1, settings={"script_slow_time": 0.3})
        gate = self.root / "gate"
        answer = self.beside(lambda: server.get(f"/slow.php?gate={gate}"))
        file = f"{self.root}/slow.php"
        until("it is named", lambda: f"{{main}} {file}:13" in server.log())
        gate.touch()
        self.assertEqual(answer().body, b"done")
        told = server.log().split(f"{file} has been running for ")
        self.assertEqual(len(told), 2)
        calls = [line.split(" ", 1)[1] for line in told[1].splitlines() if line.startswith("#")]
        # The innermost may be any of the loop's.
        while calls[0].split("(")[0] in ("usleep", "clearstatcache", "file_exists"):
            calls.pop(0)
        self.assertRegex(calls.pop(0), rf"^Report::\{{closure.*\}}\(\) {file}:[5-7]$")
        self.assertEqual(calls, [f"array_map() {file}:4", f"Report::lines() {file}:4", f"{{main}} {file}:13"])

    def test_requests_wait_in_a_queue_that_has_an_end(self):
        server = self.scripts(workers=1, settings={"script_queue": 1})
        gate = self.root / "gate"
        first = self.beside(lambda: server.get(f"/stand.php?gate={gate}"))
        self.begun("gate")
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(server.get("/pid.php"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        until("those for which there is no place are refused", lambda: len(answers) == 2)
        gate.touch()
        self.assertEqual(first().status, 200)
        for thread in threads:
            thread.join(support.PATIENCE)
        self.assertEqual([answer.status for answer in answers], [503, 503, 200])
        self.assertEqual([answer.headers.get("retry-after") for answer in answers], ["30", "30", None])

    def test_a_request_does_not_wait_for_ever(self):
        server = self.scripts(workers=1, settings={"script_queue_timeout": 0.2})
        gate = self.root / "gate"
        first = self.beside(lambda: server.get(f"/stand.php?gate={gate}"))
        self.begun("gate")
        late = server.get("/pid.php")
        self.assertEqual((late.status, late.headers["retry-after"]), (503, "1"))
        gate.touch()
        self.assertEqual(first().status, 200)
        self.assertEqual(server.get("/pid.php").status, 200)

    def test_a_request_that_has_waited_for_too_long_is_not_begun(self):
        """Also where its front was held up itself: a process has nothing to do when it looks again."""
        server = self.scripts(workers=1, settings={"script_queue_timeout": 2, "worker_num": 1})
        gate = self.root / "gate"
        first = self.beside(lambda: server.get(f"/stand.php?gate={gate}"))
        self.begun("gate")
        late = self.beside(lambda: server.get("/pid.php"))
        scripts = lambda: server.status()["scripts"]  # noqa: E731
        until("it waits", lambda: scripts()["longest_wait"] > 0)
        front = next(worker["pid"] for worker in server.status()["workers"] if worker["role"] == "worker")
        os.kill(front, signal.SIGSTOP)
        gate.touch()
        until("the process has ended the first one", lambda: scripts()["running"] == [])
        until("the time is over", lambda: scripts()["longest_wait"] > 2000)
        os.kill(front, signal.SIGCONT)
        self.assertEqual(late().status, 503)
        self.assertEqual(first().status, 200)
        self.assertEqual(server.get("/pid.php").status, 200)

    def test_beyond_what_it_can_do_each_request_is_answered_or_refused(self):
        """Twice as many as there is room for: those that have a place are all answered, in their order, the others at
        once, and the server is as before afterwards."""
        settings = {"script_queue": 8, "script_processes_max": 0, "worker_num": 2}
        server = self.scripts(workers=2, settings=settings)
        gate = self.root / "gate"
        standing = [self.beside(lambda: server.get(f"/stand.php?gate={gate}")) for _ in range(2)]
        self.begun("gate", 2)
        answers = []
        ask = lambda: answers.append(server.get("/hello.php"))  # noqa: E731
        threads = [threading.Thread(target=ask, daemon=True) for _ in range(32)]
        for thread in threads:
            thread.start()
        # Each of both workers has a queue of 8; which connection comes to which is the kernel's choice.
        until("those without a place are refused", lambda: len(answers) >= 16)
        self.assertEqual({answer.status for answer in answers}, {503})
        waiting = server.status()["scripts"]
        self.assertEqual((waiting["busy"], waiting["idle"]), (2, 0))
        gate.touch()
        self.assertEqual({answer().status for answer in standing}, {200})
        for thread in threads:
            thread.join(support.PATIENCE)
        statuses = [answer.status for answer in answers]
        self.assertEqual((len(statuses), set(statuses)), (32, {200, 503}))
        self.assertLessEqual(statuses.count(200), 16)
        self.assertEqual({answer.body for answer in answers if answer.status == 200}, {b"fpm-fcgifpm-fcgi"})
        self.assertEqual({server.get("/hello.php").status for _ in range(20)}, {200})

    def test_a_client_that_leaves_the_queue_leaves_nothing(self):
        server = self.scripts(workers=1)
        gate = self.root / "gate"
        first = self.beside(lambda: server.get(f"/stand.php?gate={gate}"))
        self.begun("gate")
        with server.connect() as client:
            client.send(b"GET /pid.php HTTP/1.1\r\nHost: a\r\n\r\n")
        gate.touch()
        self.assertEqual(first().status, 200)
        for _ in range(3):
            self.assertEqual(server.get("/pid.php").status, 200)

    def test_processes_are_replaced_after_so_many_requests(self):
        server = self.scripts(workers=1, settings={"script_max_request": 5})
        pids = {server.get("/pid.php").body for _ in range(40)}
        until("another process", lambda: len(pids) > 1 or pids.add(server.get("/pid.php").body))

    def test_their_number_follows_the_requests(self):
        settings = {"script_processes_max": 4, "script_idle_timeout": 0.2}
        server = self.scripts(workers=1, settings=settings)
        gate = self.root / "gate"
        asked = [self.beside(lambda: server.get(f"/stand.php?gate={gate}")) for _ in range(4)]
        self.assertEqual(len(set(self.begun("gate", 4))), 4)
        scripts = server.status()["scripts"]
        self.assertEqual((scripts["busy"], scripts["idle"], len(scripts["running"])), (4, 0, 4))
        self.assertEqual({script["script"] for script in scripts["running"]}, {f"{self.root}/stand.php"})
        self.assertTrue(server.control("reload wait")["ok"], "with as many")
        gate.touch()
        self.assertEqual({answer().status for answer in asked}, {200})
        until("one is left", lambda: self.states(server) == ["serving"])
        self.assertEqual(server.get("/exit.php").body, b"abc")

    def test_a_reload_loses_no_request(self):
        server = self.scripts(workers=2)
        gate = self.root / "gate"
        old = self.beside(lambda: server.get(f"/stand.php?gate={gate}"))
        (pid,) = self.begun("gate")
        over, statuses = threading.Event(), []

        def ask():
            while not over.is_set():
                statuses.append(server.get("/hello.php").status)

        threads = [threading.Thread(target=ask, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            self.assertTrue(server.control("reload wait")["ok"])
        over.set()
        for thread in threads:
            thread.join(support.PATIENCE)
        self.assertEqual(set(statuses), {200})
        gate.touch()
        self.assertEqual((old().status, old().body), (200, str(pid).encode()))
        until("the old one leaves", lambda: not support.alive(pid))

    def test_a_front_that_dies_gives_its_processes_back(self):
        server = self.scripts(workers=1, settings={"worker_num": 1})
        gate = self.root / "gate"
        with server.connect() as client:
            client.send(f"GET /stand.php?gate={gate} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            (pid,) = self.begun("gate")
            (front,) = [worker["pid"] for worker in server.status()["workers"] if worker["role"] == "worker"]
            os.kill(front, signal.SIGKILL)
            until("another front", lambda: [w for w in server.status()["workers"] if w["role"] == "worker" and w["pid"] != front and w["state"] == "serving"])
            gate.touch()
        self.assertEqual(server.get("/pid.php").body, str(pid).encode())

    def front(self, server, but=0):
        """The process of the one worker; `but`: another one than this."""

        def found():
            workers = [worker for worker in server.status()["workers"] if worker["role"] == "worker"]
            return [w["pid"] for w in workers if w["state"] == "serving" and w["pid"] != but]

        until("a worker serves", found)
        return found()[0]

    def test_a_silent_script_whose_front_was_killed_is_ended_by_the_master(self):
        server = self.scripts(workers=1, settings={"script_timeout": 0.5})
        gate = self.root / "gate"
        with server.connect() as client:
            client.send(f"GET /endless.php?gate={gate} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            (pid,) = self.begun("gate")
            front = self.front(server)
            os.kill(front, signal.SIGKILL)
            until("the script ends", lambda: not support.alive(pid))
        self.front(server, but=front)
        self.assertEqual(server.get("/exit.php").body, b"abc")
        told = f"script process {pid} is killed by the master: {self.root}/endless.php has given nothing for "
        self.assertIn(told, server.said())

    def test_a_silent_script_whose_client_left_is_ended(self):
        server = self.scripts(workers=1, settings={"script_timeout": 0.5})
        gate = self.root / "gate"
        with server.connect() as client:
            client.send(f"GET /endless.php?gate={gate} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            (pid,) = self.begun("gate")
        until("the script ends", lambda: not support.alive(pid))
        self.assertEqual(server.get("/exit.php").body, b"abc")

    def test_many_requests_over_few_processes(self):
        server = self.scripts(workers=2, settings={"worker_num": 2})
        wrong = []

        def ask(number):
            with server.connect() as client:
                for at in range(50):
                    text = f"{number}x{at}"
                    if client.request("GET", f"/hello.php?n={text}").body != f"fpm-fcgifpm-fcgi{text}".encode():
                        wrong.append(text)

        threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(support.PATIENCE)
            self.assertFalse(thread.is_alive())
        self.assertEqual(wrong, [])

    def test_a_stop_ends_what_has_begun(self):
        server = self.scripts(workers=1)
        gate = self.root / "gate"
        last = self.beside(lambda: server.get(f"/stand.php?gate={gate}"))
        self.begun("gate")
        server.kill(signal.SIGTERM)
        until("it stops", lambda: "stopping" in server.said())
        gate.touch()
        self.assertEqual(last().status, 200)
        self.assertEqual(server.wait(), 0)
