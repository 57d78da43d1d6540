"""The contract of the servers, tried by another client than the one that measures. Nothing is measured that has not
just kept it: a message comes back with its opcode, a text that begins with `b:` goes to everybody, PING is answered."""

import base64
import hashlib
import os
import socket
import struct
import time

from .. import procs
from ..measure import START_SECONDS, StartFailed
from ..verify import WrongAnswer

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
# So many that each of two workers has one, but for once in thousands of times.
PEERS = 12
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Peer:
    """A connection; raises OSError or WrongAnswer."""

    def __init__(self, port: int, timeout: float = 10.0):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._bytes = b""
        key = base64.b64encode(os.urandom(16))
        self._socket.sendall(
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n" % (port, key)
        )
        while b"\r\n\r\n" not in self._bytes:
            self._more()
        head, _, self._bytes = self._bytes.partition(b"\r\n\r\n")
        check_head(head, key)

    def close(self) -> None:
        self._socket.close()

    def send(self, opcode: int, payload: bytes) -> None:
        self._socket.sendall(frame(opcode, payload, os.urandom(4)))

    def receive(self) -> tuple[int, bytes]:
        while (parsed := parse(self._bytes)) is None:
            self._more()
        opcode, payload, used = parsed
        self._bytes = self._bytes[used:]
        return opcode, payload

    def expect(self, opcode: int, payload: bytes) -> None:
        found = self.receive()
        if found != (opcode, payload):
            raise WrongAnswer(f"{found[0]}, {found[1][:40]!r} in place of {opcode}, {payload[:40]!r}")

    def _more(self) -> None:
        chunk = self._socket.recv(65536)
        if not chunk:
            raise WrongAnswer("the server closed the connection")
        self._bytes += chunk


def check_head(head: bytes, key: bytes) -> None:
    status, _, fields = head.partition(b"\r\n")
    if not status.startswith(b"HTTP/1.1 101"):
        raise WrongAnswer(f"no upgrade: {status[:80]!r}")
    lines = (line.partition(b":") for line in fields.split(b"\r\n"))
    values = {name.strip().lower(): value.strip() for name, _, value in lines}
    right = base64.b64encode(hashlib.sha1(key + _GUID).digest())
    if values.get(b"sec-websocket-accept") != right:
        raise WrongAnswer(f"Sec-WebSocket-Accept {values.get(b'sec-websocket-accept')!r} in place of {right!r}")


def frame(opcode: int, payload: bytes, mask: bytes) -> bytes:
    length = len(payload)
    if length < 126:
        head = bytes([0x80 | opcode, 0x80 | length])
    elif length < 65536:
        head = bytes([0x80 | opcode, 0x80 | 126]) + struct.pack(">H", length)
    else:
        head = bytes([0x80 | opcode, 0x80 | 127]) + struct.pack(">Q", length)
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def parse(data: bytes) -> tuple[int, bytes, int] | None:
    """Opcode, payload and length of the first frame of a server; servers here have no reason to fragment."""
    if len(data) < 2:
        return None
    if not data[0] & 0x80 or data[0] & 0x70 or data[1] & 0x80:
        raise WrongAnswer(f"a frame that begins with {data[:2].hex()}")
    length, start = data[1], 2
    if length >= 126:
        start = 4 if length == 126 else 10
        if len(data) < start:
            return None
        length = int.from_bytes(data[2:start], "big")
    if len(data) < start + length:
        return None
    return data[0] & 0x0F, data[start : start + length], start + length


def await_open(group: procs.Group, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    last = "does not listen"
    while time.monotonic() < deadline:
        if group.ended():
            raise StartFailed("the server ended at once")
        try:
            Peer(port, timeout=2).close()
            return
        except (OSError, WrongAnswer) as error:
            last = f"does not open a connection ({error})"
        time.sleep(0.01)
    raise StartFailed(f"after {START_SECONDS:.0f} s the server {last}")


def verify(port: int) -> None:
    peers = [Peer(port) for _ in range(PEERS)]
    try:
        first = peers[0]
        for opcode, payload in ((TEXT, b"hello"), (BINARY, bytes(range(256)) * 4), (TEXT, "Käfig".encode()), (TEXT, b"")):
            first.send(opcode, payload)
            first.expect(opcode, payload)
        first.send(PING, b"there?")
        first.expect(PONG, b"there?")
        # Every one of them is taken by its worker when it has had an echo.
        for peer in peers:
            peer.send(TEXT, b"ready")
            peer.expect(TEXT, b"ready")
        first.send(TEXT, b"b:to everybody")
        for number, peer in enumerate(peers):
            try:
                peer.expect(TEXT, b"b:to everybody")
            except TimeoutError as error:
                raise WrongAnswer(f"a broadcast did not reach connection {number} of {PEERS}") from error
    finally:
        for peer in peers:
            peer.close()
