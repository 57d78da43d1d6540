"""Laravel, Symfony and Slim as Debian packages them: on Swoole\\Http\\Server, and on the classes of php/lib."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile

import support
from test_psr import FIXTURES, FORM, needs, part

NEEDED = {"laravel": ("Illuminate",), "slim": ("Slim", "Nyholm/Psr7"), "symfony": ("Symfony/Bundle/FrameworkBundle",)}
EXTENSIONS = ("ctype", "iconv", "mbstring", "tokenizer", "dom", "xml", "fileinfo", "posix")
USERS = 50
VISITS = 3


class Applications:
    """What each of them does on each server. A class says how it is served."""

    WORKERS = 2

    def start(self, script, needed, *arguments, ini=(), **settings):
        needs(*needed)
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "file.txt").write_text("0123456789")
        settings = {"worker_num": self.WORKERS, "log_file": str(self.folder / "log"), **settings}
        text = (FIXTURES / script).read_text().replace("__DIR__", json.dumps(str(FIXTURES)))
        ini = (*(f"extension={name}" for name in EXTENSIONS), *ini)
        return self.serve(script=text, args=(*arguments, str(self.folder), json.dumps(settings)), ini=ini)

    def server(self):
        raise NotImplementedError

    def test_pages(self):
        server = self.server()
        told = server.get("/told/w%C3%B6rd?a%5Bb%5D=1", headers={"X-One": "1"}).json()
        self.assertEqual(told, {
            "word": "wörd", "url": "http://test/told/w%C3%B6rd?a%5Bb%5D=1", "ip": "127.0.0.1", "body": "",
            "query": {"a": {"b": "1"}}, "header": "1",
        })
        self.assertEqual(server.get("/nowhere").status, 404)
        self.assertEqual(server.get("/fail").status, 500)
        self.assertEqual(server.get("/file").body, b"0123456789")
        parts = b"".join(b"%d" % number * 50_000 for number in range(4))
        self.assertEqual(server.get("/stream").body, parts)

    def test_forms(self):
        server = self.server()
        fields = {"Content-Type": "application/x-www-form-urlencoded"}
        with server.connect() as client:
            told = client.request("POST", "/form", body=b"a=1&b%5Bc%5D=2", headers=fields).json()
            self.assertEqual(told, ["POST", {"a": "1", "b": {"c": "2"}}])
            told = client.request("POST", "/upload", headers={"Content-Type": FORM}, body=(
                part("a", "of a", "a.txt") + part("l[x][]", "first", "l1.txt") + part("l[x][]", "", "l2.txt") + "--X--\r\n"
            ).encode())
            self.assertEqual(told.json(), {"a.txt": [0, "of a"], "l1.txt": [0, "first"], "l2.txt": [0, ""]})

    def test_cookies(self):
        server = self.server()
        answer = server.get("/cookie", headers={"Cookie": "given=x%20y"})
        self.assertEqual(answer.body, b"x y")
        self.assertRegex(answer.headers["set-cookie"], r"one=a(%20|\+)b.*two=2")

    def visits(self, server, user):
        """All visits of one user, as the session counted them."""
        cookie, seen = {}, []
        with server.connect() as client:
            for _ in range(VISITS):
                answer = client.request("GET", f"/visit?who={user}", headers=cookie)
                self.assertEqual(answer.status, 200, answer.body)
                if "set-cookie" in answer.headers:
                    cookie = {"Cookie": answer.headers["set-cookie"].split(";")[0]}
                seen.append(answer.json())
        return seen

    def test_users_at_once(self):
        server = self.server()
        with concurrent.futures.ThreadPoolExecutor(USERS) as pool:
            all_of_them = pool.map(lambda user: (user, self.visits(server, user)), (f"u{n}" for n in range(USERS)))
            for user, seen in all_of_them:
                self.assertEqual(seen, [[user, user, user, visit, 1] for visit in range(1, VISITS + 1)])


class OnSwoole(Applications):
    FRAMEWORK = SETTINGS = None

    def server(self):
        needed, ini = NEEDED[self.FRAMEWORK], ("apus.swoole_compat=1",)
        return self.start("on_swoole.php", needed, self.FRAMEWORK, ini=ini, **self.SETTINGS)


# Without coroutines as Laravel's Octane has it, and with them, where only one request at a time is begun.
OUTSIDE, INSIDE = {"enable_coroutine": False}, {"worker_max_concurrency": 1}


class LaravelOutsideCoroutines(OnSwoole, support.Case):
    FRAMEWORK, SETTINGS = "laravel", OUTSIDE


class LaravelInCoroutines(OnSwoole, support.Case):
    FRAMEWORK, SETTINGS = "laravel", INSIDE


class SlimOutsideCoroutines(OnSwoole, support.Case):
    FRAMEWORK, SETTINGS = "slim", OUTSIDE


class SlimInCoroutines(OnSwoole, support.Case):
    FRAMEWORK, SETTINGS = "slim", INSIDE


class SymfonyOutsideCoroutines(OnSwoole, support.Case):
    FRAMEWORK, SETTINGS = "symfony", OUTSIDE


class SymfonyInCoroutines(OnSwoole, support.Case):
    FRAMEWORK, SETTINGS = "symfony", INSIDE


class SymfonyRuntime(Applications, support.Case):
    def server(self):
        return self.start("on_runtime.php", (*NEEDED["symfony"], "Symfony/Component/Runtime"))


class InWorker(Applications):
    """In the processes of `apus serve --worker`, by the classes of php/lib."""

    FRAMEWORK, MORE = None, ()

    def server(self, workers=Applications.WORKERS):
        needs(*NEEDED[self.FRAMEWORK], *self.MORE)
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.folder = root / "data"
        (root / "public").mkdir()
        self.folder.mkdir()
        (self.folder / "file.txt").write_text("0123456789")
        text = (FIXTURES / "on_worker.php").read_text()
        for name, value in (("__DIR__", str(FIXTURES)), ("FRAMEWORK", self.FRAMEWORK)):
            text = text.replace(name, json.dumps(value))
        (root / "public/index.php").write_text(text)
        self.prepare()
        env = {"DATA_FOLDER": str(self.folder), "XDEBUG_MODE": "off"}
        arguments = ("--worker", str(root / "public/index.php"))
        return self.enterContext(support.Site(root / "public", *arguments, workers=workers, env=env))

    def prepare(self):
        pass


class SymfonyWorker(InWorker, support.Case):
    FRAMEWORK, MORE = "symfony", ("Symfony/Component/Runtime",)


class SlimWorker(InWorker, support.Case):
    FRAMEWORK = "slim"


class LaravelWorker(InWorker, support.Case):
    FRAMEWORK = "laravel"

    def prepare(self):
        script = f"<?php require {json.dumps(str(FIXTURES / 'laravel.php'))}; prepare({json.dumps(str(self.folder))});"
        line = [support.php(), "-d", "error_reporting=0"]
        subprocess.run(line, input=script, text=True, check=True, capture_output=True, env={**os.environ, "XDEBUG_MODE": "off"})

    def test_nothing_is_left_for_the_next_request(self):
        server = self.server(workers=1)
        clean = {
            "config": None, "name": "test", "bound": False, "user": False, "locale": "en", "cookies": 0, "shared": None,
            "listeners": False, "calls": 1, "session": None, "old": "new",
            "extended": "Illuminate\\Hashing\\HashManager",
        }
        for _ in range(3):
            self.assertEqual(server.get("/state").json(), clean)
