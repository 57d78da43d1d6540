"""Sending over streams: messages, files, and clients that do not read."""

import json
import unittest

from streams import EVAL, FLOOD, LINES, EvalCase, unread
from support import rss, until


class Sending(EvalCase):
    def test_why_a_send_fails(self):
        server = self.raw(EVAL, LINES)
        client = self.client(server)
        self.assertEqual(self.ask(client, "return [$server->send(99, 'x'), $server->getLastError() === Apus\\ERROR_SESSION_NOT_EXIST];"), [False, True])
        code = "$server->close($fd); return note(json_encode([$server->send($fd, 'x'), $server->getLastError() === Apus\\ERROR_SESSION_CLOSED]));"
        client.send(code.encode() + b"\n")
        server.noted("[false,true]")
        self.assertEqual(client.rest(), b"")

    def test_methods_need_a_worker(self):
        server = self.raw("""
            foreach (['send' => [1, 'x'], 'sendto' => ['127.0.0.1', 1, 'x'], 'sendfile' => [1, __FILE__], 'sendwait' => [1, 'x'], 'pause' => [1], 'resume' => [1],
                'confirm' => [1], 'protect' => [1], 'heartbeat' => [], 'bufferedAmount' => [1]] as $method => $args) {
                try { $server->$method(...$args); } catch (Apus\\Server\\Exception $e) { note($e->getCode() === Apus\\Server\\Exception::STATE ? $method : 'other'); }
            }
        """ + EVAL)
        self.assertEqual(server.notes(), ["send", "sendto", "sendfile", "sendwait", "pause", "resume", "confirm", "protect", "heartbeat", "bufferedAmount"])

    def test_files_between_messages(self):
        server = self.raw("""
            file_put_contents("$folder/file", str_repeat("0123456789", 500000));
            $server->on('receive', function ($server, $fd) use ($folder) {
                $ok = [$server->send($fd, 'before '), $server->sendfile($fd, "$folder/file"), $server->send($fd, ' between '),
                    $server->sendfile($fd, "$folder/file", 3, 4), $server->sendfile($fd, "$folder/file", 4999998), $server->send($fd, ' after')];
                note(json_encode($ok));
                $server->close($fd);
            });
        """)
        client = self.client(server)
        client.send(b"go")
        self.assertEqual(client.rest(), b"before " + b"0123456789" * 500_000 + b" between 345689 after")
        self.assertEqual(server.notes(), [json.dumps([True] * 6, separators=(",", ":"))])

    def test_files_that_cannot_be_sent(self):
        server = self.raw(EVAL, LINES)
        client = self.client(server)
        self.assertEqual(self.ask(client, "return [$server->sendfile($fd, __DIR__ . '/none'), $server->getLastError()];"), [False, 2])
        self.assertEqual(self.ask(client, "return [$server->sendfile($fd, __DIR__ . '/'), $server->getLastError()];"), [False, 22])
        # Whoever opens it waits for a writer.
        self.assertEqual(self.ask(client, "exec('mkfifo ' . __DIR__ . '/fifo'); return [$server->sendfile($fd, __DIR__ . '/fifo'), $server->getLastError()];"), [False, 22])
        self.assertEqual(self.ask(client, "return [$server->sendfile(99, $folder ?? '/etc/passwd'), $server->getLastError()];"), [False, 1005])
        for arguments in ("1 << 40", "-1", "0, 1 << 40", "0, -1"):
            self.assertIn("reach beyond it", self.ask(client, f"return $server->sendfile($fd, '{server.script}', {arguments});"))

    def test_sendwait_returns_when_the_kernel_has_all(self):
        server = self.raw(f"""
            $server->on('receive', function ($server, $fd, $workerId, $data) {{
                if ($data === 'amount') {{ return $server->send((int) file_get_contents(__DIR__ . '/fd'), ''); }}
                note('begin');
                $ok = $server->sendwait($fd, str_repeat('x', {FLOOD}));
                note(json_encode([$ok, $server->bufferedAmount($fd)]));
                note(json_encode($server->sendwait($fd, str_repeat('x', {FLOOD}))));
            }});
        """, LINES)
        client = self.client(server)
        client.send(b"go\n")
        server.noted("begin")
        self.assertEqual(server.notes(), ["begin"])
        client.exactly(FLOOD)
        server.noted("[true,0]")
        client.exactly(1)
        client.sock.close()
        server.noted("false")


class Pressure(EvalCase):
    """Clients that do not read."""

    SLOW = {**LINES, "buffer_output_size": "256K", "send_timeout": 0}

    def test_a_sender_waits_and_is_told_of_the_levels(self):
        server = self.raw(f"""
            $server->on('bufferfull', function (Server $server, int $fd) {{ note("full $fd " . json_encode($server->bufferedAmount($fd) >= 209715)); }});
            $server->on('bufferempty', function (Server $server, int $fd) {{ note("empty $fd " . json_encode($server->bufferedAmount($fd) <= 104858)); }});
            $server->on('receive', function ($server, $fd, $workerId, $data) {{
                for ($sent = 0; $sent < {FLOOD}; $sent += 65536) {{ if (!$server->send($fd, str_repeat($data, 65536))) {{ return note('lost'); }} }}
                note('all');
            }});
        """, self.SLOW)
        client = self.client(server)
        client.send(b"x\n")
        server.noted("full 4096 true")
        self.assertEqual(server.notes(), ["full 4096 true"])
        self.assertEqual(client.exactly(FLOOD), b"x" * FLOOD)
        server.noted("all")
        server.noted("empty 4096 true")
        self.assertEqual(set(server.notes()), {"full 4096 true", "empty 4096 true", "all"})

    def test_many_that_never_read_do_not_grow_the_worker(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) {
                if ($data === 'alive') { return $server->send($fd, "yes\\n"); }
                while ($server->send($fd, str_repeat('x', 16384))) {}
                note('gone');
            });
        """, {**self.SLOW, "buffer_output_size": "1M", "max_buffered_bytes": "8M"})
        worker = server.workers()[0]
        other = self.client(server)
        other.send(b"alive\n")
        self.assertEqual(other.exactly(4), b"yes\n")
        before = rss(worker)
        clients = [server.connect() for _ in range(60)]
        for client in clients:
            client.send(b"go\n")
        for client in clients:
            until("it waits to be read", lambda: not unread(client.sock))
        other.send(b"alive\n")
        self.assertEqual(other.exactly(4), b"yes\n")
        # 60 connections with 1 MiB each would be 60 MiB; coroutines and their stacks are in it.
        self.assertLess(rss(worker) - before, 30 << 20)
        for client in clients:
            client.sock.close()
        until("all senders end", lambda: server.notes().count("gone") == 60)

    def test_policies_that_lose(self):
        for policy, code in (("drop", "[false,1009]"), ("close", "[false,1009]")):
            server = self.raw("""
                $server->on('receive', function ($server, $fd) {
                    while ($server->send($fd, str_repeat('x', 65536))) {}
                    note(json_encode([false, $server->getLastError()]));
                });
                $server->on('close', function () { note('close'); });
            """, {**self.SLOW, "send_policy": policy})
            client = self.client(server)
            client.send(b"go\n")
            server.noted(code)
            if policy == "close":
                server.noted("close")
            else:
                self.assertNotIn("close", server.notes())

    def test_outside_coroutines_what_has_no_room_is_lost(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd) {
                while ($server->send($fd, str_repeat('x', 65536))) {}
                note((string) $server->getLastError());
            });
        """, {**self.SLOW, "enable_coroutine": False})
        client = self.client(server)
        client.send(b"go\n")
        server.noted("1009")

    def test_a_client_that_takes_nothing_is_dropped_after_send_timeout(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd) {
                while ($server->send($fd, str_repeat('x', 65536))) {}
                note('gone ' . $server->getLastError());
            });
        """, {**self.SLOW, "send_timeout": 0.5})
        client = self.client(server)
        client.send(b"go\n")
        server.noted("gone 1004")


if __name__ == "__main__":
    unittest.main()
