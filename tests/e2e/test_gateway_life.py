"""How examples/gateway starts, lives, and survives; push-minimal and websocket-chat, too."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import support
from gateway import FOLDER, GatewayCase, WebSocket
from support import PATIENCE, ROOT, command, module, needs, php, until

sys.path.insert(0, str(support.HERE.parent))
from lib import servers  # noqa: E402


class Living(GatewayCase):
    def test_dead_connections_are_noticed(self):
        server = self.gateway(ping_interval=1, ping_timeout=1)
        dead, alive = self.browser(server), self.browser(server, "/?user=alive")
        # Frames that nobody reads are never answered; who reads them lives on.
        def one_left():
            if not alive.quiet():
                opcode, payload = alive.hear_frame()
                alive.frame(10, payload)
            return self.stats(server)["connections"] == 1

        until("the dead one is gone", one_left)
        self.assertEqual(self.lines(server).ask(user="alive", queue=False, message=1)["delivered"], 1)
        self.assertEqual(self.lines(server).ask(user="tester01", queue=False)["delivered"], 0)
        dead.close()

    def test_a_browser_that_does_not_read_holds_up_nobody(self):
        server = self.gateway(send_buffer=65536)
        slow, quick = self.browser(server), self.browser(server)
        lines = self.lines(server)
        message = "x" * 60_000
        for n in range(1000):
            answer = lines.ask(user="tester01", queue=False, n=n, message=message)
            self.assertEqual(quick.hear()["n"], n)
            if answer["delivered"] == 1:
                break
        self.assertEqual(answer, {"ok": True, "delivered": 1})
        until("it is closed", lambda: self.stats(server)["connections"] == 1)
        slow.close()

    def test_two_gateways_with_a_broker(self):
        needs("redis-server")
        redis = self.enterContext(servers.Redis())
        one, two = (self.gateway(broker=f"redis://127.0.0.1:{redis.port}") for _ in range(2))
        lines = self.lines(one)
        browsers = [self.browser(one), self.browser(two, "/?user=tester01&topics=news")]
        until("both are reached", lambda: lines.ask(user="tester01", queue=False, message="probe")["delivered"] == 2)
        self.assertEqual(lines.ask(user="tester01", message=1)["delivered"], 2)
        lines.ask(topic="news", message=2)
        lines.ask(all=True, message=3)
        for browser, expected in zip(browsers, ([1, 3], [1, 2, 3])):
            heard = []
            while len(heard) < len(expected):
                message = browser.hear()
                message["message"] == "probe" or heard.append(message["message"])
            self.assertEqual(sorted(heard), expected)

    def test_a_killed_worker_takes_only_its_own_connections(self):
        server = self.gateway(workers=2)
        lines = self.lines(server)
        victim, other = server.workers()
        browsers = [self.browser(server, f"/?user=u{n}") for n in range(12)]
        os.kill(victim, signal.SIGKILL)
        until("the worker is replaced", lambda: victim not in server.workers() and len(server.workers()) == 2)
        # Whose connection is gone comes back, as browsers do.
        def connected():
            try:
                return None not in self.stats(server)["workers"]
            except (OSError, EOFError):
                return False

        until("it answers", connected)
        left = self.stats(server)["connections"]
        gone = [n for n, browser in enumerate(browsers) if not browser.quiet()]
        self.assertEqual(len(gone) + left, 12)
        for n in gone:
            browsers[n] = self.browser(server, f"/?user=u{n}")

        def pushed(user, n):
            try:
                return lines.ask(user=user, n=n).get("delivered") == 1
            except (OSError, EOFError):
                return False

        if not self.lives(lines):
            lines = self.lines(server)
        for n in range(12):
            until("it is delivered", lambda: pushed(f"u{n}", n))
            self.assertEqual(browsers[n].hear(), {"n": n})
        # The new worker has learned who is connected elsewhere.
        until("all users are counted", lambda: self.stats(server)["users"] == 12)

    def lives(self, lines):
        try:
            return lines.ask(user="nobody", queue=False)["ok"]
        except (OSError, EOFError):
            return False

    def test_a_reload_takes_nothing_but_the_connections(self):
        server = self.gateway()
        lines = self.lines(server)
        before = self.browser(server)
        identity = lines.ask(user="tester01", n="seen, not acknowledged", ack=True)["id"]
        before.hear()
        for user in range(10):
            for n in range(3):
                self.assertTrue(lines.ask(user=f"u{user}", n=n)["queued"])
        # More than goes from worker to worker in one piece.
        for n in range(60):
            self.assertTrue(lines.ask(user="large", n=n, message="x" * 60_000)["queued"])
        old = server.workers()
        lines.close()
        server.control("reload wait")
        with self.assertRaisesRegex(EOFError, "restarting"):
            before.hear()
        until("the old workers have left", lambda: not set(old) & set(server.workers()))
        # The new workers have what the old ones kept.
        until("nothing is lost", lambda: self.stats(server)["queue_messages"] == 91)
        lines = self.lines(server)
        large = self.browser(server, "/?user=large")
        self.assertEqual([large.hear()["n"] for _ in range(60)], list(range(60)))
        for user in range(10):
            self.assertTrue(lines.ask(user=f"u{user}", n=3)["queued"])
            browser = self.browser(server, f"/?user=u{user}")
            self.assertEqual([browser.hear()["n"] for _ in range(4)], [0, 1, 2, 3])
            browser.close()
        after = self.browser(server)
        self.assertEqual(after.hear(), {"id": identity, "n": "seen, not acknowledged"})
        after.say({"ack": identity})
        until("nothing is kept", lambda: self.stats(server)["queue_messages"] == 0)
        for connection in (lines, after, large):
            connection.close()
        self.assertEqual(server.stop(), 0)
        # A busy machine keeps a coroutine from its end, which is told.
        self.assertNotRegex(server.said(), r"(?i)uncaught|fatal|warning(?!: coroutine \d+ has kept)")


class Starting(GatewayCase):
    def start(self, **settings):
        environment = {**os.environ, **{f"GATEWAY_{name.upper()}": value for name, value in settings.items()}}
        return subprocess.run(
            [php(), "-n", "-d", f"extension={module()}", str(FOLDER / "server.php")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def test_bad_settings_are_named_with_their_limits(self):
        cases = {
            ("port", "70000"): "GATEWAY_PORT = \"70000\": must be 0 to 65535",
            ("queue_bytes", "lots"): "64K",
            ("prot", "1"): "is port meant?",
            ("secret", "short"): "at least 16 bytes",
            ("host", "0.0.0.0"): "Set GATEWAY_SECRET",
            ("inner_host", "0.0.0.0"): "Set GATEWAY_PUSH_KEYS",
        }
        for (name, value), said in cases.items():
            with self.subTest(name):
                done = self.start(**{name: value})
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)
                self.assertNotIn("Stack trace", done.stderr)

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = self.start(port=str(taken.getsockname()[1]))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot start", done.stderr)

    def test_the_page_and_its_script(self):
        server = self.gateway()
        for path, kind in (("/", "text/html"), ("/gateway.js", "text/javascript")):
            answer = self.http(server.port, path=path)
            self.assertEqual(answer.status, 200)
            self.assertTrue(answer.headers["content-type"].startswith(kind))
            self.assertNotRegex(answer.body.decode(), r"(?:src|href)=[\"']?https?:")
        self.assertEqual(self.http(server.port, path="/health").json(), {"ok": True})
        self.assertEqual(self.http(server.port, path="/stats").status, 404)
        closed = self.gateway(page=0)
        self.assertEqual(self.http(closed.port).status, 404)

    def test_every_setting_is_told(self):
        names = re.findall(r"^        \['(\w+)', '\w+', ", (FOLDER / "src" / "Config.php").read_text(), re.M)
        told = re.findall(r"^\| `(\w+)` \|", (FOLDER / "README.md").read_text().split("## Settings")[1], re.M)
        self.assertGreater(len(names), 20)
        self.assertEqual(told, names)

    def test_apus_new_gateway_makes_one_that_runs(self):
        server = self.gateway()
        folder = server.folder / "made"
        environment = {**os.environ, "APUS_EXTENSION": module(), "APUS_PHP": php()}
        subprocess.run([command(), "new", "gateway", str(folder)], check=True, env=environment, stdout=subprocess.DEVNULL)
        here, there = (
            {path.relative_to(root) for path in root.rglob("*") if path.is_file()} for root in (FOLDER, folder)
        )
        self.assertEqual(there, here)
        self.assertEqual([path for path in here if (folder / path).read_bytes() != (FOLDER / path).read_bytes()], [])
        made = self.serve(script=f"<?php require {json.dumps(str(folder / 'server.php'))};", env={"GATEWAY_PORT": "0", "GATEWAY_INNER_PORT": "0", "GATEWAY_LINE_PORT": "0"})
        self.assertEqual(made.get("/health").status, 200)

    def test_the_smallest_one(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        script = ROOT / "examples" / "push-minimal" / "server.php"
        server = self.serve(script=f"<?php $argv = ['', '0', '{port}']; require {json.dumps(str(script))};")
        self.assertLessEqual(
            len([line for line in pathlib.Path(script).read_text().splitlines() if line and not line.startswith("//")]),
            24,
        )
        browser = WebSocket(server.port, "/?user=tester01")
        self.addCleanup(browser.close)

        def pushed():
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as program:
                program.sendall(b'{"user":"tester01","message":"hello"}\n')
            return not browser.quiet()

        until("it has come", pushed)
        self.assertEqual(browser.hear(), "hello")

    def test_the_chat(self):
        script = ROOT / "examples" / "websocket-chat" / "server.php"
        server = self.serve(script=f"<?php $argv = ['', '0']; require {json.dumps(str(script))};")
        self.assertIn(b"<title>Chat</title>", server.get("/").body)
        ada = WebSocket(server.port, "/?room=lobby&name=Ada")
        self.addCleanup(ada.close)
        self.assertEqual(ada.hear(), {"joined": "Ada", "here": ["Ada"]})
        bob = WebSocket(server.port, "/?room=lobby&name=Bob")
        self.addCleanup(bob.close)
        self.assertEqual(ada.hear()["joined"], "Bob")
        # What was said just before may still be on its way to the worker that he is at.
        joined = next(message for message in iter(bob.hear, None) if message.get("joined") == "Bob")
        self.assertEqual(sorted(joined["here"]), ["Ada", "Bob"])
        ada.say("hi <b>Bob</b>")
        for one in (ada, bob):
            message = one.hear()
            self.assertEqual((message["name"], message["text"]), ("Ada", "hi <b>Bob</b>"))
        bob.close()
        self.assertEqual(ada.hear(), {"left": "Bob", "here": ["Ada"]})
