"""examples/ads beside a MariaDB of its own: what is acknowledged is counted once, whoever is killed; fields, keys, limits."""

import itertools
import json
import os
import random
import signal
import threading
import time
import uuid

import hooks
from support import PATIENCE, ROOT, Case, php, until
from lib import servers

FOLDER = ROOT / "examples" / "ads"
DAY = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400))
AFTER = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 2 * 86_400))
_numbers = itertools.count()


def event(**fields):
    return {"id": str(uuid.uuid4()), "kind": "impression", "campaign": 1, "creative": 1, **fields}


class AdsCase(Case):
    def setUp(self):
        settings, missing = hooks.extensions()
        if missing & {"mysqlnd", "pdo", "pdo_mysql"}:
            self.skipTest("this PHP lacks pdo_mysql: tools/install-packages test")
        self.ini = settings[1::2]
        self.folder = servers.folder("ads")

    def database(self, own=False):
        """A data base on a server that the tests share, or that is this test's own and forgets nothing that it committed."""
        if own:
            self.maria = self.enterContext(servers.MariaDB("--innodb-flush-log-at-trx-commit=1"))
        else:
            self.maria = servers.shared(servers.MariaDB)
        self.name = f"ads_{os.getpid()}_{next(_numbers)}"
        self.sql(f"CREATE DATABASE {self.name}", "")
        self.environment = {
            "ADS_DB_HOST": "127.0.0.1",
            "ADS_DB_PORT": str(self.maria.port),
            "ADS_DB_NAME": self.name,
            "ADS_DB_USER": servers.USER,
            "ADS_DB_PASSWORD": servers.PASSWORD,
            "ADS_SPOOL": str(self.folder / "spool"),
            "ADS_WORKERS": "2",
            # What the client of the tests calls its host.
            "ADS_API_HOST": "test",
        }

    def sql(self, statement, name=None):
        line = [servers.program("mariadb"), "--no-defaults", f"--socket={self.maria.socket}", "-uroot", "-N", "-B"]
        where = [self.name if name is None else name] if name != "" else []
        return [row.split("\t") for row in servers.run([*line, "-e", statement, *where]).splitlines()]

    def key(self, name="all", scopes="read,write,events,admin", per_minute=0):
        settings = itertools.chain.from_iterable(("-d", setting) for setting in self.ini)
        line = [php(), "-n", *settings, FOLDER / "bin" / "setup.php", name, scopes, str(per_minute)]
        return servers.run(line, env={**os.environ, **self.environment}).strip()

    def ads(self, own=False, **settings):
        """The server, and a key for everything."""
        self.database(own)
        self.all = self.key()
        return self.start(**settings)

    def start(self, **settings):
        script = f"<?php require {json.dumps(str(FOLDER / 'server.php'))};"
        # No port of the environment's: the first argument wins.
        server = self.serve(script=script, args=["0"], ini=self.ini, env={**self.environment, **settings})
        self.server = server
        return server

    def ask(self, method, path, body=None, key=None, client=None, **headers):
        given = {"Authorization": f"Bearer {key or self.all}", "Content-Type": "application/json", **headers}
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if client is not None:
            return client.request(method, path, raw, given)
        with self.server.connect() as client:
            return client.request(method, path, raw, given, close=True)

    def send(self, *events, key=None, **fields):
        return self.ask("POST", "/v1/events", {"events": list(events), **fields}, key=key)

    def campaign(self):
        """One of everything; the numbers are 1."""
        self.assertEqual(self.ask("POST", "/v1/advertisers", {"name": "Acme", "email": "a@example.org"}).status, 201)
        campaign = {"advertiser": 1, "name": "Spring", "state": "active", "budget_cents": 100, "starts_on": DAY}
        self.assertEqual(self.ask("POST", "/v1/campaigns", campaign).status, 201)
        creative = {"title": "Banner", "landing_url": "https://example.org/?a=1"}
        self.assertEqual(self.ask("POST", "/v1/campaigns/1/creatives", creative).status, 201)

    def count(self):
        return int(self.sql("SELECT COUNT(*) FROM events")[0][0])

    def drained(self, count):
        until(f"{count} events are in the database", lambda: self.count() == count, PATIENCE * 3)

    def sums(self):
        self.assertEqual(self.ask("POST", "/v1/reports/refresh").status, 200)
        report = self.ask("GET", f"/v1/campaigns/1/report?from={DAY}&to={AFTER}").json()
        return report["impressions"], report["clicks"], report["cost_micros"]


class Sender(threading.Thread):
    """A client that sends each batch until it is acknowledged, and some of them once more."""

    def __init__(self, case, key, stop, number):
        super().__init__(daemon=True)
        self.case, self.key, self.stop, self.random = case, key, stop, random.Random(number)
        self.acknowledged = []
        self.statuses = set()
        self.failure = None

    def run(self):
        try:
            while not self.stop.is_set():
                batch = [event() for _ in range(5)]
                self.deliver(batch)
                self.acknowledged += [one["id"] for one in batch]
                if self.random.random() < 0.1:
                    self.deliver(batch)
        except BaseException as error:
            self.failure = error

    def deliver(self, batch):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                status = self.case.send(*batch, key=self.key).status
            except (OSError, EOFError):
                status = None
            self.statuses.add(status)
            if status == 202:
                return
            if status not in (None, 503) or time.monotonic() > end:
                raise AssertionError(f"a batch is not taken: {status}")


class Counting(AdsCase):
    def test_nothing_acknowledged_is_lost_or_counted_twice(self):
        server = self.ads(own=True)
        key, stop = self.key("sender", "events"), threading.Event()
        senders = [Sender(self, key, stop, number) for number in range(4)]
        for sender in senders:
            sender.start()
        self.addCleanup(stop.set)

        def goes_on(batches=40):
            """So many more batches are acknowledged."""
            def taken():
                return sum(len(sender.acknowledged) for sender in senders)

            goal = taken() + 5 * batches
            until("events are taken", lambda: any(sender.failure for sender in senders) or taken() >= goal)
            self.assertEqual([one.failure for one in senders if one.failure], [])

        def kill(role):
            found = [one["pid"] for one in server.status()["workers"] if one["role"] == role]
            os.kill(found[0], signal.SIGKILL)

        goes_on()
        for trouble in (
            lambda: kill("worker"),
            lambda: kill("user"),
            lambda: server.control("reload"),
            self.maria.restart,
            lambda: kill("worker"),
        ):
            trouble()
            goes_on()
        # While the database is away, events are taken; by a worker, too, that never saw it.
        self.maria.kill()
        goes_on()
        kill("worker")
        goes_on()
        server.control("reload")
        goes_on()
        self.maria.start()
        goes_on()
        stop.set()
        for sender in senders:
            sender.join(PATIENCE)
            self.assertIsNone(sender.failure)
        sent = [id for sender in senders for id in sender.acknowledged]
        self.drained(len(sent))
        rows = {row[0] for row in self.sql("SELECT LOWER(HEX(id)) FROM events")}
        self.assertEqual(rows, {id.replace("-", "") for id in sent})
        self.assertEqual(self.sums(), (len(sent), 0, 0))
        until("loaded files are removed", lambda: int(self.sql("SELECT COUNT(*) FROM spool_positions")[0][0]) <= 4)

    def test_the_spool_outlives_the_server(self):
        self.ads(own=True)
        self.assertEqual(self.send(event()).status, 202)
        self.drained(1)
        self.maria.stop()
        for _ in range(3):
            self.assertEqual(self.send(event(), event(kind="click")).status, 202)
        os.killpg(self.server.process.pid, signal.SIGKILL)
        self.server.process.wait()
        self.maria.start()
        self.start()
        self.drained(7)

    def test_a_full_spool_says_when_to_come_again(self):
        self.ads(own=True, ADS_SPOOL_MOST="1000")
        self.assertEqual(self.send(event()).status, 202)
        self.drained(1)
        self.maria.stop()
        taken = 1
        for _ in range(100):
            answer = self.send(*(event() for _ in range(5)))
            if answer.status == 503:
                break
            taken += 5
        self.assertEqual(answer.status, 503)
        self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)
        self.assertLess(taken, 40)
        self.maria.start()
        late = event()
        until("there is room again", lambda: self.send(late).status == 202)
        self.drained(taken + 1)

    def test_both_ways_to_sync(self):
        for how in ("always", "interval"):
            with self.subTest(how):
                self.folder = servers.folder("ads")
                self.ads(ADS_SYNC=how)
                self.assertEqual(self.send(*(event() for _ in range(1000))).status, 202)
                # Dead before a second has passed: the kernel has what was acknowledged.
                os.killpg(self.server.process.pid, signal.SIGKILL)
                self.server.process.wait()
                self.start()
                self.drained(1000)

    def test_a_batch_and_an_event_count_once(self):
        self.ads()
        batch = {"batch": str(uuid.uuid4())}
        plain = {"kind": "click", "campaign": 1, "creative": 1, "cost_micros": 7}
        for _ in range(3):
            self.assertEqual(self.send(plain, plain, **batch).json(), {"accepted": 2})
        named = event(id="0189AAAA-0000-7000-8000-000000000001")
        self.assertEqual(self.send(named).status, 202)
        self.assertEqual(self.send({**named, "id": named["id"].lower()}).status, 202)
        self.drained(3)
        # The same id of another client is another event.
        other = self.key("other", "events")
        self.assertEqual(self.send(named, key=other).status, 202)
        self.drained(4)
        self.assertEqual(self.sums(), (2, 2, 14))

    def test_sums_are_those_of_all_events(self):
        self.ads()
        self.campaign()
        now = int(time.time())
        first = [event(at=now - 3600 * hour, kind=kind) for hour in range(3) for kind in ("impression", "impression", "click")]
        self.assertEqual(self.send(*first).status, 202)
        self.drained(9)
        self.assertEqual(self.sums(), (6, 3, 0))
        # One that comes late changes its hour, and no other one's sum.
        self.assertEqual(self.send(event(at=now - 7200, cost_micros=5), event(at=now - 7200, campaign=2)).status, 202)
        self.drained(11)
        self.assertEqual(self.sums(), (7, 3, 5))
        self.assertEqual(self.ask("POST", "/v1/reports/refresh").json(), {"hours": 0})

    def test_the_clock_adds_up(self):
        self.ads(ADS_CRON="* * * * * *")
        self.assertEqual(self.send(event()).status, 202)
        until("the hour is added up", lambda: self.sql("SELECT impressions FROM hourly") == [["1"]])


class Answers(AdsCase):
    def test_records(self):
        self.ads()
        self.campaign()
        again = self.ask("POST", "/v1/advertisers", {"name": "Acme", "email": "b@example.org"})
        self.assertEqual(again.status, 409)
        answer = self.ask("PATCH", "/v1/campaigns/1", {"state": "paused", "ends_on": AFTER})
        self.assertEqual((answer.status, answer.json()["state"], answer.json()["ends_on"]), (200, "paused", AFTER))
        self.assertEqual(self.ask("GET", "/v1/campaigns/1").json(), answer.json())
        for number in range(2, 6):
            self.ask("POST", "/v1/advertisers", {"name": f"Ä {number}", "email": "a@example.org"})
        page = self.ask("GET", "/v1/advertisers?limit=3").json()
        self.assertEqual(([row["name"] for row in page["advertisers"]], page["after"]), (["Acme", "Ä 2", "Ä 3"], page["advertisers"][2]["id"]))
        rest = self.ask("GET", f"/v1/advertisers?limit=3&after={page['after']}").json()
        self.assertEqual(([row["name"] for row in rest["advertisers"]], rest["after"]), (["Ä 4", "Ä 5"], None))
        self.assertEqual(len(self.ask("GET", "/v1/campaigns?advertiser=1").json()["campaigns"]), 1)
        self.assertEqual(self.ask("GET", "/v1/campaigns?advertiser=2").json()["campaigns"], [])
        self.assertEqual(len(self.ask("GET", "/v1/campaigns/1/creatives").json()["creatives"]), 1)
        for path, status in (("/v1/campaigns/9", 404), ("/v1/campaigns/x", 404), ("/nowhere", 404), ("/v1/campaigns?limit=0", 422), ("/v1/campaigns?advertiser=x", 422), ("/v1/campaigns/1/report?from=x", 422)):
            self.assertEqual(self.ask("GET", path).status, status, path)
        wrong = self.ask("DELETE", "/v1/campaigns/1")
        self.assertEqual((wrong.status, sorted(wrong.headers["allow"].split(", "))), (405, ["GET", "HEAD", "OPTIONS", "PATCH"]))

    def test_each_wrong_field_is_named(self):
        self.ads()
        self.campaign()
        good = {"advertiser": 1, "name": "Spring", "budget_cents": 100, "starts_on": "2026-02-01"}
        for change, field in (
            ({"advertiser": 0}, "advertiser"),
            ({"advertiser": "1"}, "advertiser"),
            ({"advertiser": 77}, "advertiser"),
            ({"advertiser": None}, "advertiser"),
            ({"name": ""}, "name"),
            ({"name": " "}, "name"),
            ({"name": "x" * 201}, "name"),
            ({"name": ["x"]}, "name"),
            ({"state": "running"}, "state"),
            ({"state": 1}, "state"),
            ({"budget_cents": -1}, "budget_cents"),
            ({"budget_cents": 1.5}, "budget_cents"),
            ({"budget_cents": True}, "budget_cents"),
            ({"starts_on": "2026-02-30"}, "starts_on"),
            ({"starts_on": "1.2.2026"}, "starts_on"),
            ({"ends_on": "2026-01-31"}, "ends_on"),
            ({"colour": "red"}, "colour"),
        ):
            answer = self.ask("POST", "/v1/campaigns", {**good, **change})
            self.assertEqual((answer.status, list(answer.json()["fields"])), (422, [field]), change)
        for field in good:
            answer = self.ask("POST", "/v1/campaigns", {name: value for name, value in good.items() if name != field})
            self.assertEqual((answer.status, answer.json()["fields"]), (422, {field: "is missing"}))
        for address in ("x", "javascript:alert(1)", "http://", "ftp://example.org/", "https://example.org/a b"):
            answer = self.ask("POST", "/v1/campaigns/1/creatives", {"title": "x", "landing_url": address})
            self.assertEqual((answer.status, list(answer.json()["fields"])), (422, ["landing_url"]), address)
        self.assertEqual(self.ask("POST", "/v1/campaigns/7/creatives", {"title": "x", "landing_url": "https://example.org/"}).json()["fields"], {"campaign": "does not exist"})

    def test_bodies_that_are_no_json_object(self):
        self.ads()
        for body in (b"", b"{", b'{"a": }', b"[]x", b"\xff", b"[1]", b'"text"', b"null", b"[" * 100_000):
            for path in ("/v1/events", "/v1/campaigns"):
                answer = self.ask("POST", path, body)
                self.assertEqual((answer.status, set(answer.json())), (400, {"error"}), body[:20])
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
            self.assertEqual(self.ask("POST", "/v1/campaigns", {}, **{"Content-Type": kind}).status, 415)
        self.assertEqual(self.ask("POST", "/v1/campaigns", {}, **{"Content-Type": "Application/JSON; charset=utf-8"}).status, 422)

    def test_wrong_events_are_named_and_none_is_taken(self):
        self.ads()
        now = int(time.time())
        for change, field in (
            ({"id": None}, "id"),
            ({"id": "x"}, "id"),
            ({"id": 1}, "id"),
            ({"kind": "view"}, "kind"),
            ({"kind": ["click"]}, "kind"),
            ({"campaign": 0}, "campaign"),
            ({"campaign": "1"}, "campaign"),
            ({"campaign": 1 << 32}, "campaign"),
            ({"creative": -1}, "creative"),
            ({"cost_micros": -1}, "cost_micros"),
            ({"cost_micros": 1 << 40}, "cost_micros"),
            ({"at": now - 9 * 86_400}, "at"),
            ({"at": now + 3600}, "at"),
            ({"at": "now"}, "at"),
            ({"x\ty": 1}, "x?y"),
        ):
            answer = self.send(event(), event(**change))
            self.assertEqual((answer.status, list(answer.json()["fields"])), (422, [f"events[1].{field}"]), change)
        for body, field in (
            ({}, "events"),
            ({"events": []}, "events"),
            ({"events": {}}, "events"),
            ({"events": [event()] * 1001}, "events"),
            ({"events": [event()], "batch": "x"}, "batch"),
            ({"events": [event()], "more": 1}, "more"),
        ):
            answer = self.ask("POST", "/v1/events", body)
            self.assertEqual((answer.status, list(answer.json()["fields"])), (422, [field]))
        self.assertEqual(len(self.send(*[{}] * 1000).json()["fields"]), 20)
        self.assertEqual(self.send(event()).status, 202)
        self.drained(1)

    def test_keys_and_scopes(self):
        self.ads()
        reader, sender = self.key("reader", "read"), self.key("sender", "events")
        for key, right in ((reader, {"GET": 200, "POST": 403, "events": 403}), (sender, {"GET": 403, "POST": 403, "events": 202})):
            self.assertEqual(self.ask("GET", "/v1/campaigns", key=key).status, right["GET"])
            self.assertEqual(self.ask("POST", "/v1/campaigns", {}, key=key).status, right["POST"])
            self.assertEqual(self.send(event(), key=key).status, right["events"])
        for field in ("", "Basic eDp5", "Bearer", f"Bearer {self.all}x", f"Bearer {self.all.upper()}"):
            answer = self.ask("GET", "/v1/campaigns", Authorization=field)
            self.assertEqual((answer.status, answer.headers["www-authenticate"]), (401, "Bearer"), field)
        kept = "".join(cell for row in self.sql("SELECT HEX(hash), name, scopes FROM api_keys") for cell in row)
        self.assertNotIn(self.all[4:].upper(), kept)
        self.sql("UPDATE api_keys SET revoked_at = UTC_TIMESTAMP() WHERE name = 'reader'")
        until("the key is not taken any more", lambda: self.ask("GET", "/v1/campaigns", key=reader).status == 401)

    def test_who_guesses_keys_is_stopped(self):
        self.ads()
        self.assertEqual(self.ask("GET", "/v1/campaigns").status, 200)
        statuses = [self.ask("GET", "/v1/campaigns", key=f"ads_{number}").status for number in range(60)]
        self.assertEqual(set(statuses), {401, 429})
        self.assertEqual(statuses[:30], [401] * 30)
        # Keys that are known are none of it.
        self.assertEqual(self.ask("GET", "/v1/campaigns").status, 200)

    def test_a_client_has_its_rate_over_all_workers(self):
        self.ads()
        limited, began = self.key("limited", "read,events", 60), time.monotonic()
        statuses, waits = [], []
        for _ in range(100):
            answer = self.ask("GET", "/v1/campaigns", key=limited)
            statuses.append(answer.status)
            if answer.status == 429:
                waits.append(int(answer.headers["retry-after"]))
        taken, most = statuses.count(200), 60 + int(time.monotonic() - began) + 1
        self.assertTrue(60 <= taken <= most, f"{taken} of at most {most}")
        self.assertEqual(set(statuses), {200, 429})
        self.assertEqual(set(waits), {1})
        # Events count one by one, and a request that is refused takes nothing.
        events = self.key("events", "events", 600)
        self.assertEqual(self.send(*(event() for _ in range(601)), key=events).status, 422)
        self.assertEqual(self.send(*(event() for _ in range(600)), key=events).status, 202)
        answer = self.send(*(event() for _ in range(600)), key=events)
        self.assertEqual(answer.status, 429)
        self.assertTrue(30 <= int(answer.headers["retry-after"]) <= 60)
        self.drained(600)
        self.assertEqual(self.ask("GET", "/v1/campaigns").status, 200)


class Hosts(AdsCase):
    def get(self, host, path, method="GET", fields=""):
        answer = self.server.raw(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}, body

    def test_three_hosts_on_one_port(self):
        self.ads()
        self.campaign()
        status, fields, body = self.get("ads.localhost:8080", "/")
        self.assertEqual((status, fields["content-type"]), (200, "text/html; charset=UTF-8"))
        self.assertIn(b"dashboard.js", body)
        self.assertEqual(json.loads(self.get("ads.localhost:8080", "/api.json")[2]), {"api": "http://test:8080"})
        self.assertEqual(self.get("ads.localhost", "/../server.php")[0], 404)
        self.assertEqual(self.get("TEST:80", "/health")[0], 200)
        self.assertEqual(self.get("go.localhost", "/health")[0], 404)
        self.assertEqual(self.get("elsewhere", "/")[0], 421)
        self.assertIn("connect-src 'self' http://test:*", fields["content-security-policy"])
        # The dashboard may ask the API; other pages may not.
        asks = "Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization\r\n"
        origin = f"http://ads.localhost:{self.server.port}"
        fields = self.get("test", "/v1/campaigns", "OPTIONS", f"Origin: {origin}\r\n{asks}")[1]
        self.assertEqual(fields["access-control-allow-origin"], origin)
        self.assertIn("authorization", fields["access-control-allow-headers"].lower())
        fields = self.get("test", "/v1/campaigns", "OPTIONS", f"Origin: http://evil.example\r\n{asks}")[1]
        self.assertNotIn("access-control-allow-origin", fields)

    def test_clicks_are_counted_and_sent_on(self):
        self.ads(own=True)
        self.campaign()
        seen = uuid.uuid4()
        for _ in range(3):
            status, fields, _ = self.get("go.localhost", f"/c/1?i={seen}")
            self.assertEqual((status, fields["location"]), (302, "https://example.org/?a=1"))
            status, fields, body = self.get("go.localhost", f"/i/1?i={seen}")
            self.assertEqual((status, fields["content-type"], body[:6]), (200, "image/gif", b"GIF89a"))
        self.get("go.localhost", "/c/1")
        self.assertEqual(self.get("go.localhost", "/c/1", "HEAD")[1]["x-counted"], "no")
        self.assertEqual(self.get("go.localhost", "/c/9")[0], 404)
        self.drained(3)
        self.assertEqual(self.sums(), (1, 2, 0))
        # A known one goes on while the database is away.
        self.maria.stop()
        self.assertEqual(self.get("go.localhost", "/c/1")[0], 302)
        self.assertEqual(self.get("go.localhost", "/c/2")[0], 503)
        self.maria.start()
        self.drained(4)


if __name__ == "__main__":
    import unittest

    unittest.main()
