"""examples/gateway by plain sockets: every way to push, every way to be let in, queues, acknowledgements, limits."""

import json
import os
import re
import socket
import subprocess
import sys
import time

from gateway import FOLDER, KEY, SECRET, GatewayCase, WebSocket, token
from support import php, until

UPDATE = {"command": "update_data", "message": {"price": 17.0, "empty": {}, "ü": "ä/b"}}
# The snippet of the workloads, as it stands: one line, nothing is read back.
SNIPPET = """<?php
$instance = stream_socket_client('tcp://127.0.0.1:' . $argv[1]);
fwrite($instance, json_encode(['user' => 'tester01', 'command' => 'update_data', 'message' => 'test']) . "\\n");
"""


class Pushing(GatewayCase):
    def test_the_snippet_works_as_it_stands(self):
        server = self.gateway()
        browser = self.browser(server)
        script = server.folder / "snippet.php"
        script.write_text(SNIPPET)
        for _ in range(20):
            subprocess.run([php(), "-n", str(script), str(server.lines)], check=True)
        for _ in range(20):
            self.assertEqual(browser.hear(), {"command": "update_data", "message": "test"})

    def test_the_snippets_of_the_readme_work(self):
        server = self.gateway()
        browser = self.browser(server)
        readme = (FOLDER / "README.md").read_text().split("## Pushing")[0]
        runners = {"php": [php(), "-n"], "sh": ["sh"], "python": [sys.executable]}
        for language, runner in runners.items():
            with self.subTest(language):
                # The last block of its language: the first one of sh starts the gateway.
                code = re.findall(rf"```{language}\n(.*?)```", readme, re.S)[-1]
                script = server.folder / f"snippet.{language}"
                script.write_text(code.replace("1234", str(server.lines)).replace("8081", str(server.inner)))
                subprocess.run([*runner, str(script)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.assertEqual(browser.hear(), {"command": "update_data", "message": "hello"})
        done = subprocess.run([php(), "-n", str(FOLDER / "bin/push.php"), "tester01", "a message", f"tcp://127.0.0.1:{server.lines}"], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout), {"ok": True, "delivered": 1})
        self.assertEqual(browser.hear()["message"], "a message")

    def test_every_way_reaches_all_connections_of_the_user(self):
        server = self.gateway()
        browsers = [self.browser(server) for _ in range(6)]
        other = self.browser(server, "/?user=tester02")
        lines = self.lines(server)
        body = json.dumps({"user": "tester01", **UPDATE}).encode()
        program = WebSocket(server.inner)
        self.addCleanup(program.close)
        ways = {
            "line": lambda: lines.ask(user="tester01", **UPDATE),
            "http": lambda: self.http(server.inner, "POST", "/push", body).json(),
            "public http": lambda: self.http(server.port, "POST", "/push", body).json(),
            "websocket": lambda: program.ask({"user": "tester01", **UPDATE}),
            "direct": lambda: lines.ask(user="tester01", queue=False, **UPDATE),
        }
        for name, push in ways.items():
            with self.subTest(name):
                self.assertEqual(push(), {"ok": True, "delivered": 6})
                # Objects stay objects, and numbers what they were.
                self.assertEqual([browser.hear() for browser in browsers], [UPDATE] * 6)
        self.assertTrue(other.quiet())
        stats = self.stats(server)
        self.assertEqual((stats["connections"], stats["users"], stats["delivered"], sum(stats["workers"])), (7, 2, 30, 7))

    def test_answers_come_in_order_with_their_reference(self):
        server = self.gateway()
        browser = self.browser(server)
        lines = self.lines(server)
        lines.client.send(b"".join(json.dumps({"user": "tester01", "n": n, "ref": n}).encode() + b"\r\n" for n in range(200)))
        self.assertEqual([lines.hear()["ref"] for _ in range(200)], list(range(200)))
        self.assertEqual([browser.hear() for _ in range(200)], [{"n": n} for n in range(200)])

    def test_topics_and_everybody(self):
        server = self.gateway(max_topics=2)
        news = [self.browser(server, f"/?user=u{n}&topics=news,prices") for n in range(3)]
        plain = self.browser(server, "/?user=plain")
        lines = self.lines(server)
        self.assertEqual(lines.ask(topic="news", message=1), {"ok": True, "delivered": 3})
        self.assertEqual([b.hear() for b in news], [{"topic": "news", "message": 1}] * 3)
        self.assertEqual(lines.ask(all=True, message=2), {"ok": True, "delivered": 4})
        self.assertEqual([b.hear() for b in [*news, plain]], [{"message": 2}] * 4)
        plain.say({"subscribe": "news"})
        until("it is subscribed", lambda: lines.ask(topic="news", message=3)["delivered"] == 4)
        self.assertEqual(plain.hear(), {"topic": "news", "message": 3})
        news[0].say({"subscribe": "weather"})
        self.assertIn("at most 2 topics", self.error(news[0]))
        plain.say({"unsubscribe": "news"})
        until("it is unsubscribed", lambda: lines.ask(topic="news", message=4)["delivered"] == 3)
        plain.say({"subscribe": "a b"})
        self.assertIn("a topic is", self.error(plain))
        plain.say("what?")
        self.assertIn("say {", self.error(plain))

    def error(self, browser):
        """The next error, after whatever messages came before it."""
        while "error" not in (message := browser.hear()):
            pass
        return message["error"]

    def test_bad_pushes_are_refused_with_the_reason(self):
        server = self.gateway(max_message=1024)
        lines = self.lines(server)
        bad = {
            b"{nonsense": "bad JSON",
            b"[1]": "not a JSON object",
            b'"text"': "not a JSON object",
            b"\xff\xfe": "bad JSON",
            b'{"message":1}': "name one of user, topic",
            b'{"user":"a","topic":"b"}': "name one of user, topic",
            b'{"user":""}': "user must be",
            b'{"user":"a\\u0000b"}': "user must be",
            b'{"user":["a"]}': "user must be",
            b'{"topic":"/all"}': "a topic is",
            b'{"user":"a","id":"x"}': "id is given by the gateway",
            b'{"user":"a","wait":31}': "wait must be 0 to 30",
            b'{"user":"a","wait":"1"}': "wait must be",
            b'{"user":"a","ttl":0}': "ttl must be 1 to",
            b'{"user":"a","queue":1}': "queue must be true or false",
            b'{"all":true,"ack":true}': "messages to one user",
        }
        for line, reason in bad.items():
            with self.subTest(line):
                for answer in (lines.ask(line), self.http(server.inner, "POST", "/push", line).json()):
                    self.assertEqual((answer["ok"], answer["status"]), (False, 400))
                    self.assertIn(reason, answer["error"])
        self.assertEqual(lines.ask(user=7)["ok"], True)
        self.assertEqual(self.http(server.inner, "POST", "/push", b"{").status, 400)
        self.assertEqual(self.http(server.inner, path="/push").status, 405)
        self.assertEqual(self.http(server.inner, path="/nothing").status, 404)
        self.assertEqual(self.stats(server)["refused"], 2 * len(bad) + 1)

    def test_what_is_too_long(self):
        server = self.gateway(max_message=1024)
        browser = self.browser(server)
        long = {"user": "tester01", "message": "x" * 1024}
        fits = {"user": "tester01", "message": "x" * 900}
        self.assertEqual(self.http(server.inner, "POST", "/push", json.dumps(long).encode()).status, 413)
        for data in (json.dumps(long).encode() + b"\n", b"y" * 5000):
            lines = self.lines(server)
            lines.client.send(data)
            self.assertEqual(lines.client.rest(), b"")
        program = WebSocket(server.inner)
        self.addCleanup(program.close)
        program.say(long)
        with self.assertRaises((EOFError, ConnectionError)):
            program.hear()
        self.assertEqual(self.lines(server).ask(fits)["delivered"], 1)
        self.assertEqual(browser.hear(), {"message": "x" * 900})
        self.assertRegex(server.log() + server.said(), r"1024")

    def test_pages_cannot_push(self):
        server = self.gateway()
        browser = self.browser(server)
        body = b'{"user":"tester01","message":"from a page"}'
        origin = {"Origin": "https://evil.example"}
        self.assertEqual(self.http(server.inner, "POST", "/push", body, origin).status, 403)
        self.assertEqual(self.http(server.port, "POST", "/push", body, origin).status, 404)
        refused = WebSocket(server.inner, fields=["Origin: https://evil.example"])
        self.addCleanup(refused.close)
        self.assertEqual(refused.refused[0], 403)
        # The same through the line port: a browser can be made to send this.
        lines = self.lines(server)
        lines.client.send(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:1234\r\nContent-Length: 45\r\n\r\n" + body + b"\n")
        self.assertEqual(lines.client.rest(), b"")
        with self.subTest("its own page may, in development mode"), server.connect() as client:
            own = f"127.0.0.1:{server.port}"
            client.send(f"POST /push HTTP/1.1\r\nHost: {own}\r\nOrigin: http://{own}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            self.assertEqual(client.answer().json(), {"ok": True, "delivered": 1})
        self.assertEqual(browser.hear(), {"message": "from a page"})
        self.assertTrue(browser.quiet())

    def test_half_a_connection_is_enough_for_the_answer(self):
        server = self.gateway()
        lines = self.lines(server)
        lines.send({"user": "nobody", "queue": False})
        lines.client.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(json.loads(lines.client.rest()), {"ok": True, "delivered": 0})


class Keys(GatewayCase):
    def test_keys(self):
        server = self.gateway(push_keys=f"another-key-of-16-bytes, {KEY}")
        lines = self.lines(server)
        self.assertEqual(lines.ask(user="a")["status"], 401)
        self.assertEqual(lines.ask(user="a", key="another-key-of-16-byte")["status"], 401)
        self.assertEqual(lines.ask(user="a", key=["x"])["status"], 401)
        self.assertEqual(lines.ask(user="a", key=KEY)["ok"], True)
        body = b'{"user":"a"}'
        self.assertEqual(self.http(server.inner, "POST", "/push", body).status, 401)
        self.assertEqual(self.http(server.inner, "POST", "/push", body, {"Authorization": "Bearer wrong"}).status, 401)
        self.assertEqual(self.http(server.inner, "POST", "/push", body, {"Authorization": f"Bearer {KEY}"}).status, 200)
        for fields, status in (([], 401), ([f"Authorization: Bearer {KEY}"], None)):
            program = WebSocket(server.inner, fields=fields)
            self.addCleanup(program.close)
            self.assertEqual(program.ask({"user": "a"}).get("status"), status)
        self.assertEqual(self.http(server.inner, path="/stats").status, 401)
        # The key is not the browsers' business.
        browser = self.browser(server)
        lines.ask(user="tester01", key=KEY, message=1)
        self.assertEqual(browser.hear(), {"message": 1})

    def test_the_rate_of_a_sender(self):
        server = self.gateway(push_rate=1, push_burst=5, push_keys=f"another-key-of-16-bytes,{KEY}")
        # On many connections, of both workers: they share one bucket.
        answers = [self.lines(server).ask(user="a", key=KEY) for _ in range(12)]
        refused = [answer for answer in answers if not answer["ok"]]
        self.assertGreaterEqual(len(refused), 5)
        self.assertLessEqual(len(refused), 7)
        for answer in refused:
            self.assertEqual(answer["status"], 429)
            self.assertTrue(0 < answer["retry_after"] <= 1)
        limited = self.http(server.inner, "POST", "/push", b'{"user":"a"}', {"Authorization": f"Bearer {KEY}"})
        if limited.status != 200:
            self.assertEqual((limited.status, limited.headers["retry-after"]), (429, "1"))
        # Another sender has a bucket of its own.
        self.assertTrue(self.lines(server).ask(user="a", key="another-key-of-16-bytes")["ok"])
        until("a token has come", lambda: self.lines(server).ask(user="a", key=KEY)["ok"])


class LettingIn(GatewayCase):
    def test_development_mode(self):
        server = self.gateway()
        self.assertEqual(self.refusal(server, "/")[0], 401)
        self.assertEqual(self.refusal(server, "/?user=")[0], 400)
        self.assertEqual(self.refusal(server, "/?user[]=x")[0], 400)
        self.assertEqual(self.refusal(server, "/?user=" + "x" * 129)[0], 400)
        self.assertEqual(self.refusal(server, "/?user=x&topics=a%20b")[0], 400)
        self.assertEqual(self.refusal(server, "/?user=x&topics=" + ",".join(f"t{n}" for n in range(17)))[0], 403)
        self.assertEqual(self.refusal(server, "/?user=x", ["Origin: https://evil.example"])[0], 403)
        for user in ("0", "12", "ä", "a b", "a@b.c"):
            browser = self.browser(server, "/?user=" + "".join(f"%{byte:02x}" for byte in user.encode()))
            self.assertEqual(self.lines(server).ask(user=user, message=user)["delivered"], 1)
            self.assertEqual(browser.hear(), {"message": user})
        self.assertEqual(self.stats(server)["turned_away"], 7)

    def test_tokens(self):
        server = self.gateway(secret=SECRET)
        good = token()
        browser = self.browser(server, f"/?token={good}")
        cookie = self.browser(server, "/", [f"Cookie: a=b; gateway_token={good}"])
        self.assertEqual(self.lines(server).ask(user="tester01", message=1)["delivered"], 2)
        self.assertEqual((browser.hear(), cookie.hear()), ({"message": 1}, {"message": 1}))
        made = subprocess.run(
            [php(), "-n", str(FOLDER / "bin/token.php"), "tester01", "60"],
            env={**os.environ, "GATEWAY_SECRET": SECRET},
            capture_output=True,
            text=True,
            check=True,
        )
        self.browser(server, f"/?token={made.stdout.strip()}")

        expired = token(exp=int(time.time()) - 1)
        payload, signature = good.split(".")
        cases = {
            "": 401,
            "?user=tester01": 401,
            "?token=": 401,
            f"?token={expired}": 401,
            f"?token={token(secret='another secret of enough bytes')}": 403,
            f"?token={payload}": 403,
            f"?token={payload}.": 403,
            f"?token={payload}.{signature[:-1]}": 403,
            f"?token={token(user='tester02').split('.')[0]}.{signature}": 403,
            "?token=" + "x" * 5000: 403,
            f"?token={token(exp='soon')}": 403,
            f"?token={token(user=None)}": 400,
            f"?token={good}&topics=news": 403,
        }
        for query, status in cases.items():
            with self.subTest(query[:60]):
                self.assertEqual(self.refusal(server, "/" + query)[0], status)
                check = self.http(server.port, path="/check" + query)
                self.assertEqual((check.status, check.json()["ok"]), (status, False))
        self.assertIn("expired", self.refusal(server, f"/?token={expired}")[1]["error"])
        self.assertEqual(self.refusal(server, "/", [f"Cookie: gateway_token={expired}"])[0], 401)
        check = self.http(server.port, path="/check", headers={"Cookie": f"gateway_token={good}"})
        self.assertEqual((check.status, check.json()), (200, {"ok": True, "user": "tester01", "topics": []}))
        # Pushing through the port for browsers is for development mode.
        self.assertEqual(self.http(server.port, "POST", "/push", b'{"user":"a"}').status, 404)

    def test_topics_of_tokens(self):
        server = self.gateway(secret=SECRET)
        browser = self.browser(server, f"/?token={token(topics=['news', 'prices'])}")
        self.assertEqual(self.lines(server).ask(topic="prices", message=1)["delivered"], 1)
        self.assertEqual(browser.hear(), {"topic": "prices", "message": 1})
        self.assertIn("does not name", browser.ask({"subscribe": "secret"})["error"])
        some = self.browser(server, f"/?token={token(topics=['news', 'prices'])}&topics=news")
        self.assertEqual(self.lines(server).ask(topic="prices", message=2)["delivered"], 1)
        self.assertTrue(some.quiet())

    def test_origins(self):
        good = token()
        server = self.gateway(secret=SECRET, origins="https://www.example.org, https://example.org")
        for field in ("Cookie: gateway_token=" + good, "X: y"):
            path = "/" if field.startswith("Cookie") else f"/?token={good}"
            self.browser(server, path, [field, "Origin: https://example.org"])
            self.browser(server, path, [field])
            self.assertEqual(self.refusal(server, path, [field, "Origin: https://evil.example"])[0], 403)
            self.assertEqual(self.refusal(server, path, [field, "Origin: null"])[0], 403)
            allowed = self.http(server.port, path="/check" + path[1:], headers={"Origin": "https://example.org"}).headers
            self.assertEqual((allowed["access-control-allow-origin"], allowed["access-control-allow-credentials"]), ("https://example.org", "true"))
            self.assertNotIn("access-control-allow-origin", self.http(server.port, path="/check", headers={"Origin": "https://evil.example"}).headers)
        # Without a list: cookies for its own pages only, tokens in the address for all.
        server = self.gateway(secret=SECRET)
        own = f"Origin: http://127.0.0.1:{server.port}"
        self.browser(server, "/", [f"Cookie: gateway_token={good}", own])
        self.assertEqual(self.refusal(server, "/", [f"Cookie: gateway_token={good}", "Origin: https://evil.example"])[0], 403)
        self.browser(server, f"/?token={good}", ["Origin: https://elsewhere.example"])


    def test_connections_of_one_user(self):
        server = self.gateway(max_per_user=2)
        first, _ = self.browser(server), self.browser(server)
        third = WebSocket(server.port, "/?user=tester01")
        self.addCleanup(third.close)
        with self.assertRaisesRegex(EOFError, "too many connections of this user"):
            third.hear()
        self.browser(server, "/?user=tester02")
        first.close()
        until("it is gone", lambda: self.stats(server)["connections"] == 2)
        self.browser(server)
        self.assertEqual(self.lines(server).ask(user="tester01")["delivered"], 2)


class Queue(GatewayCase):
    def test_messages_wait_for_their_user_in_order(self):
        server = self.gateway()
        lines = self.lines(server)
        for user in ("a", "b", "c", "d"):
            for n in range(5):
                self.assertEqual(lines.ask(user=user, n=n), {"ok": True, "delivered": 0, "queued": True})
        self.assertEqual(lines.ask(user="a", n="not kept", queue=False), {"ok": True, "delivered": 0})
        stats = self.stats(server)
        self.assertEqual((stats["queue_messages"], stats["queued"], stats["dropped"]), (20, 20, 0))
        for user in ("a", "b", "c", "d"):
            browser = self.browser(server, f"/?user={user}")
            self.assertEqual([browser.hear() for _ in range(5)], [{"n": n} for n in range(5)])
            self.assertEqual(lines.ask(user=user, n=5)["delivered"], 1)
            self.assertEqual(browser.hear(), {"n": 5})
        stats = self.stats(server)
        self.assertEqual((stats["queue_messages"], stats["queue_bytes"], stats["delivered"]), (0, 0, 24))

    def test_the_oldest_makes_room(self):
        server = self.gateway(queue_per_user=3)
        lines = self.lines(server)
        for n in range(5):
            self.assertTrue(lines.ask(user="tester01", n=n)["queued"])
        self.assertEqual((self.stats(server)["queue_messages"], self.stats(server)["dropped"]), (3, 2))
        browser = self.browser(server)
        self.assertEqual([browser.hear()["n"] for _ in range(3)], [2, 3, 4])

    def test_all_together_have_a_limit(self):
        server = self.gateway(workers=1, queue_bytes=65536)
        lines = self.lines(server)
        answers = [lines.ask(user=f"u{n}", message="x" * 9500) for n in range(8)]
        self.assertEqual([answer["ok"] for answer in answers], [True] * 6 + [False] * 2)
        self.assertEqual((answers[-1]["status"], answers[-1]["retry_after"]), (503, 5.0))
        # Who is connected is not concerned.
        browser = self.browser(server)
        self.assertEqual(lines.ask(user="tester01", message="x" * 9500)["delivered"], 1)
        browser.hear()
        self.browser(server, "/?user=u0").hear()
        self.assertTrue(lines.ask(user="u9", message="x" * 9500)["queued"])

    def test_messages_grow_old(self):
        server = self.gateway(queue_ttl=600)
        lines = self.lines(server)
        lines.ask(user="tester01", n=1, ttl=1)
        lines.ask(user="tester01", n=2)
        until("the old one is dropped", lambda: self.stats(server)["dropped"] == 1)
        self.assertEqual(self.browser(server).hear(), {"n": 2})

    def test_a_reconnect_in_the_midst_of_pushes_loses_and_reorders_nothing(self):
        server = self.gateway(queue_per_user=1000)
        lines = self.lines(server)
        heard, count = [], 400
        browser = WebSocket(server.port, "/?user=tester01")
        for n in range(count):
            lines.send({"user": "tester01", "n": n, "ack": True})
            if n % 100 == 50:
                # Whatever it had got by then and not acknowledged comes again.
                browser.close()
                browser = WebSocket(server.port, "/?user=tester01")
        self.assertTrue(all(lines.hear()["ok"] for _ in range(count)))
        self.addCleanup(browser.close)
        while not heard or heard[-1] != count - 1:
            message = browser.hear()
            browser.say({"ack": message["id"]})
            if message["n"] not in heard:
                heard.append(message["n"])
        until("all are acknowledged", lambda: self.stats(server)["queue_messages"] == 0)
        self.assertEqual(heard, sorted(heard))


class Acknowledgements(GatewayCase):
    def test_waiting_for_one(self):
        server = self.gateway()
        browser = self.browser(server)
        lines = self.lines(server)
        for n in range(10):
            lines.send({"user": "tester01", "n": n, "wait": 20})
            message = browser.hear()
            self.assertEqual(message["n"], n)
            browser.say({"ack": message["id"]})
            self.assertEqual(lines.hear(), {"ok": True, "delivered": 1, "id": message["id"], "acked": True})
        stats = self.stats(server)
        self.assertEqual((stats["acknowledged"], stats["queue_messages"]), (10, 0))
        answer = lines.ask(user="tester01", n=0, wait=0.05)
        self.assertEqual((answer["delivered"], answer["acked"]), (1, False))

    def test_unacknowledged_ones_come_again(self):
        server = self.gateway()
        lines = self.lines(server)
        first = self.browser(server)
        ids = [lines.ask(user="tester01", n=n, ack=True)["id"] for n in range(3)]
        self.assertEqual([first.hear() for _ in range(3)], [{"id": ids[n], "n": n} for n in range(3)])
        first.say({"ack": ids[1]})
        first.say({"ack": "no such message"})
        until("one is acknowledged", lambda: self.stats(server)["acknowledged"] == 1)
        first.close()
        until("it is gone", lambda: self.stats(server)["connections"] == 0)
        queued = lines.ask(user="tester01", n=3, ack=True)
        self.assertTrue(queued["queued"])
        second = self.browser(server)
        self.assertEqual(
            [second.hear() for _ in range(3)],
            [{"id": ids[0], "n": 0}, {"id": ids[2], "n": 2}, {"id": queued["id"], "n": 3}],
        )
        for identity in (ids[0], ids[2], queued["id"]):
            second.say({"ack": identity})
        until("all are acknowledged", lambda: self.stats(server)["acknowledged"] == 4)
        third = self.browser(server)
        self.assertEqual(lines.ask(user="tester01", n=4)["delivered"], 2)
        self.assertEqual(third.hear(), {"n": 4})
        self.assertEqual(self.stats(server)["resent"], 2)

    def test_nobody_acknowledges_for_another(self):
        server = self.gateway()
        lines = self.lines(server)
        browser, thief = self.browser(server), self.browser(server, "/?user=thief")
        identity = lines.ask(user="tester01", ack=True)["id"]
        thief.say({"ack": identity})
        # An answer on the thief's connection says that what came before it was handled.
        self.assertIn("error", thief.ask("?"))
        self.assertEqual(browser.hear()["id"], identity)
        self.assertEqual((self.stats(server)["acknowledged"], self.stats(server)["queue_messages"]), (0, 1))
