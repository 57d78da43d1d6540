"""Several servers that meet at a broker: Redis and NATS, real ones, which are killed and come back."""

import os
import signal
import sys
import unittest

import support
from routing_cases import RoutingCase
from support import until

sys.path.insert(0, str(support.HERE.parent))
from lib import servers  # noqa: E402

KINDS = {"redis": servers.Redis, "nats": servers.Nats}


class Machines(RoutingCase):
    """Each test with Redis and with NATS; a "machine" is a server of its own with two workers."""

    def machines(self, kind, count=2, login="", options=(), settings=None):
        broker = self.enterContext(KINDS[kind](*options))
        url = f"{kind}://{login}127.0.0.1:{broker.port}"
        found = [self.cluster(2, settings={"broker": url, "log_file": "", **(settings or {})}) for _ in range(count)]
        for server in found:
            self.connected(server, 1)
        return broker, found

    def connected(self, server, times):
        """Waits until both workers have had their connections that often."""
        until("the workers are connected", lambda: server.said().count(": connected") >= 2 * times)

    def crowd(self, found):
        """Two connections on each machine, one a worker."""
        return [[some[0] for some in self.members(server, 2)] for server in found]

    def each(self, test):
        for kind in KINDS:
            with self.subTest(kind):
                test(kind)

    def test_topics_users_and_presence_across_machines(self):
        self.each(self.names)

    def names(self, kind):
        _, found = self.machines(kind)
        crowd = self.crowd(found)
        everyone = crowd[0] + crowd[1]
        for at, member in enumerate(everyone):
            self.assertTrue(member.php("return $server->subscribe($fd, 'room 1.*') && $server->bind($fd, $user);", fd=member.fd, user=["anna", "bert", "anna", "carl"][at]))
        asker = crowd[0][0]
        until("all know all", lambda: asker.php("return $server->subscribers('room 1.*');") == 4 and all(m.php("return $server->isOnline('carl') && $server->isOnline('bert');") for m in everyone))
        # The other machines' subscriptions are the broker's when their words have arrived once.
        for member in everyone:
            def arrives(member=member):
                member.php("return $server->publish('room 1.*', 'probe');")
                return all(self.heard(other, "probe") for other in everyone)
            until("a probe reaches all", arrives)
        for member in everyone:
            member.php("return $server->publish('room 1.*', $word);", word=f"of {member.fd}")
            for other in everyone:
                self.assertEqual(self.next_word(other), f"of {member.fd}")
            self.assertEqual(member.php("return [$server->sendToUser('anna', 'A'), $server->sendToUser('carl', 'C'), $server->sendToUser('nobody', 'N')];"), [2, 1, 0])
            self.assertEqual([self.next_word(everyone[at]) for at in (0, 2, 3)], ["A", "A", "C"])
            self.assertEqual(member.php("return [$server->isOnline('anna'), $server->isOnline('carl'), $server->isOnline('x'), $server->subscribers('x')];"), [True, True, False, 0])
        rows = asker.php("return $server->presence('room 1.*');")
        self.assertEqual(sorted(row["user"] for row in rows), ["anna", "anna", "bert", "carl"])
        self.assertEqual(
            [len({row["server"] for row in rows}), sorted(row["fd"] for row in rows if not row["server"])],
            [2, sorted(m.fd for m in crowd[0])],
        )
        self.assertEqual(asker.php("return $server->userConnections('anna');"), [asker.fd])
        # Who leaves is heard of no more.
        crowd[1][0].ws.close()
        until("three are left", lambda: asker.php("return [$server->subscribers('room 1.*'), $server->sendToUser('anna', 'left')];") == [3, 1])

    def heard(self, member, word):
        """Whether that word has come."""
        member.php("return 1;")
        if word in member.inbox:
            member.inbox.remove(word)
            return True
        return False

    def next_word(self, member):
        """What was sent to a connection, probes left out."""
        while (word := member.text()) == "probe":
            pass
        return word

    def test_many_and_large_messages_arrive_once_and_in_order(self):
        self.each(self.flood)

    def flood(self, kind):
        # Listeners are read one after the other, and a topic waits for nobody: their servers hold what they have not
        # read.
        _, found = self.machines(kind, 3, settings={"buffer_output_size": 64 << 20})
        crowd = self.crowd(found)
        listeners = [crowd[1][0], crowd[1][1], crowd[2][0]]
        sender = crowd[0][0]
        for member in listeners:
            member.php("return $server->subscribe($fd, 't');", fd=member.fd)
        self.reach(sender, listeners)
        sender.begin("for ($i = 0; $i < 2000; $i++) { $server->publish('t', \"$i\" . str_repeat('.', $i % 400 ? 10 : 1_500_000)); if ($i % 400 === 0) Coroutine::sleep(0.05); } return 1;")
        for member in listeners:
            for i in range(2000):
                self.assertEqual(self.next_word(member), str(i) + "." * (10 if i % 400 else 1_500_000))
            self.assertTrue(member.nothing() or set(member.inbox) == {"probe"})
        self.assertEqual(sender.result(), 1)

    def reach(self, sender, listeners):
        """Publishes until every listener has heard."""
        heard = set()

        def all_heard():
            sender.php("return $server->publish('t', 'probe');")
            heard.update(m.fd for m in listeners if self.heard(m, "probe"))
            return len(heard) == len({m.fd for m in listeners})
        until("the listeners hear the sender", all_heard)

    def test_a_broker_that_is_killed_and_comes_back(self):
        self.each(self.killed)

    def killed(self, kind):
        broker, found = self.machines(kind)
        crowd = self.crowd(found)
        sender, (local, listener) = crowd[0][0], (crowd[0][1], crowd[1][0])
        for member in (local, listener):
            member.php("return $server->subscribe($fd, 't') && $server->bind($fd, 'u');", fd=member.fd)
        self.reach(sender, [local, listener])
        broker.kill()
        for server in found:
            until("the loss is told", lambda server=server: server.said().count(" is lost: ") >= 2)
        # The machine goes on alone, and quickly.
        self.assertEqual(sender.php("return [$server->publish('t', 'waits'), $server->sendToUser('u', 'here'), $server->subscribers('t')];"), [True, 1, 1])
        self.assertEqual([self.next_word(local), self.next_word(local)], ["waits", "here"])
        # Somebody subscribes meanwhile.
        late = crowd[1][1]
        late.php("return $server->subscribe($fd, 't');", fd=late.fd)
        broker.start()
        for server in found:
            self.connected(server, 2)
        self.reach(sender, [local, listener, late])
        until("users are found again", lambda: sender.php("return $server->sendToUser('u', 'again');") == 2)
        sender.php("return $server->publish('t', 'end');")
        for member in (local, listener, late):
            words = []
            while (word := member.text()) != "end":
                words.append(word)
            # What waited for the broker was sent when it was back, at most once, and never to those who had it.
            self.assertLessEqual(words.count("waits"), member is not local)

    def test_logins_and_prefixes(self):
        for kind, login, options in (("redis", "tester:s3cret@", ()), ("nats", "tester:s3cret@", ("--user", "tester", "--pass", "s3cret")), ("nats", "t0ken@", ("--auth", "t0ken"))):
            with self.subTest(kind=kind, login=login):
                broker, [one] = self.machines(kind, 1, login, options)
                # Another prefix at the same broker is another world.
                other = self.cluster(2, settings={"broker": f"{kind}://{login}127.0.0.1:{broker.port}", "broker_prefix": "other.world", "log_file": ""})
                self.connected(other, 1)
                [a], [b] = self.members(one, 2)[:1][0], self.members(other, 2)[:1][0]
                for member in (a, b):
                    member.php("return $server->subscribe($fd, 't');", fd=member.fd)
                self.assertEqual([a.php("return $server->subscribers('t');"), b.php("return $server->subscribers('t');")], [1, 1])
                self.assertNotIn("s3cret", one.said() + other.said())

    def meet(self, settings):
        """Two machines with these settings: both are connected, and a message crosses. A member of each."""
        found = [self.cluster(2, settings={"log_file": "", **settings}) for _ in range(2)]
        for server in found:
            self.connected(server, 1)
        sender, listener = (members[0] for members in self.crowd(found))
        listener.php("return $server->subscribe($fd, 't') && $server->bind($fd, 'u');", fd=listener.fd)
        self.reach(sender, [listener])
        return found, sender, listener

    def test_tls_with_certificates_on_both_sides(self):
        cert, key = map(str, servers.certificate())
        ours = {"broker_ssl_cafile": cert, "broker_ssl_cert_file": cert, "broker_ssl_key_file": key}
        tls = ("--tls", "--tlsverify", "--tlscert", cert, "--tlskey", key, "--tlscacert", cert)
        for server, url in ((servers.RedisTls(), "rediss://tester:s3cret@127.0.0.1:"), (servers.Nats(*tls), "tls://127.0.0.1:")):
            with self.subTest(url):
                broker = self.enterContext(server)
                self.meet({"broker": f"{url}{broker.port}", **ours})
                # Who it is must be known, and its hint names the setting.
                alone = self.cluster(1, settings={"broker": f"{url}{broker.port}", "log_file": "", "broker_ssl_cert_file": cert, "broker_ssl_key_file": key})
                until("the refusal is told", lambda: "broker_ssl_cafile" in alone.said())

    def test_a_nats_key_in_a_file(self):
        # The key pair of the documentation of NATS.
        path = servers.folder("nkey")
        self.addCleanup(servers.remove, path)
        (path / "user.nk").write_text("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n")
        (path / "nats.conf").write_text("authorization { users = [ { nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4 } ] }\n")
        broker = self.enterContext(servers.Nats("-c", path / "nats.conf"))
        found, *_ = self.meet({"broker": f"nats://127.0.0.1:{broker.port}", "broker_credentials": str(path / "user.nk")})
        self.assertNotIn("SUACSSL3", found[0].said())

    def test_sentinels_find_the_master_that_follows_a_dead_one(self):
        # The Sentinel logs in to nobody: the servers' default user needs no password.
        master = self.enterContext(servers.Redis())
        replica = self.enterContext(servers.Redis("--replicaof", "127.0.0.1", str(master.port)))
        sentinel = self.enterContext(servers.Sentinel())
        sentinel.add(master)
        until("the Sentinel knows the replica", lambda: str(replica.port) in sentinel.ask("SENTINEL", "REPLICAS", "main"))
        found, sender, listener = self.meet({"broker": f"redis+sentinel://127.0.0.1:{sentinel.port}/main", "broker_sentinel_password": "s3cret"})
        master.kill()
        for server in found:
            until("they are at the successor", lambda server=server: server.said().count(": connected again after ") >= 2)
        self.reach(sender, [listener])
        until("users are found again", lambda: sender.php("return $server->sendToUser('u', 'again');") == 1)
        self.assertIn("what other servers sent meanwhile did not come", found[0].said())
        self.assertNotIn("s3cret", found[0].said())

    def test_wrong_settings_are_exceptions(self):
        nowhere = "/nonexistent/file"
        for settings, words in (
            ({"broker": "http://h"}, "redis://"), ({"broker": "redis://s3cret@h"}, "no password"), ({"broker": "nats://h", "broker_prefix": "a b"}, "broker_prefix"),
            ({"broker": "redis://a,b"}, "several hosts"), ({"broker": "redis+sentinel://h"}, "name of the master"),
            ({"broker": "rediss://h", "broker_ssl_cafile": nowhere}, nowhere), ({"broker": "nats://h", "broker_credentials": nowhere}, "broker_credentials"),
        ):
            with self.subTest(settings), self.assertRaises(AssertionError) as failed:
                self.cluster(1, settings=settings)
            self.assertIn(words, str(failed.exception))
            self.assertNotIn("s3cret", str(failed.exception))

    def test_a_machine_that_hangs_is_not_waited_for_twice(self):
        _, found = self.machines("nats")
        crowd = self.crowd(found)
        sender, other = crowd[0][0], crowd[1]
        other[0].php("return $server->bind($fd, 'u');", fd=other[0].fd)
        until("the user is found", lambda: sender.php("return $server->sendToUser('u', 'x');") == 1)
        pids = found[1].workers()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            code = "$t = microtime(true); $n = $server->sendToUser('u', 'x'); return [$n, microtime(true) - $t];"
            first, second = sender.php(code), sender.php(code)
            self.assertEqual([first[0], second[0]], [0, 0])
            self.assertGreater(first[1], 1.5)
            self.assertLess(second[1], first[1])
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        until("it is found again", lambda: sender.php("return $server->sendToUser('u', 'y');") == 1)


if __name__ == "__main__":
    unittest.main()
