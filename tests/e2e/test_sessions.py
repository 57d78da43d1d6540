"""PHP's sessions and superglobals in request handlers: each visitor's own, whoever else is being answered meanwhile."""

import fcntl
import json
import re
import threading
import unittest

from support import PATIENCE, Case

from lib import servers

VISITORS = 100
ROUNDS = 3

# Every visit adds one to what its session counts, waits, and tells what it sees; a new session first says whose it is.
VISIT = """
    session_start();
    $who = $request->get['who'] ?? '';
    $_SESSION['who'] ??= $who;
    $_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
    Coroutine::sleep(0.002);
    $response->end(json_encode([session_id(), $_SESSION['who'], $_SESSION['visits']]));
"""

# A handler of the program's own, which waits in each of its functions.
USER_HANDLER = """
class Kept implements SessionHandlerInterface
{
    public static array $data = [];
    public function open(string $path, string $name): bool { usleep(1000); return true; }
    public function close(): bool { usleep(1000); return true; }
    public function read(string $id): string { usleep(2000); return self::$data[$id] ?? ''; }
    public function write(string $id, string $data): bool { usleep(1000); self::$data[$id] = $data; return true; }
    public function destroy(string $id): bool { unset(self::$data[$id]); return true; }
    public function gc(int $max): int { return 0; }
}
session_set_save_handler(new Kept, false);
"""


def session_cookie(answer):
    """The id in a Set-Cookie field."""
    found = re.findall(r"PHPSESSID=([^;]+)", answer.headers.get("set-cookie", ""))
    assert len(found) < 2, answer.headers
    return found[0] if found else None


class Sessions(Case):
    def visitor(self, server, who, seen):
        cookie = None
        for _ in range(ROUNDS):
            answer = server.get(f"/?who={who}", headers={"Cookie": f"PHPSESSID={cookie}"} if cookie else {})
            told = session_cookie(answer)
            cookie = told or cookie
            seen.append((who, told is not None, cookie, answer.status, answer.body))

    def test_a_handler_under_the_names_of_swoole_sends_the_cookie(self):
        script = """<?php
        $server = new Swoole\\Http\\Server('127.0.0.1', 0);
        $server->set(['worker_num' => 1]);
        $server->on('request', function (Swoole\\Http\\Request $request, Swoole\\Http\\Response $response) {
            session_start();
            $_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
            $response->end((string) $_SESSION['visits']);
        });
        $server->start();
        """
        server = self.serve(script=script, ini=["apus.swoole_compat=1"])
        first = server.get("/")
        cookie = session_cookie(first)
        self.assertEqual((first.body, server.get("/", headers={"Cookie": f"PHPSESSID={cookie}"}).body), (b"1", b"2"))

    def visit(self, server):
        seen = [[] for _ in range(VISITORS)]
        threads = [threading.Thread(target=self.visitor, args=(server, f"v{n}", seen[n])) for n in range(VISITORS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE * 4)
        ids = set()
        for n, visits in enumerate(seen):
            self.assertEqual(len(visits), ROUNDS, server.said())
            for number, (who, told, cookie, status, body) in enumerate(visits, 1):
                self.assertEqual(status, 200, server.said())
                self.assertEqual(told, number == 1, "the id is told once")
                self.assertEqual(json.loads(body), [cookie, f"v{n}", number])
            ids.add(visits[0][2])
        self.assertEqual(len(ids), VISITORS)
        self.assertNotRegex(server.log(), "error|warning")

    def test_files(self):
        with self.serve(VISIT, before="ini_set('session.save_path', $folder);") as server:
            self.visit(server)

    def test_files_in_threads(self):
        with self.serve(VISIT, before="ini_set('session.save_path', $folder); Apus\\Runtime::enableCoroutine(Apus\\HOOK_ALL);") as server:
            self.visit(server)

    def test_a_handler_of_the_program(self):
        with self.serve(VISIT, before=USER_HANDLER) as server:
            self.visit(server)

    def test_redis(self):
        with servers.Redis() as redis:
            port = redis.port
            with self.serve(VISIT, before=f"ini_set('session.save_handler', 'redis'); ini_set('session.save_path', 'tcp://127.0.0.1:{port}');", ini=("extension=igbinary", "extension=redis")) as server:
                self.visit(server)

    def test_the_lock_of_a_session_is_waited_for(self):
        with self.serve(VISIT, before="ini_set('session.save_path', $folder);") as server:
            cookie = session_cookie(server.get("/?who=a"))
            with open(server.folder / f"sess_{cookie}", "r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                with server.connect() as held:
                    held.send(f"GET /?who=x HTTP/1.1\r\nHost: a\r\nCookie: PHPSESSID={cookie}\r\n\r\n".encode())
                    # Others are answered, with sessions of their own, while that one waits.
                    for n in range(5):
                        self.assertEqual(json.loads(server.get(f"/?who=b{n}").body)[1:], [f"b{n}", 1])
                    fcntl.flock(file, fcntl.LOCK_UN)
                    self.assertEqual(json.loads(held.answer().body), [cookie, "a", 2])

    def test_what_php_sends_goes_out_with_the_response(self):
        handler = """
        echo "something is printed\\n";
        if ($path === '/none') { $response->end(json_encode([session_status() === PHP_SESSION_NONE, isset($_SESSION)])); return; }
        session_start();
        $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;
        if ($path === '/new') { session_regenerate_id(true); }
        if ($path === '/end') { session_destroy(); }
        if ($path === '/throw') { $response->end('thrown'); throw new Exception('after it was changed'); }
        $response->header('X-Own', '1');
        $response->cookie('own', 'x');
        $response->end(json_encode([session_id(), $_SESSION['n']]));
        """
        with self.serve(handler, before="ini_set('session.save_path', $folder);") as server:
            first = server.get("/")
            cookie = session_cookie(first)
            self.assertEqual(json.loads(first.body), [cookie, 1])
            self.assertIn("no-store", first.headers["cache-control"])
            self.assertIn("own=x", first.headers["set-cookie"])
            with_id = {"Cookie": f"PHPSESSID={cookie}"}
            again = server.get("/", headers=with_id)
            self.assertEqual([session_cookie(again), json.loads(again.body)], [None, [cookie, 2]])
            self.assertEqual(json.loads(server.get("/none", headers=with_id).body), [True, False])
            renewed = server.get("/new", headers=with_id)
            other = session_cookie(renewed)
            self.assertNotEqual(other, cookie)
            self.assertEqual(json.loads(renewed.body), [other, 3])
            with_other = {"Cookie": f"PHPSESSID={other}"}
            # Written although the handler threw.
            self.assertEqual(server.get("/throw", headers=with_other).body, b"thrown")
            self.assertEqual(json.loads(server.get("/", headers=with_other).body), [other, 5])
            server.get("/end", headers=with_other)
            self.assertFalse((server.folder / f"sess_{other}").exists())

    def test_a_fatal_error_opens_the_session_for_others(self):
        handler = """
        session_start();
        $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;
        if ($path === '/fatal') { trigger_error('meant', E_USER_ERROR); }
        $response->end((string) $_SESSION['n']);
        """
        with self.serve(handler, before="ini_set('session.save_path', $folder); ini_set('display_errors', '0');") as server:
            cookie = session_cookie(server.get("/"))
            with_id = {"Cookie": f"PHPSESSID={cookie}"}
            self.assertEqual(server.get("/fatal", headers=with_id).status, 500)
            self.assertEqual(server.get("/", headers=with_id).body, b"2")


class Superglobals(Case):
    HANDLER = """
        Coroutine::sleep(0.002);
        $child = null;
        $id = Apus\\go(function () use (&$child) { Coroutine::sleep(0.002); $child = $_GET['n']; $_GET = ['gone']; });
        Coroutine::join([$id]);
        $seen = [
            'get' => $_GET, 'post' => $_POST, 'cookie' => $_COOKIE, 'request' => $_REQUEST, 'files' => array_keys($_FILES), 'child' => $child,
            'server' => array_intersect_key($_SERVER, array_flip(['REQUEST_METHOD', 'REQUEST_URI', 'QUERY_STRING', 'HTTP_X_OWN', 'CONTENT_TYPE', 'HTTP_HOST', 'SERVER_NAME'])),
            'refused' => isset($_SERVER['HTTP_PROXY']) || isset($_SERVER['HTTP_X_FORGED']),
        ];
        $response->end(json_encode($seen));
    """

    def one(self, server, n, wrong):
        body = f"n=post{n}&p={n}"
        head = [f"POST /p?n={n}&g={n} HTTP/1.1", f"Host: h{n}.example:80", f"Cookie: c={n}", f"X-Own: {n}", "Proxy: evil", "X_Forged: 1", "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}", "Connection: close"]
        with server.connect() as client:
            client.send(("\r\n".join(head) + "\r\n\r\n" + body).encode())
            got = client.answer().json()
        text = str(n)
        expected = {
            "get": {"n": text, "g": text}, "post": {"n": f"post{n}", "p": text}, "cookie": {"c": text},
            "request": {"n": f"post{n}", "g": text, "p": text}, "files": [], "child": text,
            "server": {"REQUEST_METHOD": "POST", "REQUEST_URI": f"/p?n={n}&g={n}", "QUERY_STRING": f"n={n}&g={n}", "HTTP_X_OWN": text,
                       "CONTENT_TYPE": "application/x-www-form-urlencoded", "HTTP_HOST": f"h{n}.example:80", "SERVER_NAME": f"h{n}.example"},
            "refused": False,
        }
        if got != expected:
            wrong.append((got, expected))

    def test_files_are_told_as_behind_a_web_server(self):
        # Of a list each attribute is a list, as PHP has it since it has uploads.
        handler = """
            foreach ($_FILES as &$file) { unset($file['tmp_name'], $file['type']); }
            $response->end(json_encode($_FILES));
        """
        part = '--X\r\nContent-Disposition: form-data; name="{}"; filename="{}"\r\n\r\n{}\r\n'
        body = part.format("one", "a.txt", "a") + part.format("list[x][]", "b.txt", "bb") + part.format("list[x][]", "c.txt", "ccc")
        with self.serve(handler, settings={"superglobals": True}) as server:
            fields = {"Content-Type": "multipart/form-data; boundary=X"}
            told = server.get(body=f"{body}--X--\r\n".encode(), headers=fields).json()
        self.assertEqual(told, {
            "one": {"name": "a.txt", "full_path": "a.txt", "error": 0, "size": 1},
            "list": {"name": {"x": ["b.txt", "c.txt"]}, "full_path": {"x": ["b.txt", "c.txt"]}, "error": {"x": [0, 0]}, "size": {"x": [2, 3]}},
        })

    def test_they_are_those_of_the_request(self):
        with self.serve(self.HANDLER, settings={"superglobals": True}) as server:
            wrong = []
            threads = [threading.Thread(target=self.one, args=(server, n, wrong)) for n in range(VISITORS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE * 4)
            self.assertEqual(wrong, [])
            self.assertNotRegex(server.log(), "error|warning")

    def test_without_the_setting_they_are_the_process_s(self):
        with self.serve("$_GET['seen'] ??= $request->get['n']; $response->end(json_encode([$_GET, isset($_SERVER['REQUEST_URI'])]));") as server:
            self.assertEqual(server.get("/?n=1").json(), [{"seen": "1"}, False])
            self.assertEqual(server.get("/?n=2").json(), [{"seen": "1"}, False])

    def test_sessions_with_them(self):
        with self.serve(VISIT.replace("$request->get['who']", "$_GET['who']"), settings={"superglobals": True}, before="ini_set('session.save_path', $folder);") as server:
            Sessions.visit(self, server)

    visitor = Sessions.visitor


if __name__ == "__main__":
    unittest.main()
