"""Mistakes of beginners that would else pass in silence: the log names them, once a second, with their place."""

import re
import socket
import subprocess

from support import PATIENCE, Case, command, until
from test_command import Commands


class Handlers(Case):
    def told(self, server, pattern, code=""):
        """Waits for a line of the log; the line of the script that it names holds this code."""
        found = until(f"the log says {pattern}", lambda: re.search(pattern, server.log()))
        if code:
            self.assertIn(code, server.script.read_text().splitlines()[int(found[1]) - 1])

    def test_a_handler_that_ends_without_an_answer(self):
        for body in ("return 'hello';", "if ($request) { exit; }", "$kept = null;"):
            with self.serve(body) as server:
                self.assertEqual(server.get().status, 500)
                self.told(server, r"ended without Response::end\(\).*server\.php:(\d+)\)", "$server->on('request'")

    def test_a_route_that_ends_without_an_answer(self):
        with self.serve(script="""<?php
$server = new Apus\\Http\\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1]);
$router = new Apus\\Http\\Router();
$router->use(fn ($request, $response, $next) => $next($request, $response));
$router->get('/{name}', function () {
    return 'hello';
});
$server->on('request', $router);
$server->start();
""") as server:
            self.assertEqual(server.get("/x").status, 500)
            until("the log says it", lambda: re.search(r"ended without Response::end\(\).*server\.php:6\)", server.said()))

    def test_an_exception_is_told_once_and_by_itself(self):
        with self.serve("throw new Exception('broken');") as server:
            self.assertEqual(server.get().status, 500)
            self.told(server, "broken")
            self.assertNotIn("without Response::end()", server.log())

    def test_an_answer_from_elsewhere_is_none(self):
        with self.serve("Apus\\Timer::after(20, fn () => $response->end('late'));") as server:
            self.assertEqual(server.get().body, b"late")
            self.assertNotIn("without Response::end()", server.log())

    def test_once_a_second(self):
        with self.serve("") as server:
            begin = server.log().count("without Response::end()")
            for _ in range(50):
                server.get()
            server.stop()
            # Counted with its sum, as one a second; 50 requests do not take a minute.
            lines = [line for line in server.log().splitlines() if "without Response::end()" in line]
            self.assertLess(len(lines) - begin, 50)
            self.assertRegex(server.log(), r"more within a second: requests whose handler ended without an answer")

    def test_printing(self):
        with self.serve("echo 'lost'; $response->end('ok');") as server:
            self.assertEqual(server.get().body, b"ok")
            self.told(server, r"standard output, not to the client.*server\.php\((\d+)\)\)", "echo 'lost'")

    def test_printing_elsewhere_is_none(self):
        with self.serve("$response->end('ok');", before="$server->on('workerstart', function () { echo 'started'; });") as server:
            server.get()
            server.stop()
            self.assertNotIn("not to the client", server.log())

    def test_heads_that_nobody_sends(self):
        for call, instead in (("header('X-A: b')", r"\$response->header\(\)"), ("setcookie('a', 'b')", r"\$response->cookie\(\)"), ("setrawcookie('a', 'b')", r"\$response->rawcookie\(\)"), ("http_response_code(404)", r"\$response->status\(\)")):
            with self.serve(f"{call}; $response->end('x');") as server:
                self.assertEqual(server.get().status, 200)
                name = call.split("(")[0]
                self.told(server, rf"{name}\(\) does not change the answer to a request: call {instead} .*server\.php\((\d+)\)\)", call)

    def test_superglobals_of_no_request(self):
        reads = {
            "$_GET['a'] ?? 1": r"\$_GET does not hold this request: read \$request->get,",
            "count($_POST)": r"\$_POST .* read \$request->post,",
            "isset($_COOKIE['a'])": r"\$_COOKIE .* read \$request->cookie,",
            "empty($_FILES['a'])": r"\$_FILES .* read \$request->files,",
            "$_REQUEST['a'] ?? 1": r"\$_REQUEST .* read \$request->get and \$request->post,",
            "$_SERVER['REQUEST_METHOD'] ?? 1": r"\$_SERVER .* read \$request->server and \$request->header,",
        }
        for read, said in reads.items():
            # Compiled to machine code it is not noticed.
            with self.serve(f"$value = {read}; $response->end('x');", jit=False) as server:
                server.get("/?a=2")
                self.told(server, rf"{said} or switch the setting superglobals on \(.*server\.php\((\d+)\)\)", read)

    def test_superglobals_that_are_right(self):
        reads = "$value = [$_SERVER['argv'] ?? 1, $_SERVER['HOME'] ?? 1, $_ENV['A'] ?? 1, $_SERVER['REQUEST_TIME']];"
        with self.serve(reads + "$response->end('x');", before="$server->on('workerstart', fn () => $_GET['a'] ?? 1);") as server:
            server.get()
            server.stop()
            self.assertNotIn("does not hold this request", server.log())
        with self.serve("$response->end($_GET['a'] . $_SERVER['REQUEST_METHOD']);", settings={"superglobals": True}) as server:
            self.assertEqual(server.get("/?a=b").body, b"bGET")
            server.stop()
            self.assertNotIn("does not hold this request", server.log())

    def test_superglobals_written_for_all(self):
        # The first waits inside until the second has come; both write what both read.
        handler = """
            static $first = null;
            if ($path === '/alone') {
                $_SERVER['alone'] = 1;
            } elseif ($first === null) {
                $first = Coroutine::getCid();
                $response->write('waits');
                Coroutine::yield();
            } else {
                $_SERVER['user'] = $path;
                $_GET['user'] = $path;
                Coroutine::resume($first);
            }
            $response->end('x');
        """
        # Compiled to machine code it is not noticed.
        with self.serve(handler, jit=False) as server:
            server.get("/alone")
            with server.connect() as first, server.connect() as second:
                first.send(b"GET /one HTTP/1.1\r\nHost: test\r\n\r\n")
                first.head()
                self.assertEqual(second.request("GET", "/two").status, 200)
                self.assertEqual(first.chunks()[0], b"waitsx")
            self.told(server, r"\$_SERVER is written while another request .*server\.php:?\(?(\d+)\)", "'user'")
            # Once is enough.
            self.assertEqual(server.log().count("is written while"), 1)
        with self.serve(handler, settings={"superglobals": True}, jit=False) as server:
            with server.connect() as first, server.connect() as second:
                first.send(b"GET /one HTTP/1.1\r\nHost: test\r\n\r\n")
                first.head()
                second.request("GET", "/two")
                first.chunks()
            self.assertNotIn("is written while", server.log())

    def test_the_input_of_no_request(self):
        for read in ("file_get_contents('php://input')", "fopen('PHP://Input', 'r')"):
            with self.serve(f"$value = {read}; $response->end('x');") as server:
                server.get()
                self.told(server, r"php://input is not the body of this request: call \$request->getContent\(\).*server\.php\((\d+)\)\)", read)

    def test_properties_that_set_nothing(self):
        with self.serve("$response->mine = 1; @$response->status = 404; $response->end('x');", ini=("error_reporting=8191",)) as server:
            self.assertEqual(server.get().status, 200)
            self.told(server, r"\$response->status = … does not change the answer: call \$response->status\(\).*server\.php\((\d+)\)\)", "status = 404")
            self.assertNotIn("mine", server.log())

    def test_a_function_that_was_not_imported(self):
        with self.serve("try { namespaced\\go(fn () => 1); } catch (Error $error) { $response->end($error->getMessage()); }") as server:
            self.assertEqual(server.get().body, b'Call to undefined function namespaced\\go(): import it with "use function Apus\\go;"')
        with self.serve("Batch([]);") as server:
            server.get()
            self.told(server, r'undefined function Batch\(\): import it with "use function Apus\\Coroutine\\batch;"')
        with self.serve("nowhere();") as server:
            server.get()
            self.told(server, r"undefined function nowhere\(\) in")

    def test_an_error_that_php_displays_is_not_printing(self):
        with self.serve("$value = $unknown; $response->end('x');", ini=("display_errors=1", "error_reporting=32767")) as server:
            server.get()
            server.stop()
            self.assertIn("Warning: Undefined variable $unknown", server.said())
            self.assertNotIn("not to the client", server.said())

    def test_ending_twice(self):
        with self.serve("$response->end('one'); $response->end('two');") as server:
            self.assertEqual(server.get().body, b"one")
            self.told(server, r"end\(\) is called, but the answer has ended before.*server\.php\((\d+)\)\)", "end('two')")

    def test_a_status_that_means_nothing(self):
        with self.serve("$response->status(999); $response->end('x');") as server:
            self.assertEqual(server.get().status, 999)
            self.told(server, r"status 999 lies outside.*server\.php\((\d+)\)\)", "status(999)")

    def test_a_table_made_in_a_worker(self):
        with self.serve("$t = new Apus\\Table(8); $t->column('n', Apus\\Table::TYPE_INT); $t->create(); $response->end('x');") as server:
            server.get()
            self.told(server, r"table made in a worker.*server\.php\((\d+)\)\)", "create()")

    def test_https_at_a_plain_port(self):
        with self.serve() as server:
            with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
                client.sendall(bytes.fromhex("160301020001000001fc0303") + bytes(64))
                client.recv(100)
            self.told(server, "it speaks TLS, and this port does not")

    def test_a_missing_upload_tmp_dir_at_the_start(self):
        with self.serve(settings={"upload_tmp_dir": "/nowhere/at/all"}) as server:
            self.assertRegex(server.said(), "upload_tmp_dir /nowhere/at/all is no directory")

    def test_a_callback_of_tasks_for_objects(self):
        with self.serve(settings={"task_worker_num": 1}, before="$server->on('task', function ($server, $task) { });") as server:
            self.assertRegex(server.said(), r"gets \(\$server, \$taskId, \$srcWorkerId, \$data\).*task_use_object.*server\.php:\d+\)")
        with self.serve(settings={"task_worker_num": 1, "task_use_object": True}, before="$server->on('task', function ($server, $task) { });") as server:
            self.assertNotIn("task_use_object", server.said())


class Scripts(Commands):
    """What the command and the module say of scripts."""

    def run_script(self, code, text, *args):
        self.script.write_text(text)
        return self.apus("run", *args, "server.php", code=code)

    def test_a_server_that_is_never_started(self):
        said = self.run_script(0, "<?php $server = new Apus\\Http\\Server('127.0.0.1', 0);")
        self.assertRegex(said, r"made at 127\.0\.0\.1:\d+, and start\(\) was never called")

    def test_a_script_that_fails_first_says_only_that(self):
        said = self.run_script(255, "<?php $server = new Apus\\Http\\Server('127.0.0.1', 0); throw new Exception('first');")
        self.assertIn("first", said)
        self.assertNotIn("never called", said)

    STOPPED = """<?php
$server = new Apus\\Http\\Server('127.0.0.1', 0);
$server->on('request', fn ($request, $response) => $response->end('x'));
$server->on('start', fn ($server) => $server->shutdown());
"""

    def test_start_twice(self):
        self.assertIn("start() was called already, and this server has stopped", self.run_script(255, self.STOPPED + "$server->start();\n$server->start();"))

    def test_two_servers_in_a_script(self):
        said = self.run_script(0, self.STOPPED + "$other = new Apus\\Http\\Server('127.0.0.1', 0);\n$server->start();")
        self.assertRegex(said, r"another server, at 127\.0\.0\.1:\d+, which is not served.*listen\(\) \(.*server\.php\(6\)\)")

    def test_in_a_server_of_a_coroutine(self):
        said = self.run_script(0, """<?php
Apus\\Coroutine\\run(function () {
    $server = new Apus\\Coroutine\\Http\\Server('127.0.0.1', 0);
    $server->handle('/', function ($request, $response) {
        header('X-A: b');
        echo 'lost';
    });
    Apus\\go(fn () => $server->start());
    $client = new Apus\\Coroutine\\Http\\Client('127.0.0.1', $server->port);
    $client->get('/');
    $server->shutdown();
});
""")
        self.assertRegex(said, r"ended without Response::end\(\).*server\.php:4\)")
        # Printing is a script's own affair.
        self.assertNotIn("standard output", said)
        self.assertRegex(said, r"header\(\) does not change.*server\.php\(5\)\)")

    def test_a_php_that_is_none(self):
        self.assertIn("/bin/true: is no php", self.apus("run", "--php", "/bin/true", "server.php", code=5))

    def test_start_gives_up_on_a_worker_that_cannot_start(self):
        self.script.write_text("<?php $s = new Apus\\Http\\Server('127.0.0.1', 0); $s->set(['worker_num' => 3]);\n$s->on('workerstart', fn () => throw new Exception('no database'));\n$s->on('request', fn ($q, $r) => 0);\n$s->start();")
        # Far more than three deaths need: who waits for the time-out shows it.
        said = self.apus("start", "-d", "--timeout", "600", "server.php", code=1)
        self.assertRegex(said, r"did not start: worker \d+ \(\d+\) exited with code 255")
        self.assertEqual(said.count("uncaught Exception: no database"), 1, said)

    def test_a_pool_whose_workers_return(self):
        log = self.folder / "starts"
        self.script.write_text(f"<?php $p = new Apus\\Process\\Pool(1);\n$p->on('workerstart', fn () => file_put_contents('{log}', '.', FILE_APPEND));\n$p->start();")
        process = subprocess.Popen(
            [command(), "run", "server.php"],
            env=self.environment(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        self.assertRegex(line, r"worker 0 of the pool \(\d+\) has returned after .* next start in 400 ms")
        # Three starts, and not hundreds, until it is told.
        self.assertEqual(log.read_text(), "...")
        process.terminate()
        process.communicate(timeout=PATIENCE)
