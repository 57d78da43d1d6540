"""The contract of the four routes. Nothing is measured that has not just given the right answers."""

import http.client
import json
import re
from pathlib import Path

UUID4 = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
LISTING = [{"id": number, "name": f"item {number}", "active": number % 2 == 0} for number in range(100)]


class WrongAnswer(Exception):
    pass


def verify(port: int, files: Path, upload: bytes, echo: bytes) -> None:
    """Raises WrongAnswer, or OSError where the server does not answer at all."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        _expect(connection, "GET", "/", None, "text/plain", lambda body: body == b"Hello, World!")
        kept = connection.sock
        _expect(connection, "GET", "/json", None, "application/json", lambda body: json.loads(body) == LISTING)
        _expect(connection, "POST", "/upload", upload, "text/plain", UUID4.fullmatch)
        _expect(connection, "POST", "/echo", echo, "application/octet-stream", lambda body: body == echo)
        if connection.sock is not kept or kept is None:
            raise WrongAnswer("the connection was not kept alive")
        _expect(connection, "GET", "/nowhere", None, "", lambda body: True, status=404)
        _expect(connection, "GET", "/", None, "text/plain", lambda body: True, close=True)
        if connection.sock is not None:
            raise WrongAnswer("Connection: close was not honoured")
    except http.client.HTTPException as error:
        raise WrongAnswer(f"not HTTP: {error!r}") from error
    finally:
        connection.close()
    if left := list(files.iterdir()):
        raise WrongAnswer(f"{len(left)} uploaded files were not deleted")


def _expect(connection, method, path, body, kind, right, status=200, close=False) -> None:
    headers = {"Connection": "close"} if close else {}
    if body is not None:
        headers["Content-Type"] = "application/octet-stream"
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    received = answer.read()
    where = f"{method} {path}"
    if answer.status != status:
        raise WrongAnswer(f"{where}: status {answer.status} in place of {status}: {received[:200]!r}")
    if not (answer.headers.get("Content-Type") or "").startswith(kind):
        raise WrongAnswer(f"{where}: Content-Type {answer.headers.get('Content-Type')!r} in place of {kind!r}")
    if answer.headers.get("Content-Length") is None:
        raise WrongAnswer(f"{where}: no Content-Length")
    if not right(received):
        raise WrongAnswer(f"{where}: wrong body ({len(received)} bytes): {received[:200]!r}")
