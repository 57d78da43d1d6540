"""What the tests of the gateway share: the gateway on free ports, and clients of its three ports."""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import select
import socket
import struct
import time

from support import PATIENCE, ROOT, Case, Client, until

FOLDER = ROOT / "examples" / "gateway"
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
SECRET = "0123456789abcdef0123456789abcdef"
KEY = "a-key-that-is-long-enough"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(secret=SECRET, **claims):
    payload = b64(json.dumps({"user": "tester01", "exp": int(time.time()) + 60, **claims}).encode())
    return payload + "." + b64(hmac.new(secret.encode(), payload.encode(), hashlib.sha256).digest())


class WebSocket:
    """A client; `refused` is the answer where the handshake did not succeed."""

    def __init__(self, port, path="/", fields=(), host="127.0.0.1"):
        self.client = Client(socket.create_connection((host, port), timeout=PATIENCE))
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", *fields]
        self.client.send("\r\n".join(lines).encode() + b"\r\n\r\n")
        status, reason, headers = self.client.head()
        self.refused = None
        if status != 101:
            self.refused = status, json.loads(self.client.exactly(int(headers["content-length"])))

    def frame(self, opcode, payload):
        mask = os.urandom(4)
        length = len(payload)
        head = bytes([0x80 | opcode]) + (
            bytes([0x80 | length])
            if length < 126
            else b"\xfe" + struct.pack(">H", length) if length < 65536 else b"\xff" + struct.pack(">Q", length)
        )
        self.client.send(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def say(self, value):
        self.frame(TEXT, value.encode() if isinstance(value, str) else json.dumps(value).encode())

    def hear_frame(self):
        first, length = self.client.exactly(2)
        if length == 126:
            (length,) = struct.unpack(">H", self.client.exactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.client.exactly(8))
        return first & 15, self.client.exactly(length)

    def hear(self):
        """The next message, decoded; pings are answered. EOFError at the end."""
        while True:
            opcode, payload = self.hear_frame()
            if opcode == TEXT:
                return json.loads(payload)
            if opcode == PING:
                self.frame(PONG, payload)
            elif opcode == CLOSE:
                raise EOFError(f"closed: {payload!r}")

    def ask(self, value):
        self.say(value)
        return self.hear()

    def quiet(self):
        """Whether nothing has come that was not heard."""
        return not self.client.buffer and not select.select([self.client.sock], [], [], 0)[0]

    def close(self):
        with contextlib.suppress(OSError):
            self.client.sock.close()


class Lines:
    """A program that pushes by lines over TCP."""

    def __init__(self, port):
        self.client = Client(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))

    def send(self, value):
        self.client.send((value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n")

    def hear(self):
        while b"\n" not in self.client.buffer:
            self.client.more()
        line, self.client.buffer = self.client.buffer.split(b"\n", 1)
        return json.loads(line)

    def ask(self, value=None, **fields):
        self.send(fields if value is None else value)
        return self.hear()

    def close(self):
        self.client.sock.close()


class GatewayCase(Case):
    def gateway(self, workers=2, **settings):
        """The gateway with settings; `server.inner` and `server.lines` are the ports for programs."""
        given = {"workers": workers, "port": 0, "inner_port": 0, "line_port": 0, **settings}
        environment = {f"GATEWAY_{name.upper()}": str(value) for name, value in given.items()}
        server = self.serve(script=f"<?php require {json.dumps(str(FOLDER / 'server.php'))};", env=environment)
        server.inner, server.lines = (int(address.rsplit(":", 1)[1]) for address in server.ready["listen"][1:])
        return server

    def browser(self, server, path="/?user=tester01", fields=()):
        """A connection as a browser has it, once the gateway knows of it everywhere."""
        before = self.stats(server)["connections"]
        ws = WebSocket(server.port, path, fields)
        self.addCleanup(ws.close)
        self.assertIsNone(ws.refused)
        # The handshake's answer leaves before `open` has run.
        until("the connection is counted", lambda: self.stats(server)["connections"] > before)
        return ws

    def refusal(self, server, path, fields=()):
        ws = WebSocket(server.port, path, fields)
        self.addCleanup(ws.close)
        self.assertIsNotNone(ws.refused, "the handshake should have been refused")
        return ws.refused

    def lines(self, server):
        lines = Lines(server.lines)
        self.addCleanup(lines.close)
        return lines

    def http(self, port, method="GET", path="/", body=None, headers=None):
        with Client(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)) as client:
            return client.request(method, path, body=body, headers=headers, close=True)

    def stats(self, server):
        return self.http(server.inner, path="/stats", headers={"Authorization": f"Bearer {KEY}"}).json()
