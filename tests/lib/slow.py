#!/usr/bin/env python3
"""HTTP(S), line and UDP servers that answer when they are told to, for many connections at once.

HTTP: /sleep/SECONDS, /echo, /bytes/N, /drip/N/SECONDS (N chunks of 10 bytes), /status/N, /redirect, /cut (less than it
promises), /never (no answer), /reset, /die-after/N (the connection ends after its Nth answer). Every answer tells the
number of its connection and of its request on it.
Lines: "sleep SECONDS", "echo TEXT", "bytes N", "half" (no line end), "silent", "close", "reset", "many N SECONDS"; and
what memcached says to "get sleep:SECONDS".
UDP: "sleep SECONDS", anything else is echoed.
Full: a port whose queue is full, so that no connection to it is ever made.
"""
import asyncio
import contextlib
import itertools
import json
import resource
import socket
import ssl
import struct
import sys

connections = itertools.count(1)


def pattern(count):
    return (b"0123456789abcdef" * (count // 16 + 1))[:count]


def reset(writer):
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def head(reader):
    line = (await reader.readline()).decode("latin-1").split()
    fields = {}
    while (field := (await reader.readline()).decode("latin-1").strip()):
        name, value = field.split(":", 1)
        fields[name.lower()] = value.strip()
    return line, fields


async def body(reader, fields):
    if "chunked" in fields.get("transfer-encoding", ""):
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(parts)
    return await reader.readexactly(int(fields.get("content-length", 0)))


async def http(reader, writer):
    number = next(connections)
    for request in itertools.count(1):
        line, fields = await head(reader)
        if not line:
            break
        if fields.get("expect"):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if not await answer(reader, writer, line, fields, (number, request)):
            break
    writer.close()


async def answer(reader, writer, line, fields, numbers):
    """Whether the connection stays open."""
    method, path, version = line
    words = path.strip("/").split("/")
    sent = await body(reader, fields)
    status, extra, out = "200 OK", "", b""
    match words[0]:
        case "sleep":
            await asyncio.sleep(float(words[1]))
            out = b"slept " + words[1].encode()
        case "echo":
            out = json.dumps({"method": method, "path": path, "fields": fields, "body": sent.decode("latin-1")}).encode()
        case "bytes":
            out = pattern(int(words[1]))
        case "drip":
            await drip(writer, int(words[1]), float(words[2]))
            return fields.get("connection", "").lower() != "close"
        case "status":
            status, out = f"{words[1]} Told", b"as told"
        case "redirect":
            status, extra, out = "302 Found", "Location: /echo\r\n", b""
        case "cut":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
            return False
        case "reset":
            reset(writer)
            return False
        case "never":
            await reader.read()
            return False
        case _:
            out = b"ok"
    open_ = version != "HTTP/1.0" and fields.get("connection", "").lower() != "close" and not (words[0] == "die-after" and numbers[1] >= int(words[1]))
    connection = "keep-alive" if open_ else "close"
    writer.write(f"HTTP/1.1 {status}\r\n{extra}Content-Type: text/plain\r\nContent-Length: {len(out)}\r\nX-Connection: {numbers[0]}\r\nX-Request: {numbers[1]}\r\nConnection: {connection}\r\n\r\n".encode())
    writer.write(b"" if method == "HEAD" else out)
    await writer.drain()
    return open_


async def drip(writer, count, seconds):
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(count):
        writer.write(b"a\r\n" + pattern(10) + b"\r\n")
        await writer.drain()
        await asyncio.sleep(seconds)
    writer.write(b"0\r\n\r\n")


async def lines(reader, writer):
    while line := await reader.readline():
        word, _, rest = line.decode("latin-1").rstrip("\r\n").partition(" ")
        match word:
            case "sleep":
                await asyncio.sleep(float(rest))
                writer.write(f"slept {rest}\n".encode())
            case "echo":
                writer.write(rest.encode("latin-1") + b"\n")
            case "bytes":
                writer.write(pattern(int(rest)))
            case "many":
                count, seconds = rest.split()
                for i in range(int(count)):
                    writer.write(f"line {i}\n".encode())
                    await writer.drain()
                    await asyncio.sleep(float(seconds))
            case "get":
                pause = rest.partition(":")[2]
                await asyncio.sleep(float(pause))
                writer.write(f"VALUE {rest} 0 {len(pause)}\r\n{pause}\r\nEND\r\n".encode())
            case "half":
                writer.write(b"half a li")
            case "silent":
                await reader.read()
                break
            case "close":
                break
            case "reset":
                reset(writer)
                return
            case _:
                writer.write(b"what?\n")
        await writer.drain()
    writer.close()


class Datagrams(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        word, _, rest = data.decode("latin-1").strip().partition(" ")
        pause = float(rest) if word == "sleep" else 0
        asyncio.get_running_loop().call_later(
            pause, self.transport.sendto, b"slept " + rest.encode() if pause else data, address
        )


def quiet(serve):
    """A peer that leaves in the middle is no news."""
    async def handle(reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, ValueError):
            await serve(reader, writer)
        with contextlib.suppress(Exception):
            writer.close()
    return handle


def full(port):
    """Sockets that must stay open: one that listens and never accepts, and those that wait in its queue."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(0)
    waiting = [socket.socket() for _ in range(4)]
    for client in waiting:
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", port))
    return [listener, *waiting]


async def main(http_port, https_port, line_port, tls_port, udp_port, full_port, cert, key):
    kept = full(int(full_port))
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    await loop.create_datagram_endpoint(Datagrams, ("127.0.0.1", int(udp_port)))
    options = {"host": "127.0.0.1", "backlog": 1024}
    await asyncio.start_server(quiet(lines), port=int(line_port), **options)
    await asyncio.start_server(quiet(lines), port=int(tls_port), ssl=tls, **options)
    await asyncio.start_server(quiet(http), port=int(https_port), ssl=tls, **options)
    # Last: whoever finds it open finds the others open.
    await asyncio.start_server(quiet(http), port=int(http_port), **options)
    await asyncio.Event().wait()
    del kept


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    asyncio.run(main(*sys.argv[1:]))
