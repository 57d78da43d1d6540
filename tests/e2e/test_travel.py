"""The travel service (examples/travel): every answer against a brute-force model."""

import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import unittest

import support
from travel_model import FIELDS, KINDS, Dice, Model

EXAMPLE = support.ROOT / "examples" / "travel"
SEED = int(os.environ.get("APUS_TRAVEL_SEED", "20170829"))
WORKERS = 3


def generate(folder, *numbers):
    line = [support.php(), "-n", str(EXAMPLE / "generate.php"), str(folder), *map(str, numbers)]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "data"


class TravelCase(support.Case):
    """A small data set, and servers on it."""

    def setUp(self):
        support.module()
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="apus-travel-")))
        self.data = generate(self.folder, "--users", 150, "--locations", 90, "--visits", 1500, "--seed", SEED)

    def travel(self, *words, data=None, workers=WORKERS):
        script = f"<?php require '{EXAMPLE / 'server.php'}';"
        words = ["0", "--data", str(data or self.data), "--workers", str(workers), *words]
        return self.serve(script=script, args=words)

    def compare(self, server, model):
        """Every record, every list and every mean."""
        with server.connect() as client:
            for kind in KINDS:
                for key in sorted(model.tables[kind]):
                    what = {"users": "/visits", "locations": "/avg"}.get(kind)
                    self.same(client, model, f"/{kind}/{key}")
                    if what:
                        self.same(client, model, f"/{kind}/{key}{what}")

    def same(self, client, model, target):
        status, value = model.get(target)
        answer = client.request("GET", target)
        found = answer.json() if answer.status == 200 else None
        self.assertEqual((answer.status, found), (status, value), target)

    def post(self, server, kind, word, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        with server.connect() as client:
            return client.request("POST", f"/{kind}/{word}?query_id=7", data, close=True).status


class Answers(TravelCase):
    def test_random_requests(self):
        server, model = self.travel(), Model(self.data)
        dice = Dice(SEED, model)
        client = self.enterContext(server.connect())
        for number in range(4000):
            if dice.random.random() < 0.4:
                kind, word, body = dice.post()
                found = self.post(server, kind, word, body)
                self.assertEqual(found, model.post(kind, word, body), f"seed {SEED}, {number}: {kind}/{word} {body!r:.300}")
            else:
                self.same(client, model, dice.get())
        self.compare(server, model)

    def test_ages_by_the_calendar(self):
        for now in (1_503_966_608, 1_709_164_800 + 86_399, -3_000_000, 951_782_400):
            folder = self.folder / f"ages{now}"
            data = generate(folder, "--users", 40, "--locations", 2, "--visits", 120, "--now", now)
            server, model = self.travel(data=data, workers=1), Model(data)
            # A birthday is today, yesterday, tomorrow.
            for shift, key in ((0, 1), (1, 2), (-1, 3)):
                for body in ({"birth_date": model.years_before(30) + shift},):
                    self.assertEqual(self.post(server, "users", key, body), model.post("users", str(key), body))
            with server.connect() as client:
                for age in (0, 1, 29, 30, 31, 60, 99, 1900, 5000, 10**12, -5):
                    for name in ("fromAge", "toAge"):
                        self.same(client, model, f"/locations/1/avg?{name}={age}")
                        self.same(client, model, f"/locations/2/avg?{name}={age}&gender=f")

    def test_heads_of_answers(self):
        server = self.travel(workers=1)
        with server.connect() as client:
            for target, status in (("/users/1", 200), ("/users/1/visits?toDistance=x", 400), ("/users/999999", 404), ("/", 404)):
                answer = client.request("GET", target, headers={"Connection": "keep-alive"})
                found = (answer.status, answer.headers["content-type"], int(answer.headers["content-length"]), answer.headers.get("connection"))
                self.assertEqual(found, (status, "application/json", len(answer.body), "keep-alive"), target)
        with server.connect() as client:
            answer = client.request("POST", "/users/1", b"{}", close=True)
            self.assertEqual((answer.status, answer.json(), answer.headers["connection"]), (200, {}, "close"))
            self.assertTrue(client.closed())

    def test_means_are_rounded_half_up(self):
        server, model = self.travel(workers=1), Model(self.data)
        place = {"id": 7000, "place": "", "country": "", "city": "", "distance": 0}
        self.assertEqual(self.post(server, "locations", "new", place), model.post("locations", "new", place))
        # 1/32 = 0.03125 exactly, and 1/64 = 0.015625, whose sixth decimal is a five.
        for number in range(64):
            visit = {"id": 70_000 + number, "location": 7000, "user": 1, "visited_at": number, "mark": int(number == 0)}
            self.assertEqual(self.post(server, "visits", "new", visit), model.post("visits", "new", visit))
            answer = server.get("/locations/7000/avg").json()
            self.assertEqual(answer, model.get("/locations/7000/avg")[1])
        self.assertEqual(answer, {"avg": 0.01563})

    def test_official_answers(self):
        folder = os.environ.get("APUS_HLCUP")
        if not folder:
            raise unittest.SkipTest("APUS_HLCUP names no directory with the data of the HighLoad Cup")
        folder = pathlib.Path(folder)
        server = self.travel(data=folder / "data")
        with server.connect() as client:
            for line in (folder / "answers" / "phase_1_get.answ").read_text().splitlines():
                method, target, status, *value = line.split("\t")
                answer = client.request(method, target)
                found = answer.json() if answer.status == 200 else None
                self.assertEqual((answer.status, found), (int(status), json.loads(value[0]) if value else None), target)


class BadInput(TravelCase):
    def test_paths_and_queries(self):
        server = self.travel(workers=1)
        table = [
            (404, "/"), (404, "/users"), (404, "/users/"), (404, "/users/bad"), (404, "/users/1x"), (404, "/users/-1"), (404, "/users/+1"), (404, "/users/1.0"),
            (404, "/users/4294967296"), (404, "/users/99999999999999999999"), (404, "/users/4294967295"), (404, "/users/0"), (404, "/users/1/"), (404, "/users/1/avg"),
            (404, "/users/1/visits/"), (404, "/users/1/visits/2"), (404, "/locations/1/visits"), (404, "/visits/1/visits"), (404, "/cities/1"), (404, "/Users/1"), (404, "/users//visits"),
            (404, "/users/bad/visits"), (404, "/users/999999/visits?fromDate=x"), (404, "/locations/999999/avg?gender=x"), (404, "/locations/bad/avg"),
            *((400, f"/users/1/visits?{name}={value}") for name in ("fromDate", "toDate", "toDistance") for value in ("", "x", "1x", "1.5", "1e3", "%20", "%D9%A1", "--1", "-", "0x10")),
            *((400, f"/locations/1/avg?{name}={value}") for name in ("fromDate", "toDate", "fromAge", "toAge") for value in ("", "x", "1x", "1.5", "-")),
            *((400, f"/locations/1/avg?gender={value}") for value in ("", "x", "M", "mf", "1", "male")),
            (400, "/users/1/visits?country="), (400, "/users/1/visits?fromDate"), (400, "/users/1/visits?fromDate[]=1"), (400, "/users/1/visits?fromDate=1&toDate=x"),
            (200, "/users/1?query_id=x"), (200, "/users/1/visits?query_id=&unknown="), (200, "/users/1/visits?fromDate=99999999999999999999"), (200, "/users/1/visits?toDate=-99999999999999999999"),
            (200, "/users/1/visits?fromDate=-9223372036854775808&toDate=9223372036854775807"), (200, "/users/1/visits?gender=x"), (200, "/locations/1/avg?country=&toDistance=x"),
            (200, "/users/1/visits?country=%FF"), (200, "/users/1/visits?toDistance=-5"),
        ]
        with server.connect() as client:
            for status, target in table:
                answer = client.request("GET", target)
                self.assertEqual((answer.status, answer.body if status != 200 else b""), (status, b""), target)
            for method in ("PUT", "DELETE", "PATCH"):
                self.assertEqual(client.request(method, "/users/1", b"{}").status, 404, method)

    def test_bodies_that_are_refused_change_nothing(self):
        server, model = self.travel(), Model(self.data)
        right = {
            "users": {"id": 900, "email": "nobody@example.com", "first_name": "A", "last_name": "B", "gender": "m", "birth_date": 0},
            "locations": {"id": 900, "place": "P", "country": "C", "city": "T", "distance": 1},
            "visits": {"id": 900_000, "location": 1, "user": 1, "visited_at": 0, "mark": 5},
        }
        numbers = [None, "1", 1.0, 1.5, True, [], {}, [1], -(2**31) - 1, 2**32, 10**30]
        texts = [None, 1, 1.5, False, [], {}, "ж" * 101]
        wrong = {
            "gender": [*texts, "", "M", "x", "mf", "мужской"],
            "mark": [*numbers, -1, 6],
            "place": [*texts[:-1], "x" * 65_536],
            "id": [*numbers, -1],
            **dict.fromkeys(("email", "first_name", "last_name", "country", "city"), texts),
            **dict.fromkeys(("birth_date", "visited_at"), numbers),
            **dict.fromkeys(("distance", "location", "user"), [*numbers, -1]),
        }
        for kind in KINDS:
            for name in ("id", *FIELDS[kind]):
                without = {key: value for key, value in right[kind].items() if key != name}
                self.assertEqual(self.post(server, kind, "new", without), 400, f"{kind} without {name}")
                for value in wrong[name]:
                    self.assertEqual(self.post(server, kind, "new", {**right[kind], name: value}), 400, f"new {kind}, {name}: {value!r:.60}")
                    # The right field beside the wrong one must not be written either.
                    other = next(field for field in FIELDS[kind] if field != name)
                    self.assertEqual(self.post(server, kind, 1, {other: right[kind][other], name: value}), 400, f"{kind}, {name}: {value!r:.60}")
            for body in (
                b"",
                b" ",
                b"null",
                b"[]",
                b"1",
                b'"x"',
                b"{",
                b"{}}",
                b"{,}",
                b"{'a':1}",
                b'{"mark":1,}',
                b'{"mark":01}',
                b'\xef\xbb\xbf{}',
                b'{"city":"\xff"}',
                b'{"city":"\xed\xa0\x80"}',
                b'{"city":"\\ud800"}',
                b'{"city":"\\x"}',
                b'{"city":"a\nb"}',
                b'{"x":"\xc3\x28"}',
                b"{}\0",
            ):
                self.assertEqual(self.post(server, kind, 1, body), 400, f"{kind}: {body!r}")
                self.assertEqual(self.post(server, kind, "new", body), 400, f"new {kind}: {body!r}")
                self.assertEqual(self.post(server, kind, 999_999, body), 404, f"{kind}: {body!r}")
            self.assertEqual(self.post(server, kind, "new", {**right[kind], "id": 1}), 400, f"{kind}: an id that exists")
            for word in ("bad", "-1", "4294967296", "1/visits", "", "new/1"):
                self.assertEqual(self.post(server, kind, word, {}), 404, f"{kind}/{word}")
        self.assertEqual(self.post(server, "users", 1, {"email": model.tables["users"][2]["email"]}), 400)
        self.assertEqual(self.post(server, "users", "new", {**right["users"], "email": model.tables["users"][2]["email"]}), 400)
        self.assertEqual(server.get("/users/900").status, 404)
        self.compare(server, model)

    def test_bodies_that_are_taken(self):
        server, model = self.travel(), Model(self.data)
        taken = [
            ("users", 1, b" \r\n\t{ } ", {}), ("users", 1, b'{"unknown": null, "first_name": "\\u0416\\ud83d\\ude00\\/"}', {"first_name": "Ж😀/"}),
            ("users", 1, b'{"last_name":"", "email":"' + "ж".encode() * 100 + b'"}', {"last_name": "", "email": "ж" * 100}), ("users", 2, b'{"birth_date":-2147483648}', {"birth_date": -(2**31)}),
            ("locations", 1, b'{"place":"' + b"x" * 65_535 + b'"}', {"place": "x" * 65_535}), ("locations", 2, b'{"distance":4294967295,"city":"\\u0000\\""}', {"distance": 2**32 - 1, "city": '\0"'}),
            ("visits", 1, b'{"mark":5,"mark":0}', {"mark": 0}), ("visits", 2, b'{"user":4294967295,"location":0}', {"user": 2**32 - 1, "location": 0}), ("visits", 2, b'{"user":3,"location":4}', {"user": 3, "location": 4}),
        ]
        for kind, key, body, value in taken:
            self.assertEqual((self.post(server, kind, key, body), model.post(kind, str(key), value)), (200, 200), f"{kind}/{key} {body!r:.80}")
        # Users and locations that no record can be: the visit counts where nothing is asked of them.
        for key, moved in (
            (5, {"user": 2**32 - 1, "location": 1}),
            (6, {"user": 1, "location": 2**32 - 1}),
            (7, {"user": 90_000, "location": 1}),
            (8, {"user": 1, "location": 90_000}),
        ):
            self.assertEqual((self.post(server, "visits", key, moved), model.post("visits", str(key), moved)), (200, 200))
        with server.connect() as client:
            for target in ("/locations/1/avg", "/locations/1/avg?gender=m", "/locations/1/avg?fromAge=1", "/users/1/visits", "/users/1/visits?toDistance=50"):
                self.same(client, model, target)
        last = {"id": 2**32 - 2, "location": 1, "user": 1, "visited_at": 2**31 - 1, "mark": 0}
        self.assertEqual((self.post(server, "visits", "new", last), model.post("visits", "new", last)), (200, 200))
        # One's own address again is no other's.
        own = {"email": model.tables["users"][3]["email"]}
        self.assertEqual(self.post(server, "users", 3, own), 200)
        self.compare(server, model)

    def test_data_that_cannot_be_loaded(self):
        empty = self.folder / "empty"
        empty.mkdir()
        broken = generate(self.folder / "broken", "--users", 20, "--locations", 20, "--visits", 20)
        visits = broken / "visits_1.json"
        visits.write_bytes(visits.read_bytes()[:-40])
        cases = [(self.folder / "nowhere", "there is no directory"), (empty, "options.txt"), (broken, "visits_1.json")]
        for data, word in cases:
            line = [support.php(), "-n", "-d", f"extension={support.module()}", str(EXAMPLE / "server.php"), "0", "--data", str(data)]
            done = subprocess.run(line, capture_output=True, text=True, timeout=support.PATIENCE)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(word, done.stderr)

    def test_a_loader_that_is_killed(self):
        """It hangs in a file that is a pipe without a writer."""
        stuck = generate(self.folder / "stuck", "--users", 20, "--locations", 20, "--visits", 20)
        os.mkfifo(stuck / "visits_2.json")
        line = [support.php(), "-n", "-d", f"extension={support.module()}", str(EXAMPLE / "server.php"), "0", "--data", str(stuck), "--loaders", "1"]
        with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            loader = int(support.until("a loader", lambda: children.read_text().split())[0])
            os.kill(loader, signal.SIGKILL)
            said = process.communicate(timeout=support.PATIENCE)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("signal 9", said)

    def test_options_without_sense(self):
        for words in (["--what", "1"], ["--workers", "x"], ["--workers"], ["70000"], ["--max-id", "4294967295"]):
            line = [support.php(), "-n", "-d", f"extension={support.module()}", str(EXAMPLE / "server.php"), *words]
            done = subprocess.run(line, capture_output=True, text=True, timeout=support.PATIENCE)
            self.assertEqual((done.returncode, "usage:" in done.stderr), (2, True), words)


class Writers(TravelCase):
    def threads(self, count, work):
        """Runs work(number) in threads at once; what one raises fails the test."""
        problems = []

        def one(number):
            try:
                work(number)
            except BaseException as error:
                problems.append(error)

        running = [threading.Thread(target=one, args=(number,)) for number in range(count)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        if problems:
            raise problems[0]

    def test_writers_at_once(self):
        """Each thread owns some records, and all move their visits between the same users and locations."""
        server, model = self.travel(), Model(self.data)
        count, reading = 8, threading.Event()
        plans = [[] for _ in range(count)]
        dice = Dice(SEED + 1, model)
        for _ in range(3000):
            kind, word, body = dice.post("visits" if dice.random.random() < 0.7 else None)
            owner = body["id"] if word == "new" and isinstance(body.get("id"), int) else 0 if word == "new" else int(word)
            plans[owner % count].append((kind, word, body, model.post(kind, word, body)))

        def write(number):
            for kind, word, body, status in plans[number]:
                self.assertEqual(self.post(server, kind, word, body), status, f"{kind}/{word} {body!r:.300}")

        def read():
            own = random.Random(SEED)
            with server.connect() as client:
                while not reading.is_set():
                    visits = client.request("GET", f"/users/{own.randint(1, 150)}/visits").json()["visits"]
                    times = [visit["visited_at"] for visit in visits]
                    self.assertEqual(times, sorted(times))

        def work(number):
            if number == count:
                return read()
            try:
                write(number)
            finally:
                done.append(number)
                if len(done) == count:
                    reading.set()

        done = []
        self.threads(count + 1, work)
        self.compare(server, model)

    def test_one_of_many_makes_a_record(self):
        server = self.travel()
        for number in range(20):
            body = {"id": 5000 + number, "place": "P", "country": "C", "city": "T", "distance": 1}
            user = {"id": 0, "email": f"one{number}@example.com", "first_name": "A", "last_name": "B", "gender": "f", "birth_date": 1}
            found = []
            self.threads(
                6,
                lambda thread: found.append(
                    (
                        self.post(server, "locations", "new", body),
                        self.post(server, "users", "new", {**user, "id": 6000 + 10 * number + thread}),
                    )
                ),
            )
            self.assertEqual(sorted(one for one, _ in found), [200, 400, 400, 400, 400, 400])
            self.assertEqual(sorted(one for _, one in found), [200, 400, 400, 400, 400, 400], "one address for two users")

    def test_killed_workers(self):
        """A POST whose worker is killed is done or is not; the lists agree with the records in either case."""
        server, model = self.travel(), Model(self.data)
        dice, lock, kills = Dice(SEED + 2, model), threading.Lock(), 10
        stop = threading.Event()

        def write(_):
            while not stop.is_set():
                with lock:
                    kind = dice.random.choice(["visits", "visits", *KINDS])
                    word, body = str(dice.id(kind, 0)), dice.fields(kind)
                try:
                    self.assertEqual(self.post(server, kind, word, body), 200)
                except (OSError, EOFError):
                    # Nobody knows whether it was done.
                    continue

        def kill(_):
            try:
                for _ in range(kills):
                    workers = support.until("a worker", lambda: [pid for pid in server.workers() if pid not in killed])
                    before = len(killed)
                    killed.add(pid := workers[before % len(workers)])
                    os.kill(pid, signal.SIGKILL)
                    support.until("its end", lambda: not support.alive(pid))
            finally:
                stop.set()

        killed = set()
        self.threads(5, lambda number: kill(number) if number == 0 else write(number))
        # The truth is what the records say now.
        with server.connect() as client:
            for kind in KINDS:
                for key in model.tables[kind]:
                    record = client.request("GET", f"/{kind}/{key}").json()
                    self.assertEqual((record.pop("id"), record.keys()), (key, set(FIELDS[kind])))
                    model.tables[kind][key] = record
        self.compare(server, model)
        # The index of addresses, and the lock before it, have survived, too.
        for key in range(1, 30):
            for other, status in ((key, 200), (key + 1, 400)):
                body = {"email": model.tables["users"][other]["email"]}
                self.assertEqual(self.post(server, "users", key, body), status, f"{key} {other} {body}")


class Snapshots(TravelCase):
    def setUp(self):
        super().setUp()
        self.kept = self.folder / "snapshot"

    def changed(self):
        """A server with a snapshot, stopped after random changes; the model has them, too."""
        server, model = self.travel("--snapshot", str(self.kept)), Model(self.data)
        dice = Dice(SEED + 3, model)
        for _ in range(300):
            kind, word, body = dice.post()
            self.assertEqual(self.post(server, kind, word, body), model.post(kind, word, body))
        return server, model

    def test_a_restart_gives_the_same_answers(self):
        server, model = self.changed()
        self.assertEqual(server.stop(), 0, server.said())
        again = self.travel("--snapshot", str(self.kept), data=self.folder / "nowhere")
        self.compare(again, model)
        # It can be changed as before, and is saved again at its end.
        body = {"id": 77_777, "location": 1, "user": 1, "visited_at": 5, "mark": 5}
        self.assertEqual((self.post(again, "visits", "new", body), model.post("visits", "new", body)), (200, 200))
        self.assertEqual(again.stop(), 0, again.said())
        self.compare(self.travel("--snapshot", str(self.kept), data=self.folder / "nowhere"), model)

    def test_a_reload_saves(self):
        server, model = self.changed()
        before = self.kept.read_bytes()
        server.kill(signal.SIGUSR1)
        support.until("a new snapshot", lambda: self.kept.read_bytes() != before)
        # What comes after it is not in it: the master has no time to save.
        server.kill(signal.SIGKILL)
        self.compare(self.travel("--snapshot", str(self.kept), data=self.folder / "nowhere"), model)

    def test_a_snapshot_that_cannot_be_saved(self):
        server = self.travel("--snapshot", str(self.folder / "nowhere" / "snapshot"))
        self.assertIn("snapshot not saved", server.said())
        self.assertEqual(server.get("/users/1").status, 200)

    def test_a_torn_snapshot_is_refused(self):
        server, _ = self.changed()
        self.assertEqual(server.stop(), 0, server.said())
        original = {path: path.read_bytes() for path in self.folder.glob(self.kept.name + "*")}
        self.assertEqual(len(original), 4, original.keys())
        fresh = Model(self.data)

        def torn(path, data):
            yield data[:-1]
            yield data[: len(data) // 2]
            yield b""
            # In the file that names the others: a digit of the time of the data.
            place = data.index(b'"now":') + 6 if path == self.kept else len(data) // 2
            yield data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

        for path, data in original.items():
            for broken in torn(path, data):
                for other, right in original.items():
                    other.write_bytes(right)
                path.write_bytes(broken)
                with support.Server(script=f"<?php require '{EXAMPLE / 'server.php'}';", args=["0", "--data", str(self.data), "--workers", "1", "--snapshot", str(self.kept)]) as again:
                    self.assertIn("snapshot refused", again.said(), path)
                    with again.connect() as client:
                        for kind in KINDS:
                            for key in (1, 2, 90):
                                self.same(client, fresh, f"/{kind}/{key}")
                        for key in range(1, 60):
                            self.same(client, fresh, f"/users/{key}/visits")
                            self.same(client, fresh, f"/locations/{key}/avg")
                for leftover in self.folder.glob(self.kept.name + "*"):
                    leftover.unlink()


class Generated(TravelCase):
    def test_the_same_seed_makes_the_same_bytes(self):
        words = ("--users", 30, "--locations", 20, "--visits", 25_000, "--get", 50, "--post", 20, "--get-after", 30)
        folders = [self.folder / name for name in ("one", "two", "other")]
        for folder, seed in zip(folders, (5, 5, 6)):
            generate(folder, *words, "--seed", seed)
        files = [{path.relative_to(folder): path.read_bytes() for path in folder.glob("*/*")} for folder in folders]
        self.assertEqual(files[0], files[1])
        self.assertNotEqual(files[0], files[2])
        self.assertEqual(sum(path.name.startswith("visits") for path in files[0]), 3)
        ammo = files[0][pathlib.Path("ammo/phase_2_post.ammo")]
        count = 0
        while ammo:
            head, _, ammo = ammo.partition(b"\n")
            request, ammo = ammo[: int(head.split()[0])], ammo[int(head.split()[0]) + 1 :]
            count += 1
            self.assertTrue(request.startswith(b"POST /"), request)
            json.loads(request.partition(b"\r\n\r\n")[2])
        self.assertEqual(count, 20)


if __name__ == "__main__":
    unittest.main()
