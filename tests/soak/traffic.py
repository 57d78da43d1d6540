#!/usr/bin/env python3
"""Mixed traffic over WordPress behind `apus serve`, with reloads and kills: `tests/soak/traffic.py --help`.

Visitors, three people who are logged in and read and write, uploads and files; every page is checked for what is its
own. Passes when no page was wrong, when nothing failed but what a kill had in hand, and when memory, descriptors and
processes are what they were after the warm-up. Needs Debian's wordpress and MariaDB.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "e2e")]

import support  # noqa: E402
from disturbance import Chaos, Memory, counted  # noqa: E402
from serve_cases import Browser  # noqa: E402
from test_serve_wordpress import WordPress, picture  # noqa: E402

PEOPLE = ("anna", "berta", "carla")
# Pages of the blog, each with a text of its own.
POSTS = 6
# A kill spoils what was under way at that moment, and for so many seconds what comes to a process that is dying.
GRACE = 1.0


class Wrong(Exception):
    """An answer that nobody should have been given."""


class Kept(Browser):
    """Keeps its connection, as browsers do. One that is closed before a byte of an answer came is opened anew."""

    connection = None

    def request(self, method, path, body=None, headers=None):
        fields = {"Accept": "text/html,*/*", **(headers or {})}
        if self.cookies:
            fields["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        used = self.connection is not None
        try:
            return self.once(method, path, body, fields)
        except (EOFError, OSError):
            unanswered = self.connection is None or self.connection.buffer == b""
            self.close()
            if not used or not unanswered or method != "GET":
                raise
            return self.once(method, path, body, fields)

    def once(self, method, path, body, fields):
        if self.connection is None:
            self.connection = self.server.connect()
        answer = self.connection.request(method, path, body=body, headers=fields)
        if answer.headers.get("connection") == "close":
            self.close()
        return answer

    def close(self):
        if self.connection is not None:
            self.connection.sock.close()
        self.connection = None


class Client(threading.Thread):
    """One that asks, at random, and checks what it is told."""

    def __init__(self, soak, number, seed):
        super().__init__(daemon=True)
        self.soak, self.random = soak, random.Random(seed)
        self.who = PEOPLE[number % len(PEOPLE)]
        self.visitor, self.person = Kept(soak.site), Kept(soak.site)
        self.person.cookies = dict(soak.cookies[self.who])
        self.version, self.post = 0, None

    def run(self):
        what = {self.read: 8, self.front: 6, self.file: 6, self.dashboard: 3, self.missing: 2, self.listed: 2}
        what |= {self.write: 2, self.upload: 1, self.leave: 1}
        while not self.soak.over.is_set():
            action = self.random.choices(list(what), list(what.values()))[0]
            begun = time.monotonic()
            try:
                action()
            except Wrong as wrong:
                self.soak.wrong.append(f"{action.__name__}: {wrong}")
            except Exception as error:  # noqa: BLE001
                told = f"{action.__name__}: {type(error).__name__}: {error}"
                self.soak.failed.append((begun, time.monotonic(), told[:400]))
                self.visitor.close()
                self.person.close()
            else:
                self.soak.done[action.__name__] = self.soak.done.get(action.__name__, 0) + 1

    def page(self, answer, *texts, status=200):
        text = answer.body.decode(errors="replace")
        if answer.status != status:
            raise ConnectionError(f"answered {answer.status} in place of {status}: {text[:200]}")
        for part in texts:
            if part not in text:
                raise Wrong(f"{part!r} is not in {text[:1000]!r} … {text[-300:]!r}")
        return text

    def read(self):
        number = self.random.randrange(POSTS)
        text = self.page(self.visitor.get(f"/post-{number}/"), f"About swift {number}:", "greeting of a plugin", "</html>")
        if "Howdy" in text:
            raise Wrong("a visitor is greeted as somebody who has logged in")

    def front(self):
        self.page(self.visitor.get(f"/?x={self.random.random()}"), "Swifts", "greeting of a plugin", "</html>")

    def missing(self):
        self.page(self.visitor.get(f"/nowhere-{self.random.random()}/"), "</html>", status=404)

    def listed(self):
        told = self.visitor.get("/wp-json/wp/v2/posts?per_page=5&search=swift").json()
        if any("About swift" not in post["content"]["rendered"] for post in told):
            raise Wrong(f"another list: {told}"[:1000])

    def file(self):
        path, content = self.random.choice(self.soak.files)
        answer = self.visitor.get(path)
        if answer.status != 200 or answer.body != content:
            raise Wrong(f"{path}: {answer.status}, {len(answer.body)} bytes in place of {len(content)}")

    def dashboard(self):
        text = self.page(self.person.get("/wp-admin/profile.php"), "</html>")
        names = [name for name in PEOPLE if f'<span class="display-name">{name}</span>' in text]
        if names != [self.who]:
            raise Wrong(f"{self.who} is greeted as {names}")

    def rest(self, method, route, body, status, **fields):
        nonce = self.page(self.person.get("/wp-admin/admin-ajax.php?action=rest-nonce"))
        headers = {"X-WP-Nonce": nonce, **{name.replace("_", "-"): value for name, value in fields.items()}}
        answer = self.person.request(method, f"/wp-json/wp/v2/{route}", body, headers)
        return json.loads(self.page(answer, status=status))

    def write(self):
        """Writes the next version of a page of its own, and reads it back."""
        version = self.version + 1
        content = f"version {version} by {self.who}, client {self.name}"
        body = json.dumps({"title": f"By {self.name}", "content": content, "status": "publish"}).encode()
        route, status = ("posts", 201) if self.post is None else (f"posts/{self.post}", 200)
        told = self.rest("POST", route, body, status, Content_Type="application/json")
        self.post, self.version = told["id"], version
        self.page(self.visitor.get(f"/wp-json/wp/v2/posts/{self.post}"), content)

    def upload(self):
        """A file that nobody else has, as the body of a request; read back by its address."""
        content = picture(20 + self.random.randrange(40), 20) + os.urandom(self.random.randrange(1, 200_000))
        name = f'attachment; filename="{hashlib.md5(content).hexdigest()}.png"'
        told = self.rest("POST", "media", content, 201, Content_Type="image/png", Content_Disposition=name)
        answer = self.visitor.get(told["source_url"].removeprefix("http://test"))
        if answer.body != content:
            raise Wrong(f"an upload of {len(content)} bytes is {answer.status}, {len(answer.body)} bytes")
        self.rest("DELETE", f"media/{told['id']}?force=true", b"", 200)

    def leave(self):
        """Asks, and does not wait for the answer."""
        with self.soak.site.connect() as connection:
            connection.send(f"GET /?left={self.random.random()} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
            time.sleep(self.random.random() / 10)


class Soak(WordPress):
    """Set up as the end-to-end test does; then the traffic."""

    options = None

    def fill(self):
        browser = Browser(self.site)
        self.install(browser)
        self.log_in(browser)
        self.set_up(browser)
        for number in range(POSTS):
            post = {"title": f"Post {number}", "content": f"About swift {number}: never at rest", "status": "publish"}
            self.call(browser, "POST", "posts", 201, json.dumps(post).encode(), Content_Type="application/json")
        self.cookies = {"anna": browser.cookies}
        for name in PEOPLE[1:]:
            person = {"username": name, "email": f"{name}@example.org", "password": "s3cret-of-many", "roles": ["author"]}
            self.call(browser, "POST", "users", 201, json.dumps(person).encode(), Content_Type="application/json")
            other = Browser(self.site)
            self.page(other.get("/wp-login.php"))
            other.post("/wp-login.php", {"log": name, "pwd": "s3cret-of-many", "testcookie": "1"})
            self.cookies[name] = other.cookies
        names = ("wp-includes/js/jquery/jquery.min.js", "readme.html", "wp-includes/css/dashicons.min.css", "license.txt")
        self.files = [(f"/{name}", (self.root / name).read_bytes()) for name in names if (self.root / name).exists()]

    def runTest(self):  # noqa: N802
        options = self.options
        temporary = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-soak-")))
        # Times are those of a slow machine.
        settings = {"worker_num": 2, "package_max_length": "16M", "script_queue_timeout": 120, "script_max_request": 500}
        self.site = self.served(self.root, workers=options.processes, settings=settings, ini=(f"sys_temp_dir={temporary}",))
        self.fill()
        self.over, self.done, self.wrong, self.failed = threading.Event(), {}, [], []
        memory, chaos = Memory(self.site, temporary), Chaos(self.site, options, random.Random(options.seed))
        clients = [Client(self, number, options.seed + number) for number in range(options.clients)]
        for client in clients:
            client.start()
        end = time.monotonic() + options.seconds
        while time.monotonic() < end and not self.wrong:
            time.sleep(0.5)
            chaos.turn()
            memory.look()
        self.over.set()
        for client in clients:
            client.join(180)
            self.assertFalse(client.is_alive(), "a client hangs")
        self.report(memory, chaos)

    def report(self, memory, chaos):
        kills = chaos.kills
        bare = [what for begun, ended, what in self.failed if not any(begun - GRACE <= at <= ended for at, _ in kills)]
        print(f"answered: {dict(sorted(self.done.items()))}, together {sum(self.done.values())}")
        print(f"reloads {chaos.reloads}, kills {[kind for _, kind in kills]}, spoilt by them {len(self.failed) - len(bare)}")
        print(memory.summary(), flush=True)
        for _, _, what in self.failed:
            print(f"  {what}")
        log = "\n".join(self.site.log().splitlines()[-40:])
        self.assertEqual(self.wrong, [], "pages are wrong")
        self.assertEqual(bare, [], f"requests failed without a kill\n{log}")
        # A script's kill is its one request's; a worker's, those of its connections: two a client at most.
        limit = sum(1 if kind == "script" else 2 * len(PEOPLE) * self.options.clients for _, kind in kills)
        self.assertLessEqual(len(self.failed), limit)
        self.assertEqual(chaos.problems, [])
        self.assertGreater(min(self.done.get(name, 0) for name in ("read", "front", "file", "dashboard", "write")), 0)
        self.assertEqual(memory.problems(), [])
        self.assertEqual(self.site.get("/readme.html").status, 200)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("TRAFFIC_SECONDS", "3600")))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--processes", type=int, default=4, help="of PHP")
    parser.add_argument("--reload", type=float, default=30, metavar="SECONDS", help="between two reloads")
    parser.add_argument("--kill", type=float, default=60, metavar="SECONDS", help="between two kills")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(counted(Soak, parse()))
