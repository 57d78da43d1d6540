"""Any connection from any worker: orders, messages between workers, users and topics, and what death does to them."""

import json
import os
import signal
import unittest

from routing_cases import RoutingCase
from streams import RawCase
from support import rss, until
from websocket_cases import BINARY, CLOSE, TEXT

NOT_EXIST = 1005


def standing(count):
    """The number once it is above 0 and stands still: who counts waits."""
    last = [-1]

    def stands():
        now = count()
        stood = now == last[0] > 0
        last[0] = now
        return stood

    until("the count stands still", stands)
    return last[0]


class Orders(RoutingCase):
    def test_every_worker_reaches_every_connection(self):
        server = self.cluster(4)
        members = [member for some in self.members(server, 4) for member in some]
        for sender in members:
            for receiver in members:
                word = f"{sender.worker} to {receiver.worker}"
                done = sender.php("return [$server->exist($fd), $server->isEstablished($fd), $server->push($fd, $word), $server->getClientInfo($fd)];", fd=receiver.fd, word=word)
                self.assertEqual(done[:3], [True, True, True])
                self.assertEqual((done[3]["worker_id"], done[3]["remote_port"]), (receiver.worker, receiver.ws.sock.getsockname()[1]))
                self.assertEqual(receiver.text(), word)

    def test_frames_of_every_kind_cross(self):
        server = self.cluster(2)
        [[one], [two]] = self.members(server, 2)
        bytes_ = bytes(range(256)).hex()
        self.assertEqual(two.php("return [$server->push($fd, hex2bin($hex), WEBSOCKET_OPCODE_BINARY), $server->ping($fd, 'there?'), $server->push($fd, 'a', 1, 0), $server->push($fd, 'b', 0, 1), $server->tryPush($fd, 'tried')];".replace("WEBSOCKET", "Apus\\WEBSOCKET"), fd=one.fd, hex=bytes_), [True] * 4 + [2])
        self.assertEqual(one.ws.message(), (BINARY, bytes(range(256))))
        self.assertEqual([one.ws.message(), one.ws.message()], [(TEXT, b"ab"), (TEXT, b"tried")])
        self.assertEqual(one.ws.controls, [(9, b"there?")])

    def test_closing_stands_behind_what_was_sent_before(self):
        server = self.cluster(2)
        [[one, three], [two, _]] = self.members(server, 2, 2)
        code = "for ($i = 0; $i < 1000; $i++) $server->push($fd, \"$i\"); return $server->disconnect($fd, 4001, 'enough');"
        self.assertTrue(two.php(code, fd=one.fd))
        self.assertEqual([one.text() for _ in range(1000)], [str(i) for i in range(1000)])
        self.assertEqual(one.ws.closed(), (4001, "enough"))
        until("it is gone everywhere", lambda: two.php("return [$server->exist($fd), $server->push($fd, 'x'), $server->getLastError(), $server->tryPush($fd, 'x'), $server->disconnect($fd)];", fd=one.fd) == [False, False, NOT_EXIST, -1, False])
        self.assertTrue(two.php("return $server->close($fd);", fd=three.fd))
        self.assertEqual(three.ws.closed()[0], 1000)

    def test_a_reset_is_at_once(self):
        server = self.cluster(2)
        [[one], [two]] = self.members(server, 2)
        self.assertTrue(two.php("return $server->close($fd, true);", fd=one.fd))
        self.assertEqual(one.ws.rest(), b"")

    def test_a_hundred_thousand_pushes_through_a_small_ring(self):
        count = 100_000
        server = self.cluster(2, settings={"ring_size": 65536})
        [[one], [two]] = self.members(server, 2)
        two.begin("$bad = 0; for ($i = 0; $i < $count; $i++) { $bad += !$server->push($fd, \"message $i\"); } return $bad;", fd=one.fd, count=count)
        for i in range(count):
            self.assertEqual(one.text(), f"message {i}")
        self.assertEqual(two.result(), 0)

    def test_small_and_large_messages_keep_their_order(self):
        server = self.cluster(2, settings={"ring_size": 65536})
        [[one], [two]] = self.members(server, 2)
        code = """
            $all = [];
            for ($c = 0; $c < 8; $c++) {
                $all[] = go(function () use ($server, $fd, $c) {
                    for ($i = 0; $i < 20; $i++) {
                        $server->push($fd, json_encode([$c, $i, str_repeat(chr(65 + $c), $i % 3 ? 10 : 200_000)]));
                    }
                });
            }
            return Coroutine::join($all);
        """
        two.begin(code, fd=one.fd)
        seen = {c: [] for c in range(8)}
        for _ in range(160):
            c, i, data = json.loads(one.text())
            self.assertEqual(data, chr(65 + c) * (10 if i % 3 else 200_000))
            seen[c].append(i)
        self.assertEqual(seen, {c: list(range(20)) for c in range(8)})
        self.assertTrue(two.result())

    def test_coroutines_that_wait_for_room_are_not_overtaken(self):
        server = self.cluster(2, settings={"ring_size": 65536})
        [[one], [two]] = self.members(server, 2)
        # The receiver's process is busy, so the ring fills; then it drains while more is sent.
        one.begin("$end = hrtime(true) + 3e8; while (hrtime(true) < $end); return 1;")
        two.begin("for ($i = 0; $i < 6000; $i++) { go(fn () => $server->push($fd, $i . str_repeat('.', $i % 700 ? 100 : 80_000))); if ($i % 100 === 0) Coroutine::sleep(0.001); } return 1;", fd=one.fd)
        self.assertEqual([int(one.text().rstrip(".")) for _ in range(6000)], list(range(6000)))
        self.assertEqual([one.result(), two.result()], [1, 1])

    def test_five_megabytes_both_ways(self):
        server = self.cluster(2)
        [[one], [two]] = self.members(server, 2)
        for sender, receiver in ((one, two), (two, one)):
            sender.begin("return $server->push($fd, str_repeat('0123456789', 500_000));", fd=receiver.fd)
            self.assertEqual(receiver.text(), "0123456789" * 500_000)
            self.assertTrue(sender.result())
        self.assertEqual(two.php("return [$server->push($fd, str_repeat('x', 9 << 20)), $server->getLastError()];", fd=one.fd), [False, 1203])

    def test_outside_a_coroutine_a_full_ring_says_so(self):
        server = self.cluster(2, settings={"ring_size": 65536})
        [[one], [two]] = self.members(server, 2)
        # The receiver's process sleeps in one piece, so its ring fills.
        one.begin("$end = hrtime(true) + 1.0e9; while (hrtime(true) < $end); return 1;")
        code = """
            $told = new Coroutine\\Channel(1);
            Apus\\Timer::after(1, function () use ($server, $fd, $told) {
                for ($sent = 0; $server->tryPush($fd, str_repeat('x', 1000)) === 2; $sent++);
                $told->push([$sent, $server->tryPush($fd, 'x'), $server->getLastError()]);
            });
            return $told->pop();
        """
        sent, tried, error = two.php(code, fd=one.fd)
        self.assertEqual((tried, error), (0, 506))
        self.assertTrue(30 < sent < 70, sent)
        self.assertEqual([len(one.text()) for _ in range(sent)], [1000] * sent)
        self.assertEqual(one.result(), 1)

    def test_a_slow_reader_makes_remote_senders_wait(self):
        server = self.cluster(2, settings={"buffer_output_size": 200_000, "ring_size": 65536})
        [[one, _], [two, other]] = self.members(server, 2, 2)
        count = 3000
        two.begin("$n = 0; for ($i = 0; $i < $count; $i++) { $n += $server->push($fd, \"$i\" . str_repeat('.', 10_000)); $GLOBALS['pushed'] = $i; } return $n;", fd=one.fd, count=count)
        # 30 MB: more than the buffers of kernel, connection and ring together.
        self.assertLess(standing(lambda: other.php("return $GLOBALS['pushed'] ?? 0;")), count - 1)
        for i in range(count):
            self.assertEqual(one.text(), str(i) + "." * 10_000)
        self.assertEqual(two.result(), count)

    def test_slow_readers_of_remote_senders_do_not_fill_a_worker(self):
        server = self.cluster(2, settings={"buffer_output_size": 1 << 20, "max_buffered_bytes": 4 << 20})
        [[probe], [two]] = self.members(server, 2)
        slow = []
        while len(slow) < 16:
            member = self.member(server, receive_buffer=4096)
            if member.worker == probe.worker:
                slow.append(member)
        pid = two.php("return $server->getWorkerPid($id);", id=probe.worker)
        before = rss(pid)
        # 8 MB for each, more than the kernel takes.
        two.begin("$GLOBALS['n'] = 0; $all = []; foreach ($fds as $fd) $all[] = go(function () use ($server, $fd) { for ($i = 0; $i < 160; $i++) { if ($server->push($fd, $i . str_repeat('.', 50_000))) $GLOBALS['n']++; } }); return Coroutine::join($all) ? $GLOBALS['n'] : 0;", fds=[m.fd for m in slow])
        watcher = self.member(server)
        while watcher.worker != two.worker:
            watcher = self.member(server)
        self.assertLess(standing(lambda: watcher.php("usleep(100_000); return $GLOBALS['n'] ?? 0;")), 16 * 160)
        self.assertLess(rss(pid) - before, 40 << 20)
        for member in slow:
            for i in range(160):
                self.assertEqual(member.text(), str(i) + "." * 50_000)
        self.assertEqual(two.result(), 16 * 160)

    def test_send_policy_holds_for_remote_senders(self):
        for policy in ("drop", "close"):
            with self.subTest(policy):
                server = self.cluster(2, settings={"buffer_output_size": 200_000, "send_policy": policy})
                [[one], [two]] = self.members(server, 2)
                code = """
                    for ($i = 0; $i < 10_000; $i++) {
                        if (!$server->push($fd, str_repeat('.', 10_000))) return $server->getLastError();
                        if ($i % 50 === 0) Coroutine::sleep(0.001);
                    }
                    return 0;
                """
                self.assertIn(two.php(code, fd=one.fd), (1009,) if policy == "drop" else (1009, NOT_EXIST))
                if policy == "close":
                    until("it is closed", lambda: not two.php("return $server->exist($fd);", fd=one.fd))
                else:
                    self.assertTrue(two.php("return $server->exist($fd);", fd=one.fd))


STREAMS = r"""
$server->on('connect', fn ($server, $fd) => $server->send($fd, json_encode([$fd, $server->getWorkerId()]) . "\n"));
$server->on('receive', function ($server, $fd, $worker, $data) {
    $server->send($fd, json_encode(eval($data)) . "\n");
});
"""


class Streams(RawCase):
    def setUp(self):
        self.server = self.raw(STREAMS, {"worker_num": 2, "open_eof_split": True, "package_eof": "\n", "package_max_length": 1 << 20})
        self.clients = {}

        def enough():
            client = self.client(self.server)
            fd, worker = json.loads(self.line(client))
            self.clients.setdefault(worker, (client, fd))
            return len(self.clients) == 2
        until("a connection in each worker", enough)
        (self.one, self.fd), (self.two, self.other) = self.clients.values()

    def line(self, client):
        while b"\n" not in client.buffer:
            client.more()
        line, client.buffer = client.buffer.split(b"\n", 1)
        return line

    def php(self, client, code, **values):
        given = "".join(f"${name} = json_decode('{json.dumps(value)}');" for name, value in values.items())
        client.send((given + code).encode() + b"\n")
        return json.loads(self.line(client))

    def test_streams_of_the_other_worker(self):
        done = self.php(self.two, "return [$server->exist($fd), $server->send($fd, \"\\xff\\0\"), $server->send($fd, str_repeat('x', 3_000_000)), $server->getClientInfo($fd)['worker_id']];", fd=self.fd)
        self.assertEqual(done[:3], [True] * 3)
        self.assertEqual(self.one.exactly(2), b"\xff\0")
        self.assertEqual(self.one.exactly(3_000_000), b"x" * 3_000_000)
        self.assertTrue(self.php(self.two, "return $server->close($fd);", fd=self.fd))
        self.assertEqual(self.one.rest(), b"")
        self.one.sock.close()
        until("it is gone", lambda: self.php(self.two, "return [$server->exist($fd), $server->send($fd, 'x')];", fd=self.fd) == [False, False])

    def test_reading_is_paused_from_the_other_worker(self):
        self.assertTrue(self.php(self.two, "return $server->pause($fd);", fd=self.fd))
        # The order has arrived when what was sent behind it has.
        self.assertTrue(self.php(self.two, "return $server->send($fd, 'p');", fd=self.fd))
        self.assertEqual(self.one.exactly(1), b"p")
        self.one.send(b"return 'awake';\n")
        for _ in range(20):
            self.assertTrue(self.php(self.two, "return $server->send($fd, '.');", fd=self.fd))
        self.assertEqual(self.one.exactly(20), b"." * 20)
        self.assertTrue(self.php(self.two, "return $server->resume($fd);", fd=self.fd))
        self.assertEqual(self.line(self.one), b'"awake"')

    def test_users_and_topics_of_streams(self):
        self.assertTrue(self.php(self.two, "return $server->bind($fd, 'u') && $server->subscribe($fd, 't');", fd=self.fd))
        self.assertEqual(self.php(self.two, "return [$server->sendToUser('u', \"\\xfe1\"), $server->publish('t', 'raw')];"), [1, True])
        self.assertEqual(self.one.exactly(5), b"\xfe1raw")


class Letters(RoutingCase):
    def test_values_of_every_kind_in_order(self):
        server = self.cluster(2)
        [[one], [two]] = self.members(server, 2)
        code = """
            $ok = [];
            foreach (['text', "\\0\\xff", '', 1, 1.5, null, true, ['a' => [1, 2]], new ArrayObject([7]), str_repeat('L', 300_000)] as $value) {
                $ok[] = $server->sendMessage($value, $to);
            }
            return $ok;
        """
        self.assertEqual(two.php(code, to=one.worker), [True] * 10)
        code = "return array_map(fn ($e) => [$e[1], is_string($e[2]) ? bin2hex(substr($e[2], 0, 9)) . strlen($e[2]) : serialize($e[2])], $GLOBALS['events']);"
        values = until("all have come", lambda: (v := one.php(code)) and len(v) == 10 and v)
        self.assertEqual([worker for worker, _ in values], [two.worker] * 10)
        self.assertEqual([value for _, value in values], ["746578744", "00ff2", "0", "i:1;", "d:1.5;", "N;", "b:1;", 'a:1:{s:1:"a";a:2:{i:0;i:1;i:1;i:2;}}', 'O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{i:0;i:7;}i:2;a:0:{}i:3;N;}', "4c" * 9 + "300000"])

    def test_to_oneself_it_comes_later(self):
        server = self.cluster(2)
        [[one], _] = self.members(server, 2)
        self.assertEqual(one.php("$ok = $server->sendMessage('me', $server->getWorkerId()); return [$ok, count($GLOBALS['events'])];"), [True, 0])
        until("it comes", lambda: one.php("return $GLOBALS['events'];") == [["pipe", one.worker, "me"]])

    def test_what_comes_during_workerstart_waits_for_its_end(self):
        code = """
            $server->on('workerstart', function ($server, $id) {
                for ($to = 0; $to < 2; $to++) {
                    while (!$server->sendMessage("of $id", $to)) Coroutine::sleep(0.001);
                }
                note('begins');
                Coroutine::sleep(0.2);
                note('ready');
            });
        """
        server = self.cluster(2, code=code)
        for [member] in self.members(server, 2):
            seen = until("both have come", lambda member=member: (e := member.php("return $GLOBALS['events'];")) and len(e) == 4 and e)
            self.assertEqual([seen[:2], sorted(seen[2:])], [[["begins"], ["ready"]], [["pipe", 0, "of 0"], ["pipe", 1, "of 1"]]])

    def test_what_cannot_be_sent(self):
        server = self.cluster(2)
        [[one], _] = self.members(server, 2)
        self.assertIn("ValueError", one.php("return $server->sendMessage(1, 2);"))
        self.assertIn("ValueError", one.php("return $server->sendMessage(1, -1);"))
        self.assertIn("Closure", one.php("return $server->sendMessage(fn () => 1, 0);"))


class Names(RoutingCase):
    def test_users_across_workers(self):
        server = self.cluster(3)
        members = [member for some in self.members(server, 3, 2) for member in some]
        asker = members[0]
        # Some bound by their own worker, some by another one.
        for member in members[:4]:
            self.assertTrue(member.php("return $server->bind($fd, 'anna');", fd=member.fd))
        self.assertTrue(asker.php("return $server->bind($fd, 17);", fd=members[4].fd))
        for member in members:
            self.assertEqual(
                member.php(
                    "return [$server->isOnline('anna'), $server->isOnline('17'), $server->isOnline('nobody'), $server->userConnections('anna'), $server->userConnections(17), $server->userConnections('x')];"
                ),
                [True, True, False, sorted(m.fd for m in members[:4]), [members[4].fd], []],
            )
            self.assertEqual(member.php("return [$server->sendToUser('anna', $word), $server->sendToUser(17, '17'), $server->sendToUser('nobody', 'x')];", word=f"hello of {member.fd}"), [4, 1, 0])
            self.assertEqual([m.text() for m in members[:5]], [f"hello of {member.fd}"] * 4 + ["17"])
        self.assertTrue(members[5].nothing())
        # The last bind counts; unbind ends it.
        self.assertTrue(asker.php("return $server->bind($fd, 'bert') && $server->unbind($other);", fd=members[3].fd, other=members[2].fd))
        self.assertEqual(asker.php("return [$server->userConnections('anna'), $server->userConnections('bert')];"), [sorted(m.fd for m in members[:2]), [members[3].fd]])
        members[1].ws.close()
        until("a closed connection is nobody's", lambda: asker.php("return $server->sendToUser('anna', 'x');") == 1)

    def test_topics_across_workers(self):
        server = self.cluster(3)
        members = [member for some in self.members(server, 3, 2) for member in some]
        asker = members[0]
        for at, member in enumerate(members):
            self.assertTrue(asker.php("return $server->subscribe($fd, 'news') && (!$even || $server->subscribe($fd, 'even'));", fd=member.fd, even=at % 2 == 0))
        self.assertTrue(asker.php("return $server->bind($a, 'anna') && $server->bind($b, 7);", a=members[1].fd, b=members[2].fd))
        for member in members:
            self.assertEqual(member.php("return [$server->publish('news', $word), $server->publish('even', 'e'), $server->publish('none', 'n'), $server->subscribers('news'), $server->subscribers('even'), $server->subscribers('none')];", word=f"of {member.fd}"), [True, True, True, 6, 3, 0])
            for at, receiver in enumerate(members):
                self.assertEqual(
                    sorted(receiver.text() for _ in range(2 - at % 2)),
                    sorted([f"of {member.fd}"] + ["e"] * (1 - at % 2)),
                )
        users = {members[1].fd: "anna", members[2].fd: 7}
        rows = asker.php("return $server->presence('news');")
        self.assertEqual(
            sorted(rows, key=lambda row: row["fd"]),
            sorted(
                ({"fd": m.fd, "user": users.get(m.fd), "worker_id": m.worker, "server": ""} for m in members),
                key=lambda row: row["fd"],
            ),
        )
        self.assertEqual(len(asker.php("return $server->presence('news', 4);")), 4)
        self.assertTrue(asker.php("return $server->unsubscribe($a, 'news') && $server->unsubscribe($b);", a=members[0].fd, b=members[4].fd))
        self.assertEqual(asker.php("return [$server->subscribers('news'), $server->subscribers('even')];"), [4, 2])
        members[5].ws.reset()
        until("a lost connection is no subscriber", lambda: asker.php("return $server->subscribers('news');") == 3)

    def test_the_order_of_one_publisher_stays(self):
        server = self.cluster(3, settings={"ring_size": 65536})
        members = [some[0] for some in self.members(server, 3)]
        for member in members:
            member.php("return $server->subscribe($fd, 't');", fd=member.fd)
        members[0].begin("for ($i = 0; $i < 3000; $i++) $server->publish('t', \"$i\" . str_repeat('.', $i % 500 ? 0 : 100_000)); return 1;")
        for member in members:
            self.assertEqual([int(member.text().rstrip(".")) for _ in range(3000)], list(range(3000)))
        self.assertEqual(members[0].result(), 1)

    def test_what_many_get_keeps_its_place_among_what_one_gets(self):
        # So many that it is sent between the turns of the loop.
        many = 200
        server = self.cluster(2)
        members = [self.member(server) for _ in range(many * 2)]
        for member in members:
            member.php("return $server->subscribe($fd, 't');", fd=member.fd)
        sender = members[0]
        mine = [member for member in members if member.worker == sender.worker]
        self.assertGreater(len(mine), 64)
        code = """
            $pushed = [];
            for ($i = 0; $i < 50; $i++) {
                $server->publish('t', "$i" . str_repeat('.', $i === 20 ? 70_000 : 0));
                foreach ($fds as $fd) $server->push($fd, "own $i");
                if ($i === 30) $server->disconnect($gone, 4001, 'enough');
            }
            return $server->subscribers('t');
        """
        gone, some = mine[-1], mine[1:4]
        sender.begin(code, fds=[member.fd for member in some], gone=gone.fd)
        for member in members:
            until_gone = 31 if member is gone else 50
            said = [word for i in range(until_gone) for word in ([str(i), f"own {i}"] if member in some else [str(i)])]
            self.assertEqual([member.text().rstrip(".") for _ in said], said)
        self.assertEqual(gone.ws.closed(), (4001, "enough"))
        self.assertGreater(sender.result(), many)
        self.assertTrue(all(member.nothing() for member in members if member is not gone))

    def test_names_are_checked(self):
        server = self.cluster(1)
        one = self.member(server)
        for code in ("$server->bind($fd, '')", "$server->bind($fd, str_repeat('x', 257))", "$server->subscribe($fd, '')", "$server->publish('', 'x')", "$server->presence('a', 0)"):
            self.assertIn("ValueError", one.php(f"return {code};", fd=one.fd), code)
        self.assertIn("TypeError", one.php("return $server->bind($fd, 1.5);", fd=one.fd))
        self.assertIn("ValueError", one.php("return $server->publish('a', 'x', 1, 0);"))
        self.assertEqual(one.php("return [$server->bind(999, 'x'), $server->getLastError(), $server->subscribe(999, 'x')];"), [False, NOT_EXIST, False])
        self.assertTrue(one.php("return $server->bind($fd, $u) && $server->isOnline($u) && $server->subscribe($fd, $u);", fd=one.fd, u="\0ü" * 85 + "x"))
        self.assertEqual(one.php("for ($i = 0; $i < 2000 && $server->subscribe($fd, \"t$i\"); $i++); return $i;", fd=one.fd), 1023)


class Deaths(RoutingCase):
    def test_a_killed_worker_takes_its_connections_and_nothing_else(self):
        server = self.cluster(3, settings={"ring_size": 65536})
        members = self.members(server, 3, 2)
        victim, survivors = members[0], members[1] + members[2]
        asker = survivors[0]
        for member in victim + survivors:
            self.assertTrue(asker.php("return $server->subscribe($fd, 'all') && $server->bind($fd, 'u');", fd=member.fd))
        # Somebody sends as fast as it can to the worker that dies, large messages among them.
        survivors[1].begin("$n = 0; while ($server->push($fd, str_repeat('x', $n++ % 5 ? 100 : 150_000))); return [$n > 0, $server->getLastError()];", fd=victim[0].fd)
        for _ in range(20):
            victim[0].text()
        pid = asker.php("return $server->getWorkerPid($id);", id=victim[0].worker)
        survivors[2].begin("return $server->sendToUser('u', 'last words');")
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(survivors[1].result(), [True, NOT_EXIST])
        self.assertIn(survivors[2].result(), (4, 5, 6))
        for member in survivors:
            self.assertEqual(member.text(), "last words")
        # Right afterwards the dead are no subscribers, whoever asks.
        self.assertEqual(
            until(
                "the dead are forgotten",
                lambda: (rows := asker.php("return $server->presence('all');"))
                and len(rows) == 4
                and sorted(row["fd"] for row in rows),
            ),
            sorted(m.fd for m in survivors),
        )
        self.assertEqual(asker.php("return [$server->subscribers('all'), $server->sendToUser('u', 'after'), $server->publish('all', 'news')];"), [4, 4, True])
        for member in survivors:
            self.assertEqual([member.text(), member.text()], ["after", "news"])
        # The process in its place reports what was closed.
        gone = sorted(m.fd for m in victim)

        def told():
            member = self.member(server)
            if member.worker != victim[0].worker:
                return False
            closed = member.php("return array_column(array_filter($GLOBALS['events'], fn ($e) => $e[0] === 'close'), 1);")
            return set(gone) <= set(closed)
        until("the close events come", told)
        for fd in gone:
            self.assertFalse(asker.php("return $server->exist($fd);", fd=fd))

    def test_a_worker_that_hangs_holds_nobody_for_long(self):
        server = self.cluster(2)
        [[one], [two]] = self.members(server, 2)
        self.assertTrue(two.php("return $server->bind($fd, 'u');", fd=one.fd))
        pid = two.php("return $server->getWorkerPid($id);", id=one.worker)
        os.kill(pid, signal.SIGSTOP)
        try:
            reached, seconds = two.php("$t = microtime(true); return [$server->sendToUser('u', 'x'), microtime(true) - $t];")
            self.assertEqual(reached, 0)
            self.assertTrue(1.5 < seconds, seconds)
        finally:
            os.kill(pid, signal.SIGCONT)
        # What was under way arrives.
        self.assertEqual(one.text(), "x")
        self.assertEqual(two.php("return $server->sendToUser('u', 'y');"), 1)

    def test_a_reload_while_pushing(self):
        server = self.cluster(2, settings={"max_wait_time": 20})
        old = set(server.workers())
        [[one], [two]] = self.members(server, 2)
        two.begin("$n = 0; while ($server->push($fd, (string) $n)) { if (++$n % 100 === 0) Coroutine::sleep(0.001); } return $n;", fd=one.fd)
        heard = [one.text() for _ in range(500)]
        server.kill(signal.SIGUSR1)
        while (message := one.ws.message())[0] != CLOSE:
            heard.append(message[1].decode())
        self.assertEqual(heard, [str(i) for i in range(len(heard))])
        one.ws.sock.close()
        # Its sender is told that it is gone, and ends before its own worker leaves.
        self.assertGreaterEqual(two.result(), len(heard))
        two.ws.sock.close()
        until("the old workers have left", lambda: not old & set(server.workers()))
        [[a], [b]] = self.members(server, 2)
        self.assertTrue(a.php("return $server->push($fd, 'new');", fd=b.fd))
        self.assertEqual(b.text(), "new")


if __name__ == "__main__":
    unittest.main()
