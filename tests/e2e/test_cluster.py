"""What workers know of each other's connections."""

import os
import signal

from support import Case, until

ASK = """
$fd = (int) ($request->get['fd'] ?? 0);
$response->header('X-Worker', (string) $server->worker_id);
$response->header('X-Fd', (string) $request->fd);
$response->end(json_encode(match ($path) {
    '/exist' => $server->exist($fd),
    '/info' => $server->getClientInfo($fd),
    '/list' => $server->getClientList(0, 1000),
    '/page' => $server->getClientList($fd, 2),
    '/close' => $server->close($fd),
    '/reset' => $server->close($fd, true),
    '/count' => count($server->connections),
    '/stats' => $server->stats(),
    default => null,
}));
"""


class TwoWorkers(Case):
    def pair(self, **options):
        """A server, and a connection to each of its two workers."""
        server = self.serve(ASK, settings={"worker_num": 2}, **options)
        found, held = {}, []

        def search():
            # Connections that are held keep a worker from taking all of them.
            client = self.enterContext(server.connect())
            answer = client.request()
            held.append(client)
            found.setdefault(answer.headers["x-worker"], (client, int(answer.headers["x-fd"])))
            return len(found) == 2
        until("both workers have a connection", search)
        return server, found["0"], found["1"], held

    def test_exist_and_info_of_the_other_workers_connection(self):
        server, (one, fd_one), (two, fd_two), held = self.pair()
        for asks, about, worker in ((one, fd_two, 1), (two, fd_one, 0), (one, fd_one, 0)):
            self.assertIs(asks.request(path=f"/exist?fd={about}").json(), True)
            info = asks.request(path=f"/info?fd={about}").json()
            self.assertEqual((info["remote_ip"], info["worker_id"], info["server_port"]), ("127.0.0.1", worker, server.port))
        self.assertEqual(one.request(path=f"/info?fd={fd_two}").json()["remote_port"], two.sock.getsockname()[1])
        self.assertIs(one.request(path="/exist?fd=99999").json(), False)
        self.assertEqual(one.request(path="/count").json(), len(held))

    def test_list_and_pages(self):
        _, (one, fd_one), (two, fd_two), held = self.pair()
        everything = one.request(path="/list").json()
        self.assertEqual(everything, two.request(path="/list").json())
        self.assertEqual((everything, len(everything)), (sorted(everything), len(held)))
        self.assertLessEqual({fd_one, fd_two}, set(everything))
        paged, last = [], 0
        while page := one.request(path=f"/page?fd={last}").json():
            self.assertLessEqual(len(page), 2)
            paged += page
            last = page[-1]
        self.assertEqual(paged, everything)

    def test_close_across_workers(self):
        for how in ("/close", "/reset"):
            with self.subTest(how):
                _, (one, _), (two, fd_two), _ = self.pair()
                self.assertIs(one.request(path=f"{how}?fd={fd_two}").json(), True)
                self.assertTrue(two.closed())
                two.sock.close()
                until("it is gone", lambda: one.request(path=f"/exist?fd={fd_two}").json() is False)
                self.assertIs(one.request(path=f"{how}?fd={fd_two}").json(), False)

    def test_a_killed_workers_connections_vanish_from_the_table(self):
        server, (one, _), (two, fd_two), _ = self.pair()
        pid = next(w["pid"] for w in one.request(path="/stats").json()["workers"] if w["id"] == 1)
        os.kill(pid, signal.SIGKILL)
        until("the table is clean", lambda: one.request(path=f"/exist?fd={fd_two}").json() is False)

    def test_stats_of_all_workers(self):
        server, (one, _), (two, _), held = self.pair()
        for _ in range(10):
            one.request()
            two.request()
        stats = until(
            "all is counted",
            lambda: (s := one.request(path="/stats").json())["request_count"] >= 20 + len(held)
            and s["connection_num"] == len(held)
            # Each worker tells its totals in its own time: both have when these add up.
            and s["accept_count"] - s["close_count"] == len(held)
            and s["total_recv_bytes"] > 600
            and s,
        )
        self.assertEqual((stats["worker_num"], len(stats["workers"]), stats["error_count"]), (2, 2, 0))
        self.assertGreater(stats["latency_p99_us"], 0)
        self.assertGreater(stats["total_send_bytes"], stats["total_recv_bytes"])

    def test_connect_and_close_events(self):
        server, (one, _), (two, fd_two), held = self.pair(before="""
        foreach (['connect', 'close'] as $event) {
            $server->on($event, fn ($server, $fd, $worker) => file_put_contents("$folder/events", "$event $fd $worker\\n", FILE_APPEND | LOCK_EX));
        }""")
        two.sock.close()
        held.remove(two)
        events = lambda: (server.folder / "events").read_text().splitlines()
        until("the close event", lambda: f"close {fd_two} 1" in events())
        self.assertIn(f"connect {fd_two} 1", events())
        self.assertEqual(sum(e.startswith("connect") for e in events()), len(held) + 1)


class Limits(Case):
    def test_max_connection_keeps_the_rest_waiting(self):
        server = self.serve(settings={"max_connection": 3})
        three = [server.connect() for _ in range(3)]
        for client in three:
            self.assertEqual(client.request().status, 200)
        with server.connect() as fourth:
            fourth.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            fourth.sock.settimeout(0.3)
            with self.assertRaises(TimeoutError):
                fourth.more()
            three[0].sock.close()
            fourth.sock.settimeout(30)
            self.assertEqual(fourth.answer().status, 200)
        self.assertIn("max_connection", server.log())

    def test_max_concurrency_keeps_the_rest_waiting(self):
        server = self.serve("static $now = 0, $most = 0; $most = max($most, ++$now); Coroutine::sleep(0.02); $now--; $response->end((string) $most);", settings={"max_concurrency": 2})
        clients = [server.connect() for _ in range(10)]
        for client in clients:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(max(int(client.answer().body) for client in clients), 2)

    def test_a_client_that_leaves_the_queue_takes_no_place(self):
        server = self.serve("if ($path === '/first') { touch(\"$folder/first\"); Coroutine::sleep(0.6); } $response->end('ok');", settings={"max_concurrency": 1})
        with server.connect() as first, server.connect() as last:
            first.send(b"GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
            until("the place is taken", lambda: (server.folder / "first").exists())
            for _ in range(5):
                with server.connect() as gone:
                    gone.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            last.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertEqual(first.answer().body, b"ok")
            self.assertEqual(last.answer().body, b"ok")

    def test_max_coroutine_answers_503(self):
        server = self.serve("if ($path === '/many') { try { for (;;) { Apus\\go(fn () => Coroutine::sleep(5)); } } catch (Apus\\Coroutine\\Exception $e) { file_put_contents(\"$folder/full\", '1'); } Coroutine::sleep(0.3); } $response->end('ok');", settings={"max_coroutine": 50})
        with server.connect() as client:
            client.send(b"GET /many HTTP/1.1\r\nHost: a\r\n\r\n")
            until("it is full", lambda: (server.folder / "full").exists())
            self.assertEqual(server.get().status, 503)
            self.assertEqual(client.answer().status, 200)
