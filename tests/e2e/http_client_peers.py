"""What the tests of the HTTP clients share: servers that say exactly what a test wants, and a way to run PHP."""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import zlib

from support import PATIENCE, Case, module, needs, php

PRELUDE = """<?php
use Apus\\Coroutine;
use Apus\\Coroutine\\Channel;
use Apus\\Coroutine\\Http\\Client;
use Apus\\WebSocket\\{Frame, CloseFrame};
use function Apus\\go;
use function Apus\\Coroutine\\run;
$out = [];
function client(array $settings = [], ?int $port = null, bool $ssl = false): Client
{
    $client = new Client('127.0.0.1', $port ?? PORT, $ssl);
    $client->set($settings);
    return $client;
}
function thrown(callable $f): ?string
{
    try {
        $f();
        return null;
    } catch (Throwable $e) {
        return get_class($e) . ': ' . $e->getMessage();
    }
}
"""


class Conn:
    """One accepted connection."""

    def __init__(self, sock, number):
        self.sock, self.number = sock, number
        self.sock.settimeout(PATIENCE)
        self.file = sock.makefile("rb")

    def head(self):
        """Request line and fields (names lower-case) of the next request; none at the end."""
        line = self.file.readline()
        if not line:
            return None
        fields = {}
        while (field := self.file.readline()) not in (b"\r\n", b""):
            name, value = field.decode("latin-1").rstrip("\r\n").split(":", 1)
            fields[name.lower()] = value.strip()
        method, target, _ = line.decode("latin-1").split(" ")
        return method, target, fields

    def body(self, fields):
        return self.file.read(int(fields.get("content-length", 0)))

    def send(self, data):
        self.sock.sendall(data)

    def answer(self, body=b"", *, status="200 OK", fields=()):
        lines = [f"HTTP/1.1 {status}", *(f"{n}: {v}" for n, v in fields), f"Content-Length: {len(body)}"]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def gone(self):
        """Waits for the client to close; whether it did."""
        try:
            return self.file.read() == b""
        except ConnectionError:
            return True

    def close(self):
        with contextlib.suppress(OSError):
            self.file.close()
        # The descriptor of a makefile() keeps the connection open otherwise.
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


class Peer:
    """A server whose connections are each handled by `handle(conn)` in a thread."""

    def __init__(self, handle, *, tls=None, unix=None):
        self.handle, self.tls, self.count = handle, tls, 0
        self.errors, self.threads = [], []
        self.socket = socket.socket(socket.AF_UNIX) if unix else socket.socket()
        self.socket.bind(unix or ("127.0.0.1", 0))
        self.socket.listen(512)
        self.port = 0 if unix else self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            thread = threading.Thread(target=self._run, args=(sock, self.count), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _run(self, sock, number):
        conn = None
        try:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            conn = Conn(sock, number)
            self.handle(conn)
        except OSError:
            pass
        except Exception as error:
            self.errors.append(error)
        finally:
            if conn:
                conn.close()
            else:
                sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(PATIENCE)
        if self.errors:
            raise self.errors[0]


def answers(handle):
    """A handler of connections out of one of requests: `handle(conn, method, target, fields, body)`; true ends it."""

    def run(conn):
        while head := conn.head():
            method, target, fields = head
            if handle(conn, method, target, fields, conn.body(fields)):
                return

    return run


class WebSocketPeer(Conn):
    """The server's side of a WebSocket, which can also say what is wrong."""

    def __init__(self, conn, fields, extension=None):
        self.__dict__.update(conn.__dict__)
        accept = hashlib.sha1(fields["sec-websocket-key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: " + base64.b64encode(accept).decode()]
        if extension:
            lines.append(f"Sec-WebSocket-Extensions: {extension}")
        self.greeting = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self.deflate = zlib.compressobj(wbits=-15)
        self.inflate = zlib.decompressobj(wbits=-15)
        self.send(self.greeting)

    @staticmethod
    def frame(opcode, payload=b"", fin=True, rsv1=False):
        head = bytes([fin << 7 | rsv1 << 6 | opcode])
        if len(payload) < 126:
            head += bytes([len(payload)])
        elif len(payload) < 65536:
            head += b"\x7e" + struct.pack(">H", len(payload))
        else:
            head += b"\x7f" + struct.pack(">Q", len(payload))
        return head + payload

    def say(self, opcode, payload=b"", **options):
        self.send(self.frame(opcode, payload, **options))

    def compressed(self, payload):
        data = self.deflate.compress(payload) + self.deflate.flush(zlib.Z_SYNC_FLUSH)
        return data[:-4]

    def hear(self):
        """(first byte, payload) of the client's next frame, unmasked; none at the end."""
        head = self.file.read(2)
        if len(head) < 2:
            return None
        assert head[1] & 0x80, "a client's frame must be masked"
        size = head[1] & 0x7F
        if size == 126:
            size = struct.unpack(">H", self.file.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.file.read(8))[0]
        key = self.file.read(4)
        data = self.file.read(size)
        mask = (key * (size // 4 + 1))[:size]
        plain = (int.from_bytes(data, "big") ^ int.from_bytes(mask, "big")).to_bytes(size, "big") if size else b""
        if head[0] & 0x40:
            plain = self.inflate.decompress(plain + b"\x00\x00\xff\xff")
        return head[0], plain


class ClientCase(Case):
    """Runs PHP code as a client of a test's servers."""

    def peer(self, handle, **options):
        return self.enterContext(Peer(handle, **options))

    def folder(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="apus-http-client-"))
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def run_php(self, code, port=0, wrap=True, **values):
        """Runs code inside run(); gives back what it put into $out."""
        script = self.folder() / "client.php"
        constants = "".join(f"const {name.upper()} = {json.dumps(value)};\n" for name, value in {"port": port, **values}.items())
        body = f"run(function () use (&$out) {{\n{code}\n}});" if wrap else code
        script.write_text(PRELUDE + constants + body + "\necho \"\\n#OUT#\", json_encode($out, JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);\n")
        line = [php(), "-n", "-d", f"extension={module()}", "-d", "memory_limit=512M", str(script)]
        done = subprocess.run(
            line,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE * 4,
            cwd=script.parent,
        )
        said, mark, result = done.stdout.rpartition("\n#OUT#")
        if not mark or done.returncode or said.strip() or done.stderr.strip():
            raise AssertionError(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return json.loads(result)

    def certificate(self):
        """Key, certificate (for localhost and 127.0.0.1) and a server's context."""
        folder = self.folder()
        key, cert = folder / "key.pem", folder / "cert.pem"
        subprocess.run(
            [
                needs("openssl"),
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout",
                str(key),
                "-out",
                str(cert),
            ],
            check=True,
            capture_output=True,
        )
        return key, cert

    def node(self, code, *args):
        """Runs a server in Node that prints its port; gives the port back."""
        folder = self.folder()
        (folder / "server.js").write_text(code)
        process = subprocess.Popen(
            [needs("node"), str(folder / "server.js"), *map(str, args)],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            env={**os.environ, "NODE_NO_WARNINGS": "1"},
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        line = process.stdout.readline()
        assert line.strip(), "Node did not start"
        return int(line)
