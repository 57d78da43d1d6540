"""The same API (W7) on Apus, nginx with php-fpm, Go with three routers, and Swoole: an event that is checked and kept, a
campaign by its id, a list of fifty."""

import hashlib
import http.client
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import page
from .contenders import Contender
from .db import mariadb
from .document import Aim, Document, over
from .measure import Bench, Cores, Ports
from .programs import Column, Tables, cell
from .scenarios import Target
from .suite import Step, Suite, warn_of_busy
from .verify import WrongAnswer

KEY = "ads_" + "0123456789abcdef" * 3
CAMPAIGNS = 10_000
EVENT = {"id": "0189a7c2-5a1e-7000-8000-0123456789ab", "kind": "click", "campaign": 42, "creative": 7}
PEERS = ("fpm", "chi", "gin", "gorilla", "swoole")
# c=1000 on one core: a query waits for its turn.
WARM_UP_SECONDS = 1.0

TABLES = f"""
CREATE TABLE api_key (hash BINARY(32) PRIMARY KEY, client INT UNSIGNED NOT NULL);
INSERT INTO api_key VALUES (UNHEX('{hashlib.sha256(KEY.encode()).hexdigest()}'), 1);
INSERT INTO api_key SELECT UNHEX(SHA2(seq, 256)), seq FROM seq_2_to_1000;
CREATE TABLE campaign (id INT UNSIGNED PRIMARY KEY, advertiser INT UNSIGNED NOT NULL, name VARCHAR(200) NOT NULL, state VARCHAR(10) NOT NULL, budget_cents BIGINT UNSIGNED NOT NULL);
INSERT INTO campaign SELECT seq, seq MOD 97 + 1, CONCAT('campaign ', seq), IF(seq MOD 3, 'active', 'paused'), seq * 100 FROM seq_1_to_{CAMPAIGNS};
"""

_COLUMNS = (
    Column("cpu_us", "CPU us", 1, 1),
    Column("rps", "requests/s"),
    Column("p50_us", "p50 ms", 1000, 2),
    Column("p99_us", "p99 ms", 1000, 2),
    Column("failed", "failed"),
)


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    target: Target
    posts: bool = False
    columns: tuple[Column, ...] = _COLUMNS


def _cases() -> Iterator[Case]:
    key = (f"Authorization: Bearer {KEY}",)
    for many in (100, 1000):
        where = f"{many:,} connections"
        yield Case(f"event-c{many}", f"POST of an event, checked and kept, {where}", Target("/v1/events", many, ("Content-Type: application/json",)), True)
        yield Case(f"campaign-c{many}", f"GET of a campaign, key looked up, {where}", Target("/v1/campaigns/4711", many, key))
        yield Case(f"list-c{many}", f"GET of fifty campaigns, key looked up, {where}", Target("/v1/campaigns?after=2000", many, key))


CASES = tuple(_cases())
# Nine tenths of the work is PHP's own there, the same beside Swoole: docs/decisions/0032-rows-are-php.md.
LISTS = tuple(case for case in CASES if case.name.startswith("list-"))
PHP_ALONE = 0.05


class ApiResults(Document):
    def times(self, case: str, contender: str) -> str:
        ratio = None if contender == "apus" else self.ratio(case, "cpu_us", contender, "apus")
        return "" if ratio is None else f"{ratio:.2f}"

    def noise(self, case: str, contender: str) -> str:
        """What others took of the server's core."""
        return self.share(case, contender, "foreign_load")

    def client(self, case: str, contender: str) -> str:
        """What wrk and MariaDB took of their core."""
        return self.share(case, contender, "client_core_load")

    def paced(self, case: str, *names: str) -> bool:
        """Whether the server sets the pace of each of them: docs/decisions/0016-the-aim-beside-swoole.md."""
        return all((self.value(case, name, "client_core_load") or 0) < page.CLIENT_BOUND for name in names)

    def aims(self) -> list[Aim]:
        def worst(key: str, peer: str, cases: tuple[Case, ...]) -> float | None:
            """The ratio in the case in which it is worst for Apus."""
            compared = (case.name for case in cases if key == "cpu_us" or self.paced(case.name, "apus", peer))
            return over(max if key == "cpu_us" else min, (self.ratio(case, key, "apus", peer) for case in compared))

        def pair(peer: str, cases: tuple[Case, ...], what: str, slack: float) -> Iterator[Aim]:
            name = f"{what}: Apus / {self.titles.get(peer, peer)}"
            yield Aim(f"CPU, {name}, at most", worst("cpu_us", peer, cases), 1 + slack)
            yield Aim(f"Throughput, {name}, at least", worst("rps", peer, cases), 1 - slack, True)

        failed = [self.value(case.name, "apus", "failed") for case in CASES]
        return [
            *(aim for peer in PEERS if peer != "swoole" for aim in pair(peer, CASES, "the worst case", 0)),
            *pair("swoole", tuple(case for case in CASES if case not in LISTS), "the worst case but for fifty campaigns", 0),
            *pair("swoole", LISTS, "fifty campaigns", PHP_ALONE),
            Aim("Failed requests of Apus, at most", max((count for count in failed if count is not None), default=None), 0),
        ]


def _intro(results: Document) -> str:
    options = results.document["options"]
    return (
        f"Measurements of {options['seconds']} s (three times that at 1,000 connections), the median of {options['rounds']} interleaved rounds. Generated by `make bench-api`. "
        "One worker on one core (nginx and php-fpm share it); wrk and MariaDB on the other. CPU is that of the server's processes, "
        "user and system, for one answer, MariaDB's not included. Storage is the same for all: an event is one write to a file that "
        "is opened for appending; keys and campaigns come from MariaDB, over a Unix socket and eight connections, one round trip a "
        "query; a request holds one connection at a time. Statements stay prepared with their connections; behind php-fpm, where they "
        "end with the request, they are sent as text. All gave the same answers before. The last two columns are what wrk and MariaDB took of their core, and "
        "other programs of the server's; where the former is full "
        f"({page.CLIENT_BOUND:.0%}), it sets the pace, and throughput is not compared."
    )


class Api(Suite):
    NAME = "api"
    COMMAND = "bench/run api"
    ABOUT = (
        "The same API on Apus, nginx with php-fpm, Go with chi, gin and gorilla/mux, and Swoole, at 100 and 1,000 connections: "
        "throughput, latency, CPU a request, failures. Writes the raw figures by date and a Markdown table."
    )
    RESULTS = ApiResults
    REPORT = Tables("An API", _intro, CASES, (("x Apus", ApiResults.times), ("client's core", ApiResults.client), ("of others", ApiResults.noise)))
    ORDER = ("apus", *PEERS)
    CASES = CASES
    QUICK = ("event-c100", "campaign-c100")
    QUICK_HELP = "two cases, one round of 1 s"
    ROUNDS = (3, 1)
    SECONDS = (2, 1)
    WHOLE_SECONDS = True
    TOOLS = {"taskset": "util-linux", "wrk": "wrk"}

    def prepare(self) -> None:
        self.cores = Cores.last_two()

    def missing(self) -> list[str]:
        return mariadb.missing()

    @contextmanager
    def open(self, ready: list[Contender]) -> Iterator[None]:
        warn_of_busy(self.cores.server, self.cores.client)
        with ExitStack() as stack:
            scratch = Path(tempfile.mkdtemp(prefix="apus-bench-api-", dir=self.options.scratch))
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
            scratch.chmod(0o755)
            self.body = scratch / "event.json"
            self.body.write_text(json.dumps(EVENT))
            self.database = mariadb.MariaDb(scratch, str(self.cores.client), Ports().free(), False, f"USE {mariadb.NAME};{TABLES}")
            stack.callback(self.database.stop)
            self.database.start()
            self.bench = stack.enter_context(closing(Bench(self.options.scratch, self.cores)))
            yield

    def settings(self) -> dict:
        return {"rounds": self.options.rounds, "seconds": self.options.seconds, "database": self.database.version()}

    def duration(self, step: Step) -> float:
        return step.case.target.seconds(self.options.seconds) + 2

    def measure(self, step: Step) -> dict:
        with self.bench.serving(step.contender, self.database.tokens()) as (group, port):
            verify(port)
            body = self.body if step.case.posts else None
            figures = self.bench.under_load(group, step.case.target, port, self.options.seconds, body, WARM_UP_SECONDS)
        self.database.settle()
        figures["failed"] = sum(figures["errors"].values())
        return figures

    def line(self, step: Step, figures: dict) -> str:
        shown = ", ".join(f"{column.head} {cell(figures.get(column.key), column)}" for column in step.case.columns)
        return f"{shown}, of others {figures['foreign_load']:.0%}"


def campaign(number: int) -> dict:
    state = "active" if number % 3 else "paused"
    return {"id": number, "advertiser": number % 97 + 1, "name": f"campaign {number}", "state": state, "budget_cents": number * 100}


def expected() -> Iterator[tuple[str, str, object, dict, int, dict]]:
    """Method, path, body, head, and the status and JSON that all have to answer with."""
    key = {"Authorization": f"Bearer {KEY}"}
    yield "POST", "/v1/events", EVENT, {}, 202, {"accepted": 1}
    for body in ("", "{", "[1]", "7", "null"):
        yield "POST", "/v1/events", body, {}, 400, {"error": "send a JSON object"}
    for field, what, values in (
        ("id", "must be a UUID", (None, 7, "x", EVENT["id"].upper())),
        ("kind", "must be one of impression, click", (None, "view", ["click"])),
        ("campaign", "must be a number above 0", (None, 0, -1, "1", 1.5, 1 << 32)),
        ("creative", "must be a number above 0", (None, True, [])),
        ("more", "is not known", (1,)),
    ):
        for value in values:
            wrong = {"error": "the request is not valid", "fields": {field: what}}
            yield "POST", "/v1/events", {**EVENT, field: value}, {}, 422, wrong
    for number in (1, 4711, CAMPAIGNS):
        yield "GET", f"/v1/campaigns/{number}", None, key, 200, campaign(number)
    yield "GET", f"/v1/campaigns/{CAMPAIGNS + 1}", None, key, 404, {"error": "there is no such campaign"}
    for field in ({}, {"Authorization": "Bearer x"}, {"Authorization": KEY}):
        yield "GET", "/v1/campaigns/1", None, field, 401, {"error": "there is no such key"}
        yield "GET", "/v1/campaigns?after=0", None, field, 401, {"error": "there is no such key"}
    for after in (0, 2000, CAMPAIGNS - 1, CAMPAIGNS):
        rows = [campaign(number) for number in range(after + 1, min(after + 51, CAMPAIGNS + 1))]
        yield "GET", f"/v1/campaigns?after={after}", None, key, 200, {"campaigns": rows}
    yield "GET", "/v1/campaigns?after=x", None, key, 422, {"error": "the request is not valid", "fields": {"after": "must be a number"}}


def verify(port: int) -> None:
    """Raises WrongAnswer unless every answer is the one that all give."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        for method, path, body, head, status, value in expected():
            text = body if isinstance(body, str | None) else json.dumps(body)
            kind = {"Content-Type": "application/json"} if method == "POST" else {}
            connection.request(method, path, text, {**head, **kind})
            answer = connection.getresponse()
            received = answer.read()
            got = answer.status, answer.headers.get("Content-Type"), json.loads(received or b"null")
            if got != (status, "application/json", value):
                raise WrongAnswer(f"{method} {path} {text}: {got} in place of {status} {value}")
    except (http.client.HTTPException, ValueError) as error:
        raise WrongAnswer(f"{error!r}") from error
    finally:
        connection.close()
