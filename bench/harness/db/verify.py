"""The right answer of each test. Nothing is measured that has not just given it."""

import hashlib
import http.client
import json

from ..verify import WrongAnswer
from .plan import Test

FIRST_ID, LAST_ID = 1000, 9999
_CACHED_LENGTHS = {count: sum(len(f"the value of {number}") for number in range(count)) for count in (1_000, 10_000)}
_SUMS = {count: sum(range(count)) for count in (10, 100)}
# What the answer to a test holds besides its name; rows are checked one by one.
_FIXED = {
    "basic": {},
    "basic_class_load": {"greeting": "Hello, World!"},
    "basic_class_load_multiple": {"classes": _SUMS[100]},
    "basic_query": {},
    "basic_query_with_pool": {},
    "basic_query_with_pool_and_caching": {},
    "real_app_simulation": {"classes": _SUMS[100], "cache": _CACHED_LENGTHS[10_000]},
    "real_app_simulation_with_files": {"classes": _SUMS[100], "cache": _CACHED_LENGTHS[10_000], "files": 10_240},
    "real_app_simulation_with_files_and_connections": {
        "classes": _SUMS[100],
        "cache": _CACHED_LENGTHS[10_000],
        "files": 10_240,
    },
    "real_app_simulation_with_files_and_connections_simpler": {
        "classes": _SUMS[10],
        "cache": _CACHED_LENGTHS[1_000],
        "files": 1_024,
    },
    "simple_real_app_simulation": {"classes": _SUMS[100], "cache": _CACHED_LENGTHS[1_000]},
    "sleeping_query_with_pool": {},
}
# Fields with rows: how many.
_ROWS = {
    "basic_query": ("row", 1),
    "basic_query_with_pool": ("row", 1),
    "basic_query_with_pool_and_caching": ("row", 1),
    "real_app_simulation_with_files_and_connections": ("slept", 20),
    "real_app_simulation_with_files_and_connections_simpler": ("slept", 2),
    "simple_real_app_simulation": ("rows", 2),
    "sleeping_query_with_pool": ("row", 1),
}
# The second answer of a process takes other ways than the first: classes are loaded, the cache is full.
_TIMES = 3


def verify(port: int, test: Test) -> None:
    """Raises WrongAnswer, or OSError where the server does not answer at all."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        for _ in range(_TIMES):
            check(test.name, *_get(connection, test.path))
            if connection.sock is None:
                raise WrongAnswer(f"{test.path}: the connection was not kept alive")
        status, _ = _get(connection, "/nowhere")
        if status != 404:
            raise WrongAnswer(f"/nowhere: status {status} in place of 404")
    except http.client.HTTPException as error:
        raise WrongAnswer(f"not HTTP: {error!r}") from error
    finally:
        connection.close()


def check(name: str, status: int, body: bytes) -> None:
    """Raises WrongAnswer unless this is what the test `name` answers."""
    if status != 200:
        raise WrongAnswer(f"/{name}: status {status}: {body[:200]!r}")
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise WrongAnswer(f"/{name}: no JSON: {body[:200]!r}") from error
    field, count = _ROWS.get(name, (None, 0))
    rows = answer.pop(field, None) if field else []
    if answer != {"test": name, **_FIXED[name]}:
        raise WrongAnswer(f"/{name}: {answer!r} in place of {_FIXED[name]!r}")
    rows = [rows] if isinstance(rows, dict) else rows
    if not isinstance(rows, list) or len(rows) != count:
        raise WrongAnswer(f"/{name}: {count} rows were asked for: {body[:200]!r}")
    for row in rows:
        _check_row(name, row, slept=field == "slept" or name.startswith("sleeping"))


def _check_row(name: str, row, slept: bool) -> None:
    number = row.get("id") if isinstance(row, dict) else None
    if not isinstance(number, int) or not FIRST_ID <= number <= LAST_ID:
        raise WrongAnswer(f"/{name}: no row that was asked for: {row!r}")
    right = {"id": number, "name": f"item {number:05}"}
    if slept:
        right["slept"] = 0
    else:
        right["description"] = hashlib.md5(str(number).encode()).hexdigest() * 6
    if row != right:
        raise WrongAnswer(f"/{name}: {row!r} in place of {right!r}")


def _get(connection: http.client.HTTPConnection, path: str) -> tuple[int, bytes]:
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.headers.get("Content-Length") is None:
        raise WrongAnswer(f"{path}: no Content-Length")
    return answer.status, answer.read()
