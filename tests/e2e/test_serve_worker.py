"""Scripts that stay: an application boots once in a process and answers one request after the other."""

import json
import os
import pathlib
import subprocess
import tempfile

from support import PATIENCE, ROOT, Case, Server, Site, module, php, php_array, until

APPLICATION = r"""<?php
$booted = microtime(true);
if (($_SERVER['APUS_WORKER'] ?? '') !== '1' || ($_SERVER['FRANKENPHP_WORKER'] ?? '') !== '1') {
    exit(1);
}
echo 'this goes nowhere';
header('X-Of-The-Boot: 1');
$count = 0;
function answer(string $what): void {
    switch ($what) {
        case 'exit':
            ob_start();
            echo 'bye';
            exit(3);
        case 'throw':
            throw new RuntimeException('of a request');
        case 'bail':
            http_response_code(500);
            trigger_error('the end', E_USER_ERROR);
        case 'session':
            session_start();
            $_SESSION['count'] = ($_SESSION['count'] ?? 0) + 1;
            echo json_encode([session_id(), $_SESSION['count']]);
            return;
        case 'left':
            echo json_encode([isset($_SESSION), session_id(), ob_get_level(), headers_list(), error_get_last()]);
            return;
        case 'input':
            $GLOBALS['kept'] ??= fopen('php://input', 'r');
            echo is_resource($GLOBALS['kept']) ? stream_get_contents($GLOBALS['kept']) : 'closed';
            return;
        case 'long':
            while (true);
        case 'own':
            set_time_limit(1);
            echo 'set';
            return;
        case 'second':
            for ($begin = getrusage()['ru_utime.tv_sec']; getrusage()['ru_utime.tv_sec'] < $begin + 2;);
            echo 'done';
            return;
        case 'nested':
            try {
                Apus\handle_request(fn () => null);
            } catch (Throwable $error) {
                echo $error::class, ': ', $error->getMessage();
            }
            return;
        case 'finish':
            echo 'first';
            echo fastcgi_finish_request() ? '' : 'no';
            echo 'second';
            file_put_contents($_GET['file'], 'went on');
            return;
    }
    header('X-Kind: answer');
    setcookie('seen', 'yes');
    http_response_code(201);
    $files = array_map(fn ($file) => [$file['name'], file_get_contents($file['tmp_name'])], $_FILES);
    echo json_encode([
        'get' => $_GET, 'post' => $_POST, 'cookie' => $_COOKIE, 'request' => $_REQUEST, 'files' => $files,
        'input' => file_get_contents('php://input'), 'method' => $_SERVER['REQUEST_METHOD'], 'uri' => $_SERVER['REQUEST_URI'],
        'script' => $_SERVER['SCRIPT_NAME'], 'user' => $_SERVER['PHP_AUTH_USER'] ?? null,
        'env' => isset($_SERVER['APUS_WORKER']), 'pid' => getmypid(), 'count' => $GLOBALS['count'], 'booted' => $GLOBALS['booted'],
        'filtered' => filter_input(INPUT_GET, 'x'),
    ]);
}
while (Apus\handle_request(function () use (&$count) { $count++; answer(trim(strtok($_SERVER['REQUEST_URI'], '?'), '/')); })) {
    echo 'this, too';
}
"""


class Staying(Case):
    def start(self, script=APPLICATION, ini=(), workers=1, **settings):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-worker-"))).resolve()
        (root / "worker.php").write_text(script)
        (root / "style.css").write_text("a {}")
        ini = ["display_errors=0", "log_errors=1", "html_errors=0", "request_order=GPC", "output_buffering=0", f"session.save_path={root}", *ini]
        settings = {"script_worker": str(root / "worker.php"), **settings}
        return self.enterContext(Site(root, workers=workers, settings=settings, ini=ini))

    def ask(self, server, method="GET", path="/", **options):
        with server.connect() as client:
            return client.request(method, path, close=True, **options)

    def test_each_request_is_fresh_and_the_application_stays(self):
        server = self.start()
        form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": "k=v", "Authorization": "Basic dTpw"}
        first = self.ask(server, "POST", "/a?x=1", body=b"p=2", headers=form)
        self.assertEqual((first.status, first.headers["x-kind"]), (201, "answer"))
        self.assertNotIn("x-of-the-boot", first.headers)
        told = json.loads(first.body)
        self.assertEqual((told["get"], told["post"], told["cookie"], told["input"]), ({"x": "1"}, {"p": "2"}, {"k": "v"}, "p=2"))
        self.assertEqual((told["request"], told["script"]), ({"x": "1", "p": "2", "k": "v"}, "/worker.php"))
        self.assertEqual((told["user"], told["filtered"], told["env"], told["count"]), ("u", "1", False, 1))
        upload = b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nabc\r\n--b--\r\n'
        second = json.loads(self.ask(server, "POST", "/b", body=upload, headers={"Content-Type": "multipart/form-data; boundary=b"}).body)
        self.assertEqual((second["files"], second["post"], second["get"], second["cookie"]), ({"f": ["a.txt", "abc"]}, [], [], []))
        third = json.loads(self.ask(server, path="/c").body)
        self.assertEqual((third["files"], third["user"], third["filtered"], third["request"]), ([], None, None, []))
        self.assertEqual((third["pid"], third["booted"], third["count"]), (told["pid"], told["booted"], 3))
        self.assertEqual(self.ask(server, path="/style.css").body, b"a {}")

    def test_sessions_and_output_of_one_request_are_not_the_next_ones(self):
        server = self.start()
        cookies = []
        for number in (1, 2):
            answer = self.ask(server, path="/session", headers={"Cookie": "; ".join(cookies)} if cookies else {})
            session, count = json.loads(answer.body)
            self.assertEqual(count, number)
            cookies = [f"PHPSESSID={session}"]
        other, count = json.loads(self.ask(server, path="/session").body)
        self.assertEqual((count, other == session), (1, False))
        self.assertEqual(self.ask(server, path="/exit").body, b"bye")
        has, identity, level, lines, error = json.loads(self.ask(server, path="/left").body)
        self.assertEqual((has, identity, level, error), (False, "", 0, None))
        self.assertEqual([line for line in lines if not line.startswith("X-Powered-By")], [])

    def test_an_exception_ends_a_request_and_a_fatal_error_the_process(self):
        server = self.start()
        before = json.loads(self.ask(server).body)["pid"]
        for _ in range(3):
            self.assertEqual(self.ask(server, path="/throw").status, 500)
        self.assertEqual(json.loads(self.ask(server).body)["pid"], before)
        self.assertEqual(self.ask(server, path="/bail").status, 500)
        self.assertNotEqual(json.loads(self.ask(server).body)["pid"], before)
        self.assertIn("Uncaught RuntimeException: of a request", server.said())

    def test_each_request_has_the_time_of_its_own(self):
        server = self.start(ini=("max_execution_time=1", "max_input_time=60"))
        for _ in range(20):
            self.assertEqual(self.ask(server).status, 201)
        # Where there is a body, the limit is another one while that comes.
        for method in ("GET", "POST"):
            body = {"body": b"abc", "headers": {"Content-Type": "text/plain"}} if method == "POST" else {}
            self.assertEqual(self.ask(server, method, "/long", **body).status, 500)
        self.assertEqual(server.said().count("Maximum execution time of 1 second exceeded"), 2)

    def test_a_limit_that_a_request_gave_itself_goes_with_it(self):
        server = self.start(ini=("max_execution_time=30",))
        for path, said in (("/own", b"set"), ("/second", b"done")):
            self.assertEqual(self.ask(server, path=path).body, said)

    def test_a_body_that_is_kept_open_is_closed_with_its_request(self):
        server = self.start()
        self.assertEqual(self.ask(server, "POST", "/input", body=b"abc", headers={"Content-Type": "text/plain"}).body, b"abc")
        for _ in range(3):
            answer = self.ask(server, "POST", "/input", body=b"def" * 10_000, headers={"Content-Type": "text/plain"})
            self.assertEqual(answer.body, b"closed")

    def test_what_the_call_does_where_it_makes_no_sense(self):
        server = self.start()
        self.assertIn(b"while a request is served", self.ask(server, path="/nested").body)
        self.assertEqual(self.ask(server).status, 201)
        with self.assertRaisesRegex(AssertionError, "has to lie below the document root"):
            self.start(script_worker="/nowhere/worker.php")
        plain = self.enterContext(Server("try { Apus\\handle_request(fn () => 1); } catch (Throwable $e) { $response->end($e->getMessage()); }"))
        self.assertIn(b"script_worker", plain.get().body)

    def test_the_client_does_not_wait_for_what_follows_the_answer(self):
        server = self.start(script="""<?php
            while (Apus\\handle_request(function () { echo getmypid(); })) {
                for ($end = microtime(true) + 20; !file_exists($_SERVER['DOCUMENT_ROOT'] . '/go') && microtime(true) < $end;) {
                    usleep(1000);
                }
            }""", workers=2)
        pids = {self.ask(server).body for _ in range(2)}
        # Neither took the other's request while it was busy behind its answer.
        self.assertEqual(len(pids), 2)

    def test_processes_are_replaced_by_requests_and_reload(self):
        server = self.start(script_max_request=5)
        pids = set()

        def several():
            pids.add(json.loads(self.ask(server).body)["pid"])
            return len(pids) > 2

        until("processes are replaced", several)
        before = json.loads(self.ask(server).body)["pid"]
        self.assertTrue(server.control("reload wait")["ok"])
        until("a fresh process answers", lambda: json.loads(self.ask(server).body)["pid"] not in {before, *pids})

    def test_a_script_may_end_after_some_requests(self):
        server = self.start(script="""<?php
            for ($left = 3; $left > 0 && Apus\\handle_request(function () { echo getmypid(); }); $left--) {
            }""")
        pids = [self.ask(server).body for _ in range(30)]
        self.assertEqual([pids.count(pid) for pid in dict.fromkeys(pids)], [3] * 10)
        self.assertNotIn("exited with", server.log())

    def test_a_script_that_asks_for_nothing_is_named(self):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        (root / "worker.php").write_text("<?php echo 'done';")
        settings = {"script_processes": 1, "document_root": str(root), "script_worker": str(root / "worker.php"), "worker_num": 1}
        script = root / "server.php"
        script.write_text(f"<?php $server = new Apus\\Http\\Server('127.0.0.1', 0); $server->set({php_array(settings)}); $server->start();")
        line = [php(), "-n", "-d", f"extension={module()}", "-d", "apus.serve=1", str(script)]
        master = subprocess.Popen(line, stderr=subprocess.PIPE)
        said = b""
        while b"handle_request()" not in said and (more := os.read(master.stderr.fileno(), 65536)):
            said += more
        master.terminate()
        master.communicate(timeout=PATIENCE)
        self.assertIn(f"{root}/worker.php ended before it called Apus\\handle_request()", said.decode())

    def test_the_documents_own_script_by_the_command(self):
        page = (ROOT / "docs/serve.md").read_text()
        block = page.split("```php\n<?php // public/worker.php\n")[1].split("```")[0]
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        (root / "worker.php").write_text("<?php\n" + block)
        server = self.enterContext(Site(root, "--worker", str(root / "worker.php")))
        answer = self.ask(server, path="/greet?name=you")
        self.assertEqual((answer.headers["content-type"], answer.json()), ("application/json", {"hello": "you"}))
