"""The `apus` command against real servers."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

from support import PATIENCE, ROOT, Case, alive, command, module, php, until, written

HELLO = """<?php
$server = new Apus\\Http\\Server('127.0.0.1', 0);
$server->set(['worker_num' => 2]);
$server->on('start', fn ($server) => file_put_contents(__DIR__ . '/port', $server->port));
$server->on('request', fn ($request, $response) => $response->end('hello ' . getmypid()));
$server->start();
"""


class Commands(Case):
    """What tests of the command have: a directory with a script, and control sockets of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-command-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.script = self.folder / "server.php"
        self.script.write_text(HELLO)
        # Control sockets of its own, so that other tests' servers are not seen.
        self.runtime = self.folder / "runtime"
        self.runtime.mkdir(mode=0o700)

    def environment(self):
        return {**os.environ, "APUS_EXTENSION": module(), "APUS_PHP": php(), "XDG_RUNTIME_DIR": str(self.runtime)}

    def apus(self, *args, code=0, cwd=None):
        done = subprocess.run(
            [command(), *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE * 3,
            env=self.environment(),
            cwd=cwd or self.folder,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def start(self, *args, cwd=None, script="server.php"):
        out = self.apus("start", "-d", *args, script, cwd=cwd)
        pid = self.status()["pid"]
        self.addCleanup(lambda: alive(pid) and os.kill(pid, signal.SIGKILL))
        return out, pid

    def status(self):
        # As root the command sees the servers of all users, so the script names the one that is meant.
        return json.loads(self.apus("status", "--json", self.script))

    def get(self, path="/"):
        with urllib.request.urlopen(f"http://127.0.0.1:{(self.folder / 'port').read_text()}{path}", timeout=PATIENCE) as answer:
            return answer.read().decode()


class Command(Commands):
    def test_the_life_of_a_server(self):
        out, pid = self.start()
        self.assertIn("127.0.0.1:", out)
        old = {worker["pid"] for worker in self.status()["workers"]}
        self.assertRegex(self.get(), r"hello \d+")
        self.assertRegex(self.apus("status", "server.php"), r"(?i)worker")
        self.apus("reload", "server.php")

        def serving():
            return {worker["pid"] for worker in self.status()["workers"] if worker["state"] == "serving"}

        # Those who leave say so a moment after the new ones serve.
        new = until("the old ones leave", lambda: (now := serving()) and not now & old and now)
        self.assertEqual(len(new), 2)
        self.assertRegex(self.get(), r"hello \d+")
        self.apus("stop", "server.php")
        self.assertFalse(alive(pid))
        self.apus("status", "server.php", code=3)
        self.apus("stop", "server.php", code=3)

    def test_without_a_name_the_server_of_the_directory_is_meant(self):
        # As another user's would be: neither started here nor with a script here.
        elsewhere, started = self.folder / "elsewhere", self.folder / "started"
        for folder in (elsewhere, started):
            folder.mkdir()
        (elsewhere / "server.php").write_text(HELLO)
        (elsewhere / "other.php").write_text(HELLO)
        pids = {}
        for script, cwd in ((self.script, started), (elsewhere / "server.php", elsewhere)):
            self.apus("start", "-d", "--log", self.folder / "log", script, cwd=cwd)
            pids[script] = pid = json.loads(self.apus("status", "--json", script))["pid"]
            self.addCleanup(lambda pid=pid: alive(pid) and os.kill(pid, signal.SIGKILL))
        # By the script's directory, by the one where it was started, and by either.
        for cwd, script in ((self.folder, self.script), (started, self.script), (elsewhere, elsewhere / "server.php")):
            self.assertEqual(json.loads(self.apus("status", "--json", cwd=cwd))["pid"], pids[script])
        self.apus("reload", cwd=elsewhere)
        self.assertIn("several servers are running", self.apus("stop", cwd="/", code=4))
        # Two of one directory: neither is meant.
        self.apus("start", "-d", "--log", self.folder / "log", "other.php", cwd=elsewhere)
        other = json.loads(self.apus("status", "--json", elsewhere / "other.php"))["pid"]
        self.addCleanup(lambda: alive(other) and os.kill(other, signal.SIGKILL))
        self.apus("stop", cwd=elsewhere, code=4)
        self.apus("stop", "--pid", other)
        self.apus("stop", cwd=elsewhere)
        self.assertEqual([alive(pid) for pid in pids.values()], [True, False])
        self.apus("stop", cwd=self.folder)
        self.assertFalse(alive(pids[self.script]))

    def test_pid_and_pid_file(self):
        self.script.write_text(HELLO.replace("'worker_num'", "'pid_file' => __DIR__ . '/pid', 'worker_num'"))
        _, pid = self.start()
        self.assertEqual(json.loads(self.apus("status", "--json", "--pid", pid))["pid"], pid)
        self.assertEqual(json.loads(self.apus("status", "--json", "--pid-file", "pid"))["pid"], pid)
        self.apus("reload", "--pid-file", "pid")
        self.apus("stop", "--pid", pid, "--now")
        self.assertFalse(alive(pid))

    def test_run_stays_in_the_foreground_and_ends_by_int(self):
        process = subprocess.Popen(
            [command(), "run", "server.php"],
            env=self.environment(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.addCleanup(lambda: process.poll() is None and process.kill())
        written("it serves", self.folder / "port")
        self.assertRegex(self.get(), r"hello \d+")
        # It is the master itself: no process in between.
        self.assertEqual(self.status()["pid"], process.pid)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertFalse(alive(process.pid))

    def test_run_switches_opcache_on_and_passes_arguments(self):
        self.script.write_text(HELLO.replace("'hello ' . getmypid()", "json_encode([(bool) opcache_get_status(false)['opcache_enabled'], $GLOBALS['argv'][1] ?? null, ini_get('memory_limit')])"))
        process = subprocess.Popen(
            [command(), "run", "-i", "memory_limit=77M", "server.php", "--an-argument"],
            env=self.environment(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.addCleanup(lambda: process.poll() is None and process.kill())
        written("it serves", self.folder / "port")
        self.assertEqual(json.loads(self.get()), [True, "--an-argument", "77M"])
        process.terminate()
        process.communicate(timeout=PATIENCE)

    def test_a_script_that_fails_makes_start_fail(self):
        self.script.write_text("<?php throw new Exception('no server today');")
        self.assertIn("no server today", self.apus("start", "-d", "server.php", code=1) + "".join(p.read_text() for p in self.folder.glob("*.log")))

    def test_a_missing_script(self):
        self.assertIn("nothing.php", self.apus("run", "nothing.php", code=1))

    def test_doctor(self):
        out = subprocess.run(
            [command(), "doctor", "--json", "--connections", "100"],
            stdout=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            env=self.environment(),
        )
        report = json.loads(out.stdout)
        self.assertIn(out.returncode, (0, 1))
        text = json.dumps(report)
        for word in ("ulimit -n", "somaxconn", "TIME-WAIT", "opcache"):
            self.assertIn(word, text)

    def test_new_makes_a_project_that_serves(self):
        self.apus("new", "shop")
        shop = self.folder / "shop"
        self.assertTrue((shop / "server.php").exists())
        for script in shop.rglob("*.php"):
            subprocess.run([php(), "-n", "-l", str(script)], check=True, stdout=subprocess.DEVNULL)
        text = (shop / "server.php").read_text()
        self.assertIn("getenv('PORT')", text)
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [command(), "run", "server.php"],
            env={**self.environment(), "PORT": "0", "APUS_READY_FD": str(writer)},
            pass_fds=(writer,),
            cwd=shop,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.addCleanup(lambda: process.poll() is None and process.kill())
        os.close(writer)
        with open(reader) as ready:
            address = json.loads(ready.readline())["listen"][0]
        with urllib.request.urlopen(f"http://{address.replace('0.0.0.0', '127.0.0.1')}/", timeout=PATIENCE) as answer:
            self.assertEqual(answer.status, 200)
            self.assertTrue(answer.read())
        # What the image asks says so while the server runs, and when it does not.
        health = json.loads(re.search(r"HEALTHCHECK [^\[]* CMD (\[.*\])", (shop / "Dockerfile").read_text())[1])
        health[0] = php()
        environment = {**os.environ, "PORT": address.rsplit(":", 1)[1]}
        self.assertEqual(subprocess.run(health, env=environment, timeout=PATIENCE).returncode, 0)
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(subprocess.run(health, env=environment, timeout=PATIENCE).returncode, 1)
        self.apus("new", "shop", code=1)

    def test_version_and_help(self):
        self.assertRegex(self.apus("--version"), r"\d+\.\d+\.\d+")
        for name in ("run", "start", "stop", "reload", "status", "doctor", "new"):
            self.assertIn(name, self.apus("--help"))
            self.assertIn("Examples", self.apus(name, "--help"))
        self.apus("dance", code=2)


class Examples(Case):
    """Each example of the repository starts and answers."""

    def run_example(self, name, *args):
        return self.serve(script=f"<?php $argv = ['server.php', '0', {', '.join(map(json.dumps, args))}]; require {json.dumps(str(ROOT / 'examples' / name / 'server.php'))};")

    def test_hello(self):
        self.assertEqual(self.run_example("hello").get("/?name=swift").body, b"Hello, swift\n")

    def test_coroutines(self):
        answer = self.run_example("coroutines").get().json()
        self.assertLess(answer["seconds"], 0.3)
        self.assertEqual(answer["user"], "user after 0.1 s")

    def test_static_file(self):
        server = self.run_example("static-file")
        self.assertIn(b"<", server.get("/").body)
        self.assertEqual(server.get("/..%2f..%2fhello/server.php").status, 404)
        self.assertEqual(server.get("/nothing").status, 404)

    def test_stream_upload(self):
        with self.run_example("stream-upload").connect() as client:
            self.assertEqual(client.request("PUT", "/", body=b"x" * 100_000).json()["bytes"], 100_000)

    def test_sse(self):
        server = self.run_example("sse")
        with server.connect() as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 6\r\n\r\n")
            _, _, fields = client.head()
            self.assertEqual(fields["content-type"], "text/event-stream")
            self.assertTrue(client.exactly(int(client.line(), 16)).startswith(b"id: 7\ndata: {"))
