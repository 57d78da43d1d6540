"""The operating system inside a server's workers: children, signals, events; and that a worker still leaves and
reloads."""

import os
import signal

from support import Case, alive, until


class Workers(Case):
    def test_signals_that_a_coroutine_waits_for_reach_it_and_those_of_the_server_the_server(self):
        server = self.serve("""
    switch ($path) {
        case '/wait':
            touch("$folder/waiting");
            $response->end(json_encode(Coroutine\\System::waitSignal([SIGUSR2, SIGTERM])));
            return;
        case '/out':
            $response->end(json_encode([Coroutine\\System::waitSignal(SIGTERM, 0.01), Apus\\last_error()]));
            return;
    }
    $response->end((string) getmypid());
    """)
        worker = int(server.get("/").body)
        for number in (signal.SIGUSR2, signal.SIGTERM):
            with server.connect() as client:
                client.send(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
                until("the coroutine waits", lambda: (server.folder / "waiting").exists())
                # The mark comes before the wait, by the same turn of the loop: answered only after both.
                server.get("/")
                os.kill(worker, number)
                self.assertEqual(client.answer().json(), number)
            (server.folder / "waiting").unlink()
            self.assertEqual(int(server.get("/").body), worker)
        self.assertEqual(server.get("/out").json(), [False, 110])
        # Nobody waits now: the signals mean what they mean to a server.
        server.kill(signal.SIGUSR1)
        until("a new worker", lambda: int(server.get("/").body) != worker)
        until("the old one has left", lambda: not alive(worker))
        worker = int(server.get("/").body)
        os.kill(worker, signal.SIGTERM)
        until("a new worker", lambda: int(server.get("/").body) != worker)
        self.assertEqual(server.stop(), 0)

    def test_commands_leave_no_children_behind(self):
        server = self.serve("""
    if ($path === '/children') {
        $response->end(file_get_contents('/proc/self/task/' . getmypid() . '/children'));
        return;
    }
    if ($path === '/give-up') {
        $id = Apus\\go(fn() => Coroutine\\System::exec('echo x > ' . $folder . '/runs; exec sleep 1000'));
        while (!file_exists("$folder/runs")) {
            Coroutine::sleep(0.002);
        }
        Coroutine::cancel($id);
        $response->end('given up');
        return;
    }
    $response->end(json_encode(Coroutine\\System::exec('while read -r name value; do [ "$name" != SigBlk: ] || echo "$name $value"; done < /proc/$$/status; exit 5')));
    """)
        result = server.get("/").json()
        self.assertEqual((result["code"], result["signal"]), (5, 0))
        # A command starts with no signal blocked; the shell, which blocks some to start another program, reads it
        # itself.
        self.assertEqual(int(result["output"].split()[1], 16), 0)
        self.assertEqual(server.get("/give-up").body, b"given up")
        until("no child is left", lambda: server.get("/children").body.strip() == b"")
        self.assertEqual(server.stop(), 0)

    def test_a_worker_with_watched_descriptors_serves_and_leaves(self):
        server = self.serve(
            """
    $response->end((string) Watch::$got);
    """,
            before="""
final class Watch { public static string $got = ''; public static array $pair = []; }
$server->on('workerstart', function () {
    [$a, $b] = Watch::$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    Apus\\Event::add($a, function ($a) { Watch::$got .= fread($a, 100); });
    Apus\\Event::cycle(function () {});
    Apus\\Event::defer(fn() => fwrite($b, 'from workerstart'));
});
""",
        )
        until("the event came", lambda: server.get("/").body == b"from workerstart")
        old = server.workers()
        server.kill(signal.SIGUSR1)
        until("the old worker has left", lambda: not any(alive(pid) for pid in old))
        until("the event came anew", lambda: server.get("/").body == b"from workerstart")
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("uncaught", server.log())

    def test_an_exception_of_a_callback_does_not_end_the_worker(self):
        server = self.serve("""
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $id = Coroutine::getCid();
    Apus\\Event::add($a, function ($a) use ($id) {
        fread($a, 1);
        Apus\\Event::del($a);
        Apus\\Event::defer(fn() => Coroutine::resume($id));
        throw new LogicException('thrown in a callback');
    });
    fwrite($b, 'x');
    $response->end(json_encode([getmypid(), Coroutine::yield()]));
    """)
        first, second = server.get("/").json(), server.get("/").json()
        self.assertEqual(first, second)
        self.assertTrue(first[1])
        until("the log tells", lambda: server.log().count("thrown in a callback") >= 2)
        self.assertEqual(server.stop(), 0)
