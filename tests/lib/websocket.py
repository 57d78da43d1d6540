"""A WebSocket client for tests: it is strict about all that it hears (RFC 6455, RFC 7692), and can say anything."""
import base64
import contextlib
import hashlib
import os
import selectors
import socket
import struct
import time
import zlib

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PATIENCE = float(os.environ.get("APUS_TEST_PATIENCE", "30"))
DEFLATE = "permessage-deflate"


class Broken(Exception):
    """The server broke the protocol."""


class Refused(Exception):
    """The server answered the handshake with something else than 101."""

    def __init__(self, status, fields, body):
        super().__init__(f"{status} {body[:200]!r}")
        self.status, self.fields, self.body = status, fields, body


def check(condition, what):
    if not condition:
        raise Broken(what)


def masked(payload, key):
    if not payload:
        return b""
    size = len(payload)
    pattern = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")).to_bytes(size, "big")


def frame(opcode, payload=b"", *, fin=True, rsv=0, mask=b"\x11\x22\x33\x44", length=None, size=None):
    """One frame of a client. `rsv`: 4, 2, 1; `mask`: none for an unmasked one; `length`: told in place of the
    payload's; `size`: 0, 2 or 8 bytes of length."""
    count = len(payload) if length is None else length
    size = (0 if count < 126 else 2 if count < 65536 else 8) if size is None else size
    code = {0: count & 127, 2: 126, 8: 127}[size]
    extended = b"" if size == 0 else struct.pack(">H" if size == 2 else ">Q", count)
    head = bytes([fin << 7 | rsv << 4 | opcode, (mask is not None) << 7 | code])
    return head + extended + (mask + masked(payload, mask) if mask is not None else payload)


def closing(code=None, reason=b"", **options):
    """A close frame."""
    reason = reason.encode() if isinstance(reason, str) else reason
    return frame(CLOSE, b"" if code is None else struct.pack(">H", code) + reason, **options)


def accepted(key):
    return base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()


def request(
    path="/",
    *,
    key="dGhlIHNhbXBsZSBub25jZQ==",
    protocols=None,
    extensions=None,
    origin=None,
    headers=None,
    without=(),
    method="GET",
    version="HTTP/1.1",
):
    """The bytes of a handshake; `headers` replaces fields, `without` leaves some out."""
    fields = {"Host": "test", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13"}
    optional = {"Sec-WebSocket-Protocol": protocols, "Sec-WebSocket-Extensions": extensions, "Origin": origin}
    fields.update({name: value for name, value in optional.items() if value is not None})
    fields.update(headers or {})
    lines = [f"{method} {path} {version}", *(f"{name}: {value}" for name, value in fields.items() if name not in without)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class WebSocket:
    """One connection; `frames` says whether `message()` shows control frames, too."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, bytearray()
        self.status, self.fields = None, {}
        self.inflate = self.takeover = None
        self.controls = []
        self.hear_close = None

    @classmethod
    def connect(cls, port, path="/", *, host="127.0.0.1", receive_buffer=None, before=b"", **options):
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(PATIENCE)
        try:
            sock.connect((host, port))
            self = cls(sock)
            sock.sendall(request(path, **options) + before)
            self.greeted(options.get("key", "dGhlIHNhbXBsZSBub25jZQ=="), options.get("protocols"), options.get("extensions"))
        except BaseException:
            sock.close()
            raise
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    # Reading

    def more(self):
        data = self.sock.recv(1 << 16)
        if not data:
            raise EOFError(f"closed after {bytes(self.buffer[:200])!r}")
        self.buffer += data

    def exactly(self, count):
        while len(self.buffer) < count:
            self.more()
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            self.more()
        return self.exactly(end + 2)[:-2].decode("latin-1")

    def head(self):
        version, status, _ = self.line().split(" ", 2)
        check(version == "HTTP/1.1", version)
        self.fields = {}
        while line := self.line():
            name, value = line.split(": ", 1)
            name = name.lower()
            check(not (name.startswith("sec-websocket-") and name in self.fields), f"{name} twice")
            self.fields[name] = value
        self.status = int(status)

    def greeted(self, key, protocols, extensions):
        """Reads the answer to a handshake."""
        self.head()
        if self.status != 101:
            body = self.exactly(int(self.fields.get("content-length", 0)))
            raise Refused(self.status, self.fields, body)
        check(self.fields.get("upgrade", "").lower() == "websocket", f"Upgrade: {self.fields.get('upgrade')}")
        check(self.fields.get("connection", "").lower() == "upgrade", f"Connection: {self.fields.get('connection')}")
        check(self.fields.get("sec-websocket-accept") == accepted(key.encode()), "a wrong Sec-WebSocket-Accept")
        check("content-length" not in self.fields and "transfer-encoding" not in self.fields, "101 with a body")
        self.protocol = self.fields.get("sec-websocket-protocol")
        check(self.protocol is None or self.protocol in [p.strip() for p in (protocols or "").split(",")], f"protocol {self.protocol} was not offered")
        self.extension(self.fields.get("sec-websocket-extensions"), extensions or "")

    def extension(self, chosen, offered):
        if chosen is None:
            return
        name, *parameters = [part.strip() for part in chosen.split(";")]
        check(name == DEFLATE and DEFLATE in offered and "," not in chosen, f"extension {chosen} was not offered")
        self.takeover = "server_no_context_takeover" not in parameters
        bits = next((int(p.split("=")[1].strip('"')) for p in parameters if p.startswith("server_max_window_bits=")), 15)
        self.bits = bits
        self.inflate = zlib.decompressobj(wbits=-bits)

    def frame(self):
        """(opcode, payload, fin, compressed) of the next frame."""
        first, second = self.exactly(2)
        opcode, fin, size = first & 15, bool(first & 128), second & 127
        check(not second & 128, "a server's frame is masked")
        check(not first & 0x30, "RSV2 or RSV3 is set")
        if size == 126:
            size = struct.unpack(">H", self.exactly(2))[0]
            check(size > 125, "a longer length than needed")
        elif size == 127:
            size = struct.unpack(">Q", self.exactly(8))[0]
            check(size > 65535, "a longer length than needed")
        check(opcode in (0, 1, 2, 8, 9, 10), f"opcode {opcode}")
        if opcode >= 8:
            check(fin and size < 126 and not first & 0x40, "a wrong control frame")
        check(not first & 0x40 or self.inflate, "RSV1 without an extension")
        check(not first & 0x40 or opcode in (1, 2), "RSV1 on a continuation")
        check(self.hear_close is None, "a frame after the close frame")
        payload = self.exactly(size)
        if opcode == CLOSE:
            self.hear_close = payload
        return opcode, payload, fin, bool(first & 0x40)

    def message(self):
        """(opcode, payload) of the next message; control frames go to `controls`, a close frame is returned."""
        parts, kind, packed = [], None, False
        while True:
            opcode, payload, fin, compressed = self.frame()
            if opcode == CLOSE:
                return CLOSE, payload
            if opcode >= 8:
                self.controls.append((opcode, payload))
                continue
            check((kind is None) == (opcode != CONTINUATION), f"opcode {opcode} in the wrong place")
            if kind is None:
                kind, packed = opcode, compressed
            parts.append(payload)
            if fin:
                break
        data = b"".join(parts)
        if packed:
            data = self.inflate.decompress(data + b"\x00\x00\xff\xff")
            if not self.takeover:
                self.inflate = zlib.decompressobj(wbits=-self.bits)
        if kind == TEXT:
            data.decode()
        return kind, data

    def text(self):
        opcode, data = self.message()
        check(opcode == TEXT, f"opcode {opcode} {data[:100]!r} in place of text")
        return data.decode()

    def pong(self):
        """The payload of the next frame, which must be a pong."""
        opcode, payload, *_ = self.frame()
        check(opcode == PONG, f"opcode {opcode} {payload[:100]!r} in place of a pong")
        return payload

    def closed(self, answer=True):
        """Reads to the close frame, answers it, and waits for the end; (code, reason), code none if there is none."""
        while (message := self.message())[0] != CLOSE:
            pass
        if answer:
            # A server that has gone already has said what it had to say.
            with contextlib.suppress(OSError):
                self.sock.sendall(frame(CLOSE, message[1][:2]))
        check(self.rest() == b"", "bytes after the close frame")
        return code_of(message[1])

    def rest(self):
        """All that comes until the server closes."""
        try:
            while True:
                self.more()
        except (EOFError, ConnectionResetError):
            data, self.buffer = bytes(self.buffer), bytearray()
            return data

    # Saying

    def send(self, opcode, payload=b"", **options):
        payload = payload.encode() if isinstance(payload, str) else payload
        self.sock.sendall(frame(opcode, payload, **options))

    def say(self, text, **options):
        self.send(TEXT, text, **options)

    def raw(self, data):
        self.sock.sendall(data)

    def close(self, code=1000, reason=""):
        """The closing handshake, begun here; what the server answered."""
        self.raw(closing(code, reason))
        return self.closed(answer=False)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


def code_of(payload):
    check(len(payload) != 1, "a close frame of one byte")
    if not payload:
        return None, ""
    return struct.unpack(">H", payload[:2])[0], payload[2:].decode()


def deflated(data, *, wbits=-15, level=6):
    """One message, compressed by itself."""
    packer = zlib.compressobj(level, zlib.DEFLATED, wbits)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


class Crowd:
    """Very many connections of one thread."""

    def __init__(self, port):
        self.port, self.sockets = port, []
        self.failed = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def leave(self, how=socket.socket.close):
        for sock in self.sockets:
            how(sock)
        self.sockets.clear()

    def join(self, count, *, path="/", patience=PATIENCE * 4, receive_buffer=None, **options):
        """Opens that many at once: all connect, then each sends its handshake when it may; how many were accepted."""
        selector = selectors.DefaultSelector()
        data, heard, ready = request(path, **options), {}, []
        for _ in range(count):
            sock = socket.socket()
            sock.setblocking(False)
            if receive_buffer:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            sock.connect_ex(("127.0.0.1", self.port))
            selector.register(sock, selectors.EVENT_WRITE)
            heard[sock] = b""
        end = time.monotonic() + patience
        while heard and time.monotonic() < end:
            for key, mask in selector.select(1):
                sock = key.fileobj
                try:
                    if mask & selectors.EVENT_WRITE:
                        sock.sendall(data)
                        selector.modify(sock, selectors.EVENT_READ)
                        continue
                    # The head only: what follows it is the crowd's.
                    got = sock.recv(4096, socket.MSG_PEEK)
                    cut = got.find(b"\r\n\r\n")
                    taken = sock.recv(cut + 4 if cut >= 0 else len(got))
                    heard[sock] += taken
                    if not got:
                        raise EOFError(heard[sock])
                except (OSError, EOFError) as error:
                    self.failed.append(repr(error))
                    selector.unregister(sock)
                    del heard[sock]
                    sock.close()
                    continue
                if cut >= 0:
                    selector.unregister(sock)
                    answer = heard.pop(sock)
                    if answer.startswith(b"HTTP/1.1 101 "):
                        ready.append(sock)
                    else:
                        self.failed.append(answer)
                        sock.close()
        for sock in heard:
            self.failed.append("no answer")
            sock.close()
        selector.close()
        self.sockets += ready
        return len(ready)

    def send_all(self, data):
        for sock in self.sockets:
            sock.setblocking(True)
            sock.settimeout(PATIENCE)
            sock.sendall(data)

    def hear_all(self, count):
        """That many bytes from each."""
        heard = []
        for sock in self.sockets:
            sock.settimeout(PATIENCE)
            data = b""
            while len(data) < count and (more := sock.recv(count - len(data))):
                data += more
            heard.append(data)
        return heard
