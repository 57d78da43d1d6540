"""Who the client is (PROXY protocol, forwarded fields), whom a port answers, and how often."""

import collections
import os
import re
import signal
import socket
import struct
import threading

from support import PATIENCE, Case, until

WHO = """
    $server = $request->server;
    $who = [$server['remote_addr'], $server['remote_port'], $server['https'] ?? 'off', $request->header['host']];
    $response->end(json_encode($who));
"""
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
GET = b"GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"


def version_2(address, port=1234):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(family, address)
    body = packed + packed + struct.pack("!HH", port, 80) + b"\x04\x00\x01\x00"
    return SIGNATURE + bytes([0x21, 0x21 if family == socket.AF_INET6 else 0x11]) + struct.pack("!H", len(body)) + body


class Proxied(Case):
    def answer(self, server, *pieces):
        with server.connect() as client:
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in pieces:
                client.send(piece)
            return client.rest()

    def test_the_client_is_whom_the_proxy_names(self):
        server = self.serve(WHO, settings={"open_proxy_protocol": True, "trusted_proxies": ["127.0.0.0/8"], "worker_num": 2})
        for header, client in (
            (b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", b'"192.0.2.1",56324'),
            (b"PROXY TCP6 2001:db8::1 2001:db8::2 7 443\r\n", b'"2001:db8::1",7'),
            (b"PROXY UNKNOWN\r\n", b'"127.0.0.1",'),
            (version_2("192.0.2.9"), b'"192.0.2.9",1234'),
            (version_2("2001:db8::9"), b'"2001:db8::9",1234'),
            (SIGNATURE + b"\x20\x00\x00\x00", b'"127.0.0.1",'),
        ):
            bit_by_bit = [bytes([byte]) for byte in header] + [GET]
            for pieces in ([header + GET], [header, GET], [header[:9], header[9:] + GET], bit_by_bit):
                self.assertIn(client, self.answer(server, *pieces), header)
        # The kernel may tell of a byte that has been seen already.
        for _ in range(200):
            self.assertIn(b'"192.0.2.9",1234', self.answer(server, *[bytes([byte]) for byte in version_2("192.0.2.9")], GET))
        for wrong in (GET, b"PROXY TCP4 1.2.3.4\r\n" + GET, SIGNATURE + b"\x11\x11\x00\x00" + GET):
            self.assertEqual(self.answer(server, wrong), b"")
        with server.connect() as client:
            client.send(version_2("192.0.2.9"))
            for _ in range(2):
                self.assertIn(b'"192.0.2.9",1234', client.request().body)

    def test_only_trusted_peers_are_believed(self):
        settings = {"open_proxy_protocol": True, "trusted_proxies": ["192.0.2.0/24"]}
        server = self.serve(WHO, settings=settings)
        self.assertIn(b'"127.0.0.1"', self.answer(server, GET))
        self.assertIn(b" 400 ", self.answer(server, b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n" + GET))
        fields = {"X-Forwarded-For": "1.1.1.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil"}
        self.assertIn(b'["127.0.0.1",', server.get(headers=fields).body)
        self.assertIn(b'"off","test"]', server.get(headers=fields).body)
        with self.assertRaisesRegex(AssertionError, "open_proxy_protocol needs trusted_proxies"):
            self.serve(WHO, settings={"open_proxy_protocol": True})
        with self.assertRaisesRegex(AssertionError, "trusted_proxies.*10.0.0.0/8"):
            self.serve(WHO, settings={"trusted_proxies": ["proxy.example"]})

    def test_forwarded_fields_of_trusted_peers(self):
        server = self.serve(WHO, settings={"trusted_proxies": ["127.0.0.1", "10.0.0.0/8"]})
        for fields, expected in (
            ({"X-Forwarded-For": "6.6.6.6, 192.0.2.1, 10.0.0.1"}, b'["192.0.2.1",0,"off","test"]'),
            ({"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}, b'["192.0.2.1",0,"on","test"]'),
            ({"X-Forwarded-Host": "a.example:8443"}, b'"off","a.example:8443"]'),
            # What a client can send through a proxy that sets other fields.
            ({"X-Real-IP": "6.6.6.6", "Forwarded": "for=6.6.6.6;proto=https;host=evil"}, b'"off","test"]'),
        ):
            answer = server.get(headers=fields).body
            self.assertIn(expected, answer)
            self.assertNotIn(b"6.6.6.6", answer)
        with server.connect() as client:
            client.request(headers={"X-Forwarded-For": "192.0.2.1"})
            self.assertIn(b'["127.0.0.1",', client.request().body)

    def test_other_fields_of_trusted_peers(self):
        for kind, fields, expected in (
            ("x-real-ip", {"X-Real-IP": "192.0.2.1", "X-Forwarded-Proto": "https"}, b'["192.0.2.1",0,"on","test"]'),
            ("forwarded", {"Forwarded": 'for="[2001:db8::1]:99";proto=https;host=a.example'}, b'["2001:db8::1",99,"on","a.example"]'),
        ):
            server = self.serve(WHO, settings={"trusted_proxies": ["127.0.0.1"], "trusted_proxy_fields": kind})
            self.assertIn(expected, server.get(headers={"X-Forwarded-For": "6.6.6.6", **fields}).body)

    def test_both_at_once_and_over_streams(self):
        settings = {"open_proxy_protocol": True, "trusted_proxies": ["127.0.0.1", "198.51.100.0/24"]}
        server = self.serve(WHO, settings=settings)
        told = GET.replace(b"Host", b"X-Forwarded-For: 203.0.113.5, 192.0.2.9\r\nHost")
        self.assertIn(b'["192.0.2.9",0', self.answer(server, version_2("198.51.100.1") + told))
        # What the client of such a proxy sends comes as it is.
        self.assertIn(b'["192.0.2.7",1234', self.answer(server, version_2("192.0.2.7") + told))


class Gate(Case):
    def test_lists_of_clients(self):
        lists = {"denied_clients": ["192.0.2.0/24"], "allowed_clients": ["192.0.0.0/8", "127.0.0.1"]}
        server = self.serve("$response->end('in');", settings={"trusted_proxies": ["127.0.0.1"], **lists})
        for client, status in ((None, 200), ("192.1.1.1", 200), ("192.0.2.77", 403), ("8.8.8.8", 403)):
            fields = {"X-Forwarded-For": client} if client else {}
            self.assertEqual(server.get(headers=fields).status, status, client)

    def test_a_rate_for_each_client_over_all_workers(self):
        settings = {"worker_num": 4, "rate_limit": 200, "rate_limit_period": "1h", "trusted_proxies": ["127.0.0.1"]}
        server = self.serve("$response->end((string) getmypid());", settings=settings)
        counts, workers = collections.Counter(), set()

        def ask(client):
            for _ in range(25):
                with server.connect() as connection:
                    for _ in range(10):
                        answer = connection.request(headers={"X-Forwarded-For": client})
                        counts[client, answer.status] += 1
                        if answer.status == 200:
                            workers.add(answer.body)
                        else:
                            self.assertIn(int(answer.headers["retry-after"]), range(1, 3600))

        threads = [threading.Thread(target=ask, args=(client,)) for client in ("192.0.2.1", "192.0.2.1", "2001:db8::1")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        # An hour gives one each 18 seconds besides.
        for client, asked in (("192.0.2.1", 500), ("2001:db8::1", 250)):
            self.assertIn(counts[client, 200], range(200, 203), counts)
            self.assertEqual(counts[client, 200] + counts[client, 429], asked)
        self.assertGreater(len(workers), 1)
        self.assertEqual(server.get(headers={"X-Forwarded-For": "2001:db8::ffff"}).status, 429)
        self.assertEqual(server.get().status, 200)

    def test_a_rate_holds_within_a_hundredth_while_it_is_exceeded(self):
        rate, burst = 500, 100
        settings = {"worker_num": 4, "rate_limit": rate, "rate_limit_burst": burst}
        server = self.serve("$response->end('ok');", settings=settings)
        load = self.wrk(server.url(), connections=32, seconds=6)
        asked, errors, refused, text = load.result(stop=False)
        self.assertEqual(errors, {}, text)
        seconds = float(re.search(r"requests in ([\d.]+)s", text)[1])
        expected = burst + rate * seconds
        self.assertLessEqual(abs(asked - refused - expected), expected / 100, f"{asked - refused} of {expected}: {text}")
        self.assertGreater(asked, 2 * expected, text)
        served = [worker["requests"] for worker in server.status()["workers"]]
        self.assertGreater(sum(requests > 0 for requests in served), 1, served)

    def test_connections_of_a_client_over_all_workers(self):
        settings = {"worker_num": 3, "max_client_connections": 20, "open_proxy_protocol": True, "trusted_proxies": ["127.0.0.1"]}
        server = self.serve("$response->end((string) getmypid());", settings=settings)

        def open_one(address):
            client = server.connect()
            client.send(version_2(address) + GET.replace(b"Connection: close\r\n", b""))
            try:
                return client, client.answer().body
            except (EOFError, ConnectionResetError):
                client.sock.close()
                return None

        held = [open_one("192.0.2.1") for _ in range(20)]
        self.assertNotIn(None, held)
        workers = {worker for _, worker in held}
        self.assertGreater(len(workers), 1)
        self.assertEqual([open_one("192.0.2.1") for _ in range(5)], [None] * 5)
        self.assertIsNotNone(open_one("192.0.2.2"))
        # A client that leaves makes room, and so does a worker that is killed.
        held.pop()[0].sock.close()
        one = until("there is room for one", lambda: open_one("192.0.2.1"))
        self.assertIsNone(open_one("192.0.2.1"))
        victim = held[0][1]
        lost = sum(worker == victim for _, worker in [*held, one])
        os.kill(int(victim), signal.SIGKILL)
        more = []
        until("as many may come", lambda: (found := open_one("192.0.2.1")) and (more.append(found) or len(more) == lost))
        self.assertIsNone(open_one("192.0.2.1"))
        # Those of IPv6 have a network of 64 bits.
        held = [open_one(f"2001:db8::{at:x}") for at in range(1, 21)]
        self.assertNotIn(None, held)
        self.assertIsNone(open_one("2001:db8::ff"))
        self.assertIsNotNone(open_one("2001:db8:0:1::1"))

    def test_rates_of_paths(self):
        limits = {"/login": "3/1h", "/api": "5/1h by header:X-Key"}
        server = self.serve("$response->end('in');", settings={"worker_num": 2, "rate_limits": limits, "rate_limit": 100})
        statuses = [server.get("/login/x").status for _ in range(5)]
        self.assertEqual(statuses, [200, 200, 200, 429, 429])
        self.assertIn(int(server.get("/login").headers["retry-after"]), range(1, 3600))
        for key in ("a", "b"):
            got = [server.get("/api", headers={"X-Key": key}).status for _ in range(7)]
            self.assertEqual(got, [200] * 5 + [429] * 2)
        self.assertEqual([server.get(path).status for path in ("/", "/logins", "/apis")], [200, 200, 200])
        with self.assertRaisesRegex(AssertionError, "rate_limits.*must be like"):
            self.serve(settings={"rate_limits": {"/": "many"}})

    def test_a_rate_by_header_or_path(self):
        for by, one, other in (
            ("header:X-Key", {"headers": {"X-Key": "a"}}, {"headers": {"X-Key": "b"}}),
            ("path", {"path": "/a?1"}, {"path": "/b"}),
        ):
            server = self.serve(settings={"rate_limit": 3, "rate_limit_period": 3600, "rate_limit_by": by})
            statuses = [server.get(**one).status for _ in range(4)]
            self.assertEqual((statuses, server.get(**other).status), ([200, 200, 200, 429], 200), by)
        with self.assertRaisesRegex(AssertionError, 'rate_limit_by must be "address", "path" or "header:NAME"'):
            self.serve(settings={"rate_limit": 3, "rate_limit_by": "cookie"})


class Headers(Case):
    def test_fields_of_every_answer(self):
        fields = {"X-Frame-Options": "DENY", "Cache-Control": "no-store"}
        server = self.serve(
            "$path === '/own' && $response->header('cache-control', 'max-age=5'); $response->end('ok');",
            settings={"response_headers": fields, "denied_clients": ["192.0.2.1"], "trusted_proxies": ["127.0.0.1"]},
        )
        cases = ("/", "1.1.1.1", "no-store"), ("/own", "1.1.1.1", "max-age=5"), ("/", "192.0.2.1", "no-store")
        for path, client, cached in cases:
            answer = server.get(path, headers={"X-Forwarded-For": client})
            self.assertEqual((answer.headers["x-frame-options"], answer.headers["cache-control"]), ("DENY", cached))
        self.assertIn(b"X-Frame-Options: DENY\r\n", server.raw(b"no request\r\n\r\n"))
        own = "the server sends Content-Length by itself"
        for wrong, said in (({"a b": "x"}, "is no header field"), ({"Content-Length": "5"}, own)):
            with self.assertRaisesRegex(AssertionError, said):
                self.serve(settings={"response_headers": wrong})
