"""Tables in a server: all workers share the rows, through crashes and reloads; the example, with its snapshot."""

import itertools
import json
import os
import signal
import tempfile

from support import ROOT, Case, alive, until

TABLE = """
$counts = new Apus\\Table(1000);
$counts->column('n', Apus\\Table::TYPE_INT);
$counts->column('text', Apus\\Table::TYPE_STRING, 100000);
$counts->create();
"""
HANDLER = """
    parse_str($request->server['query_string'] ?? '', $query);
    $answer = match ($path) {
        '/incr' => $counts->incr($query['key'], 'n'),
        '/set' => $counts->set($query['key'], ['text' => str_repeat('x', (int) $query['n'])]),
        '/get' => $counts->get($query['key']),
        '/worker' => $server->worker_pid,
    };
    $response->end(json_encode($answer));
"""


class Tables(Case):
    def server(self, workers):
        script = f"""<?php
{TABLE}
$server = new Apus\\Http\\Server('127.0.0.1', 0);
$server->set(['worker_num' => {workers}, 'blocked_loop_warn' => 0]);
$server->on('request', function ($request, $response) use ($server, $counts) {{
    $path = $request->server['request_uri'];
{HANDLER}
}});
$server->start();
"""
        return self.serve(script=script)

    def test_workers_share_rows(self):
        server = self.server(3)
        clients = {}

        def both():
            client = self.enterContext(server.connect())
            clients[client.request("GET", "/worker").json()] = client
            return len(clients) >= 2

        until("a connection in two workers", both)
        for count, client in enumerate(itertools.islice(itertools.cycle(clients.values()), 50), 1):
            self.assertEqual(client.request("GET", "/incr?key=a").json(), count)

    def test_rows_outlive_workers(self):
        server = self.server(1)
        server.get("/incr?key=a")
        server.get("/set?key=b&n=50000")
        for number in (signal.SIGKILL, signal.SIGTERM):
            worker = server.get("/worker").json()
            os.kill(worker, number)
            until("the worker's end", lambda worker=worker: not alive(worker))
            self.assertEqual(len(server.get("/get?key=b").json()["text"]), 50000)
        worker = server.get("/worker").json()
        server.kill(signal.SIGUSR1)
        until("new workers", lambda: server.get("/worker").json() != worker)
        self.assertEqual(server.get("/incr?key=a").json(), 2)

    def test_example(self):
        with tempfile.TemporaryDirectory(prefix="apus-e2e-") as folder:
            def start():
                script = f"<?php $argv = ['server.php', '0']; require {json.dumps(str(ROOT / 'examples/tables/server.php'))};"
                return self.serve(script=script, env={"TMPDIR": folder})

            def post(body):
                with server.connect() as client:
                    return client.request("POST", "/", body=body, headers={"Content-Type": "application/x-www-form-urlencoded"}).json()

            server = start()
            post(b"ann=5&bob=7")
            self.assertEqual(post(b"ann=3"), {"ann": {"score": 8}, "bob": {"score": 7}})
            self.assertEqual(server.get("/ann").json()["score"], 8)
            self.assertEqual(server.get("/nobody").json(), False)
            self.assertEqual(server.stop(), 0)
            server = start()
            self.assertEqual(list(server.get("/").json().items()), [("ann", {"score": 8}), ("bob", {"score": 7})])
