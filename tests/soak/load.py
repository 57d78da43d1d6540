"""The load: connections that ask for random routes, and look at every answer."""

import asyncio
import collections
import hashlib
import json
import re
import time

# A request that has no answer after so many seconds counts as hung: far above every limit that the application sets.
HANG_SECONDS = 45
ROUTES = {
    "pdo": 3, "pdopool": 8, "pgsql": 5, "mysqli": 3, "mysqlipool": 8, "big": 2, "transaction": 4, "unfinished": 2,
    "redis": 3, "redispool": 8, "blpop": 3, "fan": 4, "cancel": 4,
}  # fmt: skip
# The share of requests whose client goes away before the answer.
GONE = 0.02
# What tells a reader which thing broke, and how. An error without any of these is not clear.
CLEAR = re.compile(
    r"server has gone away|Lost connection|Connection refused|Connection lost|lost the result|Connection reset|Connection was killed|Query execution was interrupted"
    r"|interrupted|Error while reading|Packets out of order|Error reading result set's header|MySQL server|Broken pipe"
    r"|read error on connection|went away|socket error|key is gone|SET was not done|pipeline was not answered|LOADING|Redis server"
    r"|server closed the connection|terminating connection|no connection to the server|could not connect|connection to server"
    r"|SSL SYSCALL|timed out|timeout|no connection came free|pool|Cannot create|shutting down|starting up|recovery"
    r"|Connection timed out|No such file|was cancelled|The connection was closed|Success",
    re.IGNORECASE,
)


def sha1(text):
    return hashlib.sha1(text.encode()).hexdigest()


class Tally:
    """What became of all requests."""

    def __init__(self):
        self.right = collections.Counter()
        self.clear = collections.Counter()
        self.causes = collections.Counter()
        self.gone = 0
        self.problems = []
        self.slowest = 0.0
        # Times at which clear errors came, with their texts: those in calm times are problems after all.
        self.errors = []

    def problem(self, text):
        self.problems.append(text)


class Connection:
    """One client: a request at a time over a connection that is kept."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def open(self):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    def drop(self):
        if self.writer is not None:
            self.writer.transport.abort()
            self.reader = self.writer = None

    async def send(self, path):
        await self.open()
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: soak\r\n\r\n".encode())
        await self.writer.drain()

    async def answer(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status = int(head.split(" ", 2)[1])
        length = re.search(r"^content-length: *(\d+)", head, re.IGNORECASE | re.MULTILINE)
        if not length:
            raise ValueError(f"no length in {head!r}")
        body = await self.reader.readexactly(int(length[1]))
        if re.search(r"^connection: *close", head, re.IGNORECASE | re.MULTILINE):
            self.drop()
        return status, body


def expected(route, number, mark):
    """What a right answer holds."""
    if route == "big":
        first = min(number, 9500)
        return {"count": 500, "first": first, "value": sha1("".join(sha1(f"row-{i}") for i in range(first, first + 500)))}
    right = {"value": sha1(f"row-{number}"), "mark": mark}
    if route in ("transaction", "unfinished"):
        right["left"] = 0
    if route == "cancel":
        right["cancelled"] = True
    return right


def judge(tally, route, number, mark, began, status, body):
    asked = f"/{route} id={number} mark={mark}"
    try:
        said = json.loads(body)
    except ValueError:
        return tally.problem(f"{asked}: {status} without JSON: {body[:300]!r}")
    if status == 200:
        right = {"ok": True, "route": route, "id": number, **expected(route, number, mark)}
        if said != right:
            return tally.problem(f"{asked}: WRONG ANSWER {json.dumps(said)[:600]}, not {json.dumps(right)[:600]}")
        tally.right[route] += 1
        return None
    errors = said.get("errors")
    if status != 503 or said.get("ok") is not False or not errors:
        return tally.problem(f"{asked}: {status} {body[:300]!r}")
    text = " <- ".join(f"{one['class']} ({one['code']}): {one['message']}" for one in errors)
    if "MIXED" in text or "NotCancelled" in text or not CLEAR.search(text):
        return tally.problem(f"{asked}: no clear error: {text}")
    tally.clear[route] += 1
    tally.causes[re.sub(r"\d+", "N", text)[:160]] += 1
    tally.errors.append((began, time.monotonic(), f"{asked}: {text}"))
    return None


async def client(port, name, random, tally, running):
    """Asks one thing after the other until `running` is cleared."""
    connection = Connection(port)
    names, weights = list(ROUTES), list(ROUTES.values())
    count = 0
    while running.is_set():
        route = random.choices(names, weights)[0]
        number, ms = random.randrange(1, 10_001), random.choice((0, 1, 2, 5, 10, 20))
        count += 1
        mark = f"m{name}x{count}"
        began = time.monotonic()
        try:
            async with asyncio.timeout(HANG_SECONDS):
                await connection.send(f"/{route}?id={number}&mark={mark}&ms={ms}")
                if random.random() < GONE:
                    await asyncio.sleep(random.random() * 0.02)
                    connection.drop()
                    tally.gone += 1
                    continue
                status, body = await connection.answer()
        except TimeoutError:
            tally.problem(f"/{route} id={number} mark={mark} ms={ms}: HANGS, no answer after {HANG_SECONDS} s")
            connection.drop()
            continue
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            tally.problem(f"/{route} id={number} mark={mark}: the connection failed: {error!r}")
            connection.drop()
            await asyncio.sleep(0.05)
            continue
        tally.slowest = max(tally.slowest, time.monotonic() - began)
        judge(tally, route, number, mark, began, status, body)
    connection.drop()
