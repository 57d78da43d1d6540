"""What a server's own code does to its life: closing inside a request, stopping inside workerstart, orders from every
kind of process."""

import json
import socket

from support import PATIENCE, Case, until
from websocket_cases import WebSocketCase

# Every message is code: "user" or "task" says who runs it.
ORDERS = r"""
$port = $server->listen('127.0.0.1', 0, Apus\SOCK_TCP);
$port->set(['open_websocket_protocol' => false, 'open_http_protocol' => false]);
$port->on('receive', fn ($server, $fd) => $server->send($fd, $fd . "\n"));
function run($server, string $text): void
{
    [$fd, , $code] = explode(' ', $text, 3);
    try {
        $result = eval($code);
    } catch (Throwable $e) {
        $result = get_class($e) . ': ' . $e->getMessage();
    }
    if (!$server->push((int) $fd, '=' . json_encode($result))) {
        error_log("push failed: {$server->getLastError()}");
    }
}
$user = new Apus\Process(function (Apus\Process $process) use ($server) {
    COROUTINE && $socket = $process->exportSocket();
    while (true) {
        run($server, COROUTINE ? $socket->recv(65535, -1) : $process->read());
    }
}, false, 2, COROUTINE);
$server->addProcess($user);
$server->on('open', fn ($server, $request) => $server->push($request->fd, json_encode([$request->fd, $server->worker_id])));
$server->on('message', function ($server, $frame) use ($user) {
    $order = "$frame->fd $frame->data";
    str_starts_with($frame->data, 'user') ? $user->write($order) : $server->task($order);
});
$server->on('task', fn ($server, ...$task) => run($server, $task[0] instanceof Apus\Server\Task ? $task[0]->data : $task[2]));
$server->on('pipemessage', fn ($server, $from, $message) => $server->push($message['fd'], "from $from in $server->worker_id"));
"""


class Orders(WebSocketCase):
    def check(self, who, coroutine):
        code = ORDERS.replace("COROUTINE", "true" if coroutine else "false")
        settings = {"worker_num": 2, "task_worker_num": 1, "task_enable_coroutine": coroutine, "ring_size": 65536}
        server = self.websockets(code, settings=settings)
        ws = self.join(server)
        fd, worker = json.loads(ws.text())

        def php(code):
            ws.say(f"{who} {code}")
            got = []
            while not (text := ws.text()).startswith("="):
                got.append(text)
            return got, json.loads(text[1:])

        def pushed(count):
            return php(f"$bad = 0; for ($i = 0; $i < {count}; $i++) {{ $bad += !$server->push({fd}, \"message $i\"); }} return $bad;")

        self.assertEqual(php(f"return [$server->exist({fd}), $server->isEstablished({fd}), $server->exist(1), $server->push(1, 'x'), $server->getLastError()];"), ([], [True, True, False, False, 1005]))
        self.assertEqual(pushed(3), ([f"message {i}" for i in range(3)], 0))
        # More than the ring holds: whoever can wait, waits.
        if who == "user" or coroutine:
            self.assertEqual(pushed(20_000), ([f"message {i}" for i in range(20_000)], 0))
        port = int(server.ready["listen"][1].rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as stream:
            stream.sendall(b"who?")
            reader = stream.makefile("rb")
            other = int(reader.readline())
            self.assertEqual(php(f"return [$server->send({other}, \"hello\\n\"), $server->close({other})];"), ([], [True, True]))
            self.assertEqual(reader.readline(), b"hello\n")
            self.assertEqual(reader.read(), b"")
        until("it is gone", lambda: php(f"return [$server->exist({other}), $server->close({other})];")[1] == [False, False])
        ids = {"user": 3, "task": 2}
        for to in range(2):
            ws.say(f"{who} return $server->sendMessage(['fd' => {fd}], {to});")
            self.assertEqual(sorted([ws.text(), ws.text()]), ["=true", f"from {ids[who]} in {to}"])
        self.assertEqual(server.stop(), 0)

    def test_from_user_processes_that_block(self):
        self.check("user", False)

    def test_from_user_processes_with_coroutines(self):
        self.check("user", True)

    def test_from_task_workers_that_block(self):
        self.check("task", False)

    def test_from_task_workers_with_coroutines(self):
        self.check("task", True)


class Life(Case):
    def test_closing_inside_a_request_lets_its_answer_out(self):
        server = self.serve(
            """
    if ($path === '/late') { Coroutine::sleep(0.01); }
    if ($path === '/parts') { $response->write('first '); $server->close($request->fd); Coroutine::sleep(0.01); $response->write('second'); $response->end(' third'); return; }
    echo json_encode($server->close($request->fd));
    if ($path === '/then') { Coroutine::sleep(0.01); }
    $response->end(str_repeat('x', 300_000));
"""
        )
        for path, body in (("/", b"x" * 300_000), ("/then", b"x" * 300_000), ("/late", b"x" * 300_000), ("/parts", b"first second third")):
            with server.connect() as client:
                answer = client.request("GET", path)
                self.assertEqual((answer.status, answer.body), (200, body), path)
                self.assertTrue(client.closed(), path)

    def births(self, server):
        path = server.folder / "born"
        return path.read_text().split() if path.exists() else []

    def starts(self, code, **settings):
        """Each start of a worker notes its id; `code` runs in the first of worker 0."""
        return self.serve(
            settings={"worker_num": 2, **settings},
            before=f"""
$server->on('workerstart', function ($server, $id) use ($folder) {{
    file_put_contents("$folder/born", "$id\\n", FILE_APPEND);
    if ($id === 0 && !file_exists("$folder/once")) {{
        touch("$folder/once");
        {code}
    }}
}});
""",
        )

    def test_stop_inside_workerstart(self):
        server = self.starts("$server->stop();")
        until("the next worker 0", lambda: sorted(self.births(server)) == ["0", "0", "1"])
        self.assertEqual(server.get().body, b"ok")
        self.assertEqual(server.stop(), 0)

    def test_stop_by_another_during_workerstart(self):
        server = self.serve(
            settings={"worker_num": 2},
            before="""
$server->on('workerstart', function ($server, $id) use ($folder) {
    file_put_contents("$folder/born", "$id\\n", FILE_APPEND);
    if (count(file("$folder/born")) > 2) { return; }
    if ($id === 0) {
        while (!file_exists("$folder/asked")) { Apus\\Coroutine::sleep(0.01); }
    } else {
        while (!in_array("0\\n", file("$folder/born"))) { Apus\\Coroutine::sleep(0.01); }
        $server->stop(0);
        touch("$folder/asked");
    }
});
""",
        )
        until("the next worker 0", lambda: sorted(self.births(server)) == ["0", "0", "1"])
        self.assertEqual(server.stop(), 0)

    def test_reload_inside_workerstart(self):
        server = self.starts("$server->reload();")
        until("all workers once more", lambda: sorted(self.births(server)) == ["0", "0", "1", "1"])
        self.assertEqual(server.stop(), 0)
