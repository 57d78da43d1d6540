"""Clients that mean harm, on loopback: `tls_attackers.py NAME PORT SECONDS CERTIFICATE`. Says how often it did it."""

import contextlib
import select
import socket
import ssl
import subprocess
import sys
import time

from apart import go_last

HEADER = 5
GONE = (OSError, ssl.SSLError, EOFError)


class Attacker:
    def __init__(self, port, seconds, cert):
        self.port, self.end = port, time.monotonic() + seconds
        self.context = ssl.create_default_context(cafile=cert)
        self.count = 0

    def on(self):
        return time.monotonic() < self.end

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def sealed(self):
        sock = self.connect()
        try:
            return self.context.wrap_socket(sock, server_hostname="localhost")
        except GONE:
            sock.close()
            raise

    def again(self, once):
        """Does it until the time is over, whatever the server makes of it."""
        while self.on():
            with contextlib.suppress(*GONE):
                once()
            self.count += 1

    def hello(self):
        """A real ClientHello."""
        into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            self.context.wrap_bio(into, out, server_hostname="localhost").do_handshake()
        return out.read()

    # The attacks.

    def handshakes(self):
        """Handshakes and nothing else."""
        self.again(lambda: self.sealed().close())

    def resumptions(self):
        """The same with sessions that are resumed."""
        sock = self.sealed()
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        sock.recv(4096)
        session = sock.session
        sock.close()

        def once():
            self.context.wrap_socket(self.connect(), server_hostname="localhost", session=session).close()

        self.again(once)

    def halves(self):
        """Connections that begin a handshake and stay."""
        hello, kept = self.hello(), []
        while self.on():
            if len(kept) < 400:
                with contextlib.suppress(*GONE):
                    sock = self.connect()
                    sock.sendall(hello[: len(hello) // 2])
                    kept.append(sock)
                    self.count += 1
                continue
            gone, _, _ = select.select(kept, [], [], 0.1)
            for sock in gone:
                kept.remove(sock)
                sock.close()

    def answered(self):
        """Connections whose clients never answer what the server says in the handshake."""
        hello, kept = self.hello(), []

        def once():
            sock = self.connect()
            sock.sendall(hello)
            kept.append(sock)
            if len(kept) > 300:
                kept.pop(0).close()

        self.again(once)

    def fragments(self):
        """A ClientHello in records of one byte."""
        hello = self.hello()
        body = hello[HEADER:]
        pieces = b"".join(hello[:3] + b"\x00\x01" + body[at : at + 1] for at in range(len(body)))

        def once():
            with self.connect() as sock:
                sock.sendall(pieces)
                sock.settimeout(1)
                sock.recv(4096)

        self.again(once)

    def hugehello(self):
        """A ClientHello that says it has 16 MB, and goes on coming."""
        first = b"\x16\x03\x01\x40\x00" + b"\x01\xff\xff\xff" + bytes(0x4000 - 4)
        more = b"\x16\x03\x01\x40\x00" + bytes(0x4000)

        def once():
            with self.connect() as sock:
                sock.sendall(first)
                for _ in range(1_000):
                    sock.sendall(more)

        self.again(once)

    def garbage(self):
        """Records that cannot be opened, behind a good handshake."""
        sock = self.sealed()
        raw = socket.socket(fileno=sock.detach())
        raw.close()

        def once():
            sealed = self.sealed()
            with socket.socket(fileno=sealed.detach()) as raw:
                raw.sendall(b"\x17\x03\x03\x40\x00" + bytes(range(256)) * 64)
                raw.settimeout(1)
                while raw.recv(4096):
                    pass

        self.again(once)

    def tinyrecords(self):
        """Requests in records of one byte."""

        def once():
            with self.sealed() as sock:
                for byte in b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 20:
                    sock.send(bytes([byte]))
                sock.recv(4096)

        self.again(once)

    def renegotiation(self):
        """Renegotiations of TLS 1.2, and new keys of TLS 1.3, asked for in one connection after the other."""

        def once():
            for version, letter in (("-tls1_2", "R"), ("-tls1_3", "K")):
                line = ["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", version, "-legacy_renegotiation"]
                left = max(0.1, min(5, self.end - time.monotonic()))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    subprocess.run(line, input=f"{letter}\n".encode() * 200, capture_output=True, timeout=left)

        self.again(once)

    def slowreaders(self):
        """Large answers that nobody reads."""
        kept = []

        def once():
            if len(kept) < 100:
                sock = self.sealed()
                kept.append(sock)
                sock.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            else:
                time.sleep(0.05)
                kept[self.count % len(kept)].recv(1)

        self.again(once)


def main(name, port, seconds, cert):
    go_last()
    attacker = Attacker(int(port), float(seconds), cert)
    getattr(attacker, name)()
    print(f"{attacker.count} times")


if __name__ == "__main__":
    main(*sys.argv[1:])
