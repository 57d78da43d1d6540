"""The travel service as a brute-force model: dictionaries, and every answer by looking at every visit."""

import datetime
import decimal
import json
import pathlib
import random
import urllib.parse

KINDS = ("users", "locations", "visits")
FIELDS = {
    "users": ("email", "first_name", "last_name", "gender", "birth_date"),
    "locations": ("place", "country", "city", "distance"),
    "visits": ("location", "user", "visited_at", "mark"),
}
UINT32, INT32 = (0, 2**32 - 1), (-(2**31), 2**31 - 1)
RULES = {
    "email": 100, "first_name": 50, "last_name": 50, "gender": {"m", "f"}, "birth_date": INT32,
    "place": 65_535, "country": 50, "city": 50, "distance": UINT32,
    "location": UINT32, "user": UINT32, "visited_at": INT32, "mark": (0, 5),
}


class Bad(Exception):
    """Answered with 400."""


def fits(name, value):
    rule = UINT32 if name == "id" else RULES[name]
    if isinstance(rule, int):
        return isinstance(value, str) and len(value) <= rule
    if isinstance(rule, set):
        return isinstance(value, str) and value in rule
    return type(value) is int and rule[0] <= value <= rule[1]


def number(text):
    digits = text.removeprefix("-")
    if not digits or not digits.isascii() or not digits.isdigit():
        raise Bad(text)
    return int(text)


def mean(marks):
    """Half up to five decimals, in exact arithmetic."""
    if not marks:
        return 0.0
    exact = decimal.Decimal(sum(marks)) / len(marks)
    return float(exact.quantize(decimal.Decimal("0.00001"), decimal.ROUND_HALF_UP))


class Model:
    def __init__(self, data):
        data = pathlib.Path(data)
        self.now = int((data / "options.txt").read_text().split()[0])
        self.tables = {kind: {} for kind in KINDS}
        for kind in KINDS:
            for path in data.glob(f"{kind}_*.json"):
                for record in json.loads(path.read_bytes())[kind]:
                    self.tables[kind][record.pop("id")] = record

    def years_before(self, years):
        now = datetime.datetime.fromtimestamp(self.now, datetime.timezone.utc)
        if not 1 <= now.year - years <= 9999:
            return -(2**62) if years > 0 else 2**62
        try:
            return int(now.replace(year=now.year - years).timestamp())
        except ValueError:  # the 29th of February where there is none
            return int(now.replace(year=now.year - years, month=3, day=1).timestamp())

    def get(self, target):
        """(status, value) of a GET; the target has a valid path."""
        path, _, query = target.partition("?")
        _, kind, word, *rest = path.split("/")
        table = self.tables.get(kind)
        if table is None or not word.isascii() or not word.isdigit() or int(word) not in table or len(rest) > 1:
            return 404, None
        if not rest:
            return 200, {"id": int(word), **table[int(word)]}
        given = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        try:
            if (kind, rest[0]) == ("users", "visits"):
                return 200, self.visits(int(word), given)
            if (kind, rest[0]) == ("locations", "avg"):
                return 200, self.average(int(word), given)
        except Bad:
            return 400, None
        return 404, None

    def of(self, field, value, given):
        """The visits of a user or a location at the dates asked for, in their order."""
        after = number(given["fromDate"]) if "fromDate" in given else -(2**70)
        until = number(given["toDate"]) if "toDate" in given else 2**70
        found = [(visit["visited_at"], key, visit) for key, visit in self.tables["visits"].items() if visit[field] == value]
        return [visit for at, _, visit in sorted(found, key=lambda one: one[:2]) if after < at < until]

    def visits(self, user, given):
        if given.get("country") == "":
            raise Bad("country")
        near = number(given["toDistance"]) if "toDistance" in given else 2**70
        listed = []
        for visit in self.of("user", user, given):
            location = self.tables["locations"].get(visit["location"])
            if location and location["distance"] < near and given.get("country", location["country"]) == location["country"]:
                listed.append({"mark": visit["mark"], "visited_at": visit["visited_at"], "place": location["place"]})
        return {"visits": listed}

    def average(self, location, given):
        if "gender" in given and given["gender"] not in ("m", "f"):
            raise Bad("gender")
        before = self.years_before(number(given["fromAge"])) if "fromAge" in given else 2**70
        after = self.years_before(number(given["toAge"])) if "toAge" in given else -(2**70)
        marks = []
        for visit in self.of("location", location, given):
            user = self.tables["users"].get(visit["user"])
            if {"fromAge", "toAge", "gender"} & given.keys():
                if not user or not after < user["birth_date"] < before or given.get("gender", user["gender"]) != user["gender"]:
                    continue
            marks.append(visit["mark"])
        return {"avg": mean(marks)}

    def post(self, kind, word, body):
        """Status of a POST of a JSON value; what is right takes effect."""
        table = self.tables[kind]
        new = word == "new"
        if not new and int(word) not in table:
            return 404
        names = ("id", *FIELDS[kind]) if new else FIELDS[kind]
        if not isinstance(body, dict) or not all(fits(name, body[name]) for name in names if name in body):
            return 400
        if new and (any(name not in body for name in names) or body["id"] in table) or not new and "id" in body:
            return 400
        key = body["id"] if new else int(word)
        if kind == "users" and any(other["email"] == body.get("email") and number != key for number, other in table.items()):
            return 400
        table.setdefault(key, {}).update({name: body[name] for name in FIELDS[kind] if name in body})
        return 200


class Dice:
    """Random requests about a model's records; the same seed makes the same ones."""

    PLACES = ("Маяк", "Old \"Mill\"", "a\\b/c", "Ж" * 60, "line\nfeed", "😀 roof")
    COUNTRIES = ("Россия", "Chile", "Österreich", "Côte d'Ivoire")

    def __init__(self, seed, model):
        self.random, self.model, self.serial = random.Random(seed), model, 0

    def id(self, kind, stray=0.05):
        if self.random.random() < stray:
            return self.random.choice([10**6, 2**32 - 1, 0])
        return self.random.choice(sorted(self.model.tables[kind]))

    def get(self):
        kind, what = self.random.choice([("users", ""), ("locations", ""), ("visits", ""), *[("users", "/visits")] * 4, *[("locations", "/avg")] * 4])
        given = {}
        dice = self.random
        if what:
            if dice.random() < 0.4:
                given["fromDate"] = dice.randint(946_684_800, 1_420_070_400)
            if dice.random() < 0.4:
                given["toDate"] = dice.randint(946_684_800, 1_420_070_400)
        if what == "/visits":
            if dice.random() < 0.3:
                given["country"] = dice.choice(sorted({one["country"] for one in self.model.tables["locations"].values()}))
            if dice.random() < 0.3:
                given["toDistance"] = dice.randint(-1, 120)
        elif what == "/avg":
            for name in ("fromAge", "toAge"):
                if dice.random() < 0.4:
                    given[name] = dice.randint(0, 90)
            if dice.random() < 0.3:
                given["gender"] = dice.choice("mf")
        if given and dice.random() < 0.05:
            given[dice.choice(sorted(given))] = ""
        if dice.random() < 0.1:
            given["query_id"] = dice.randint(0, 999)
        return f"/{kind}/{self.id(kind)}{what}" + (f"?{urllib.parse.urlencode(given, quote_via=urllib.parse.quote)}" if given else "")

    def fields(self, kind):
        dice = self.random
        self.serial += 1
        if kind == "users":
            email = f"{self.serial}.{dice.randrange(10**6)}@пример.рф"
            return {
                "email": email,
                "first_name": dice.choice(["Нина", "Zoë", "O'Hara"]),
                "last_name": "Ы" * dice.randint(0, 50),
                "gender": dice.choice("mf"),
                "birth_date": dice.randint(-1_200_000_000, 900_000_000),
            }
        if kind == "locations":
            return {
                "place": dice.choice(self.PLACES),
                "country": dice.choice(self.COUNTRIES),
                "city": "Город"[: dice.randint(0, 5)],
                "distance": dice.choice([0, dice.randint(1, 100), 2**32 - 1]),
            }
        return {
            "location": self.id("locations", 0),
            "user": self.id("users", 0),
            "visited_at": dice.randint(946_684_800, 1_420_070_400),
            "mark": dice.randint(0, 5),
        }

    def post(self, kind=None):
        """(kind, word, body), some of them wrong."""
        dice = self.random
        kind = kind or dice.choice(KINDS)
        fields = self.fields(kind)
        if dice.random() < 0.25:
            self.serial += 1
            fields["id"] = dice.choice([50_000 + self.serial, 50_000 + self.serial, self.id(kind, 0)])
            if dice.random() < 0.1:
                fields.pop(dice.choice(sorted(fields)))
            return kind, "new", self.spoiled(fields)
        kept = {name: fields[name] for name in fields if dice.random() < 0.5}
        return kind, str(self.id(kind)), self.spoiled(kept)

    def spoiled(self, fields):
        if fields and self.random.random() < 0.1:
            name = self.random.choice(sorted(fields))
            return {**fields, name: self.random.choice([None, [], {}, True, 1.5, -1e30, 2**40, "x" * 70_000])}
        return fields
