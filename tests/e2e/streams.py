"""Servers of raw streams and datagrams, for the tests of both."""

import json
import pathlib
import socket

from support import PATIENCE, Case, Client, Server, php_array, until

RAW = "'127.0.0.1', 0"
# A message of the client is PHP code whose value goes back as JSON.
EVAL = """
$server->on('receive', function ($server, $fd, $workerId, $data) {
    try { $value = eval($data); } catch (Throwable $e) { $value = get_class($e) . ': ' . $e->getMessage(); }
    $server->send($fd, json_encode($value) . "\\n");
});
"""
LINES = {"open_line_protocol": True}
# Bytes that no kernel takes at once for a client that does not read.
FLOOD = 16 << 20


def script(events, settings, construct, kind):
    given = {"worker_num": 1, "blocked_loop_warn": 0, **settings}
    return f"""<?php
use Apus\\Coroutine;
use Apus\\Server;
function note(string $line): void {{ file_put_contents(__DIR__ . '/notes', $line . "\\n", FILE_APPEND); }}
$folder = __DIR__;
$server = new {kind}({construct});
$server->set({php_array(given)} + ['log_file' => __DIR__ . '/log']);
{events}
$server->start();
"""


class Raw(Server):
    """A server whose ports speak no HTTP."""

    def __init__(self, events, settings=None, construct=RAW, kind="Server", **options):
        super().__init__(script=script(events, settings or {}, construct, kind), **options)

    def notes(self):
        path = self.folder / "notes"
        return path.read_text().splitlines() if path.exists() else []

    def noted(self, line):
        """Waits for a line of the program."""
        until(f"note {line!r}", lambda: line in self.notes())

    def port_of(self, place):
        return int(self.ready["listen"][place].rsplit(":", 1)[1])

    def connect(self, place=0):
        sock = socket.create_connection(("127.0.0.1", self.port_of(place)), timeout=PATIENCE)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Client(sock)

    def udp(self, place=0):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.settimeout(PATIENCE)
        sock.connect(("127.0.0.1", self.port_of(place)))
        return sock


class RawCase(Case):
    def raw(self, *args, **options):
        return self.enterContext(Raw(*args, **options))

    def client(self, server, place=0):
        return self.enterContext(server.connect(place))


class EvalCase(RawCase):
    def ask(self, client, code):
        client.send(code.encode() + b"\n")
        return read_json(client)


def unread(sock):
    """Bytes that wait in the kernel for the server at the other end of a connection over IPv4; None when it is gone."""
    def text(address):
        host = bytes(reversed([int(part) for part in address[0].split(".")])).hex().upper()
        return f"{host}:{address[1]:04X}"
    here, there = text(sock.getsockname()), text(sock.getpeername())
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[1] == there and words[2] == here:
            return int(words[4].split(":")[1], 16)
    return None


def send_apart(client, pieces):
    """Sends pieces so that the server reads each of them alone."""
    for piece in pieces:
        client.send(piece)
        until("the server reads", lambda: not unread(client.sock))


def hex_lines(client, count):
    """Messages that the server gave back as lines of hex digits."""
    found = []
    while len(found) < count:
        while b"\n" not in client.buffer:
            client.more()
        line, client.buffer = client.buffer.split(b"\n", 1)
        found.append(bytes.fromhex(line.decode()))
    return found


def read_json(client):
    while b"\n" not in client.buffer:
        client.more()
    line, client.buffer = client.buffer.split(b"\n", 1)
    return json.loads(line)
