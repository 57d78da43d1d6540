"""Stream connections of several workers: sending to any of them, reload, a worker that dies."""

import json
import os
import signal
import unittest

from streams import EVAL, LINES, EvalCase, read_json, unread
from support import until


class Workers(EvalCase):
    def spread(self, server, count=2):
        """A client of each worker: its connection, with its session id, by worker id."""
        found = {}

        def look():
            client = self.client(server)
            worker, fd = self.ask(client, "return [$workerId, $fd];")
            found.setdefault(worker, (client, fd))
            return len(found) == count
        until("a connection of every worker", look)
        return found

    def test_connections_of_other_workers(self):
        server = self.raw("""
            $server->on('close', function ($server, $fd) { note("close $fd {$server->worker_id}"); });
        """ + EVAL, {**LINES, "worker_num": 2})
        (here, mine), (there, theirs) = (found := self.spread(server))[0], found[1]
        self.assertTrue(self.ask(here, f"return $server->send({theirs}, \"from afar\\n\");"))
        self.assertEqual(there.exactly(10), b"from afar\n")
        self.assertEqual(self.ask(here, f"return $server->getClientInfo({theirs})['worker_id'];"), 1)
        self.assertTrue(self.ask(here, f"return $server->pause({theirs});"))
        # The pause has arrived before what is sent after it.
        self.assertTrue(self.ask(here, f"return $server->send({theirs}, \"paused\\n\");"))
        self.assertEqual(there.exactly(7), b"paused\n")
        there.send(b"return 'late';\n")
        until("the data is there", lambda: unread(there.sock) == 15)
        self.assertTrue(self.ask(here, f"return $server->resume({theirs});"))
        self.assertEqual(read_json(there), "late")
        self.assertEqual(self.ask(here, f"return [$server->sendwait({theirs}, 'x'), $server->getLastError()];"), [False, 1005])
        self.assertTrue(self.ask(here, f"return $server->close({theirs});"))
        self.assertEqual(there.rest(), b"")
        there.sock.close()
        server.noted(f"close {theirs} 1")
        self.assertEqual(self.ask(here, "return $server->send($fd, '');"), True)

    def test_large_and_many_messages_to_another_worker_keep_their_order(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                if ($data === 'who') { return $server->send($fd, "[$workerId,$fd]\\n"); }
                $data = json_decode($data);
                for ($i = 0; $i < $data->count; $i++) { if (!$server->send($data->fd, str_pad((string) $i, $data->size) . ";")) { note('lost'); } }
                note('sent');
            });
        """, {**LINES, "worker_num": 2, "buffer_output_size": "256K"})
        found = {}

        def look():
            client = self.client(server)
            client.send(b"who\n")
            worker, fd = read_json(client)
            found.setdefault(worker, (client, fd))
            return len(found) == 2
        until("a connection of every worker", look)
        for count, size in ((2000, 100), (5, 3_000_000)):
            found[0][0].send(json.dumps({"fd": found[1][1], "count": count, "size": size}).encode() + b"\n")
            data = found[1][0].exactly(count * (size + 1)).split(b";")
            self.assertEqual([int(part) for part in data[:-1]], list(range(count)))
        self.assertNotIn("lost", server.notes())

    def test_a_reload_with_open_connections(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                if ($data === 'slow') { note('slow begins'); while (!file_exists(__DIR__ . '/go')) { Coroutine::sleep(0.01); } }
                $server->send($fd, "$data " . getmypid() . "\\n");
            });
            $server->on('close', function ($server, $fd) { note("close " . getmypid()); });
        """, {**LINES, "worker_num": 1})
        old = server.workers()[0]
        slow, idle = self.client(server), self.client(server)
        slow.send(b"slow\n")
        server.noted("slow begins")
        server.kill(signal.SIGUSR1)
        until("a new worker", lambda: any(pid != old for pid in server.workers()))

        def fresh():
            with server.connect() as client:
                client.send(b"new\n")
                return client_line(client)
        answer = until("the new worker serves", lambda: (line := fresh()) and (int(line.split()[1]) != old) and line)
        self.assertTrue(answer.startswith(b"new "))
        # An idle connection is closed; one that waits for an answer gets it first.
        self.assertEqual(idle.rest(), b"")
        (server.folder / "go").touch()
        self.assertEqual(slow.rest(), f"slow {old}\n".encode())
        until("the old worker leaves", lambda: old not in server.workers())

    def test_a_client_that_goes_on_asking_does_not_hold_a_leaving_worker(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) { Coroutine::sleep(0.2); $server->send($fd, "$data\\n"); });
        """, {**LINES, "max_wait_time": 3600})
        old, client = server.workers()[0], self.client(server)
        # Its answer tells that the old worker has accepted it, not the one that comes.
        client.send(b"x\n")
        self.assertEqual(client.sock.recv(2), b"x\n")
        client.sock.settimeout(0.02)
        server.kill(signal.SIGUSR1)
        sent, data = 0, b""

        def ended():
            nonlocal sent, data
            try:
                client.send(b"x\n")
                sent += 1
                part = client.sock.recv(65536)
                data += part
                return not part
            except TimeoutError:
                return False
            except ConnectionError:
                return True
        until("the connection ends", ended)
        client.sock.close()
        until("the old worker leaves", lambda: old not in server.workers())
        self.assertGreater(len(data) // 2, 0)

    def test_a_worker_that_is_killed_has_its_connections_closed(self):
        server = self.raw(EVAL, {**LINES, "worker_num": 2})
        found = self.spread(server)
        (here, _), (there, theirs) = found[0], found[1]
        pid = self.ask(there, "return getmypid();")
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(there.rest(), b"")
        until("it is known", lambda: not self.ask(here, f"return $server->exist({theirs});"))
        self.assertEqual(self.ask(here, f"return [$server->send({theirs}, 'x'), $server->getLastError()];"), [False, 1005])


def client_line(client):
    while b"\n" not in client.buffer:
        try:
            client.more()
        except (EOFError, ConnectionResetError):
            return b""
    return client.buffer.split(b"\n", 1)[0]


if __name__ == "__main__":
    unittest.main()
