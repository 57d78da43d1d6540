"""WebSockets over HTTP/2 (RFC 8441) for tests, by python3-h2: each stream is a socket to the client of lib/websocket.py,
so that what is tested over HTTP/1.1 can be tested over this, too. A stream may have its connection for itself, or share
it with others."""

import contextlib
import socket
import ssl
import sys
import time

# Where Debian's packages are: another Python that comes first on the PATH does not look there, and they suit it, too.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import h2.config
    import h2.connection
    import h2.events
    import h2.exceptions
    import h2.settings
except ImportError:
    h2 = None

from . import websocket
from .websocket import PATIENCE, accepted

# Fields of a handshake of HTTP/1.1 that one over a stream has not.
DROPPED = ("host", "upgrade", "connection", "sec-websocket-key")


# Frame types of RFC 9113 section 6.
GOAWAY = 7


class Connection:
    """A connection that carries streams."""

    def __init__(self, port, *, host="127.0.0.1", ca=None, window=None, receive_buffer=None):
        self.sock = socket.socket()
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(PATIENCE)
        self.sock.connect((host, port))
        if ca:
            context = ssl.create_default_context(cafile=str(ca))
            context.set_alpn_protocols(["h2"])
            self.sock = context.wrap_socket(self.sock, server_hostname="localhost")
        self.scheme = "https" if ca else "http"
        config = h2.config.H2Configuration(header_encoding="utf-8", validate_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config)
        self.streams, self.goaway, self.over, self.unread = {}, None, False, b""
        self.h2.initiate_connection()
        if window is not None:
            self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.flush()
        while not self.settled:
            self.more()
            if self.over:
                raise EOFError("the server speaks no HTTP/2")

    @property
    def settled(self):
        return self.h2.remote_settings.get(h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE) is not None

    @property
    def connect_protocol(self):
        """Whether the server takes extended CONNECT."""
        return bool(self.h2.remote_settings.enable_connect_protocol)

    def flush(self):
        self.sock.sendall(self.h2.data_to_send())

    def more(self, wait=PATIENCE):
        """Reads once; false: nothing came in time, or nothing more comes."""
        self.sock.settimeout(wait)
        try:
            data = self.sock.recv(1 << 16)
        except (TimeoutError, ssl.SSLWantReadError):
            if wait == PATIENCE:
                raise
            return False
        finally:
            self.sock.settimeout(PATIENCE)
        if not data:
            self.over = True
            for stream in self.streams.values():
                stream.ended = True
            return False
        for event in self.h2.receive_data(self.without_goaway(data)):
            self.heard(event)
        with contextlib.suppress(OSError):
            self.flush()
        return True

    def without_goaway(self, data):
        """Whole frames. python3-h2 takes GOAWAY for the end of all streams; it does not see those that only announce one."""
        self.unread += data
        frames = b""
        while len(self.unread) >= 9:
            end = 9 + int.from_bytes(self.unread[:3], "big")
            if len(self.unread) < end:
                break
            frame, self.unread = self.unread[:end], self.unread[end:]
            if frame[3] == GOAWAY and frame[13:17] == b"\0\0\0\0":
                self.goaway = 0
            else:
                frames += frame
        return frames

    def heard(self, event):
        if isinstance(event, h2.events.ConnectionTerminated):
            self.goaway = event.error_code
        stream = self.streams.get(getattr(event, "stream_id", None))
        if stream is None:
            return
        if isinstance(event, h2.events.ResponseReceived):
            stream.fields = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            stream.buffer += event.data
            if stream.takes:
                with contextlib.suppress(h2.exceptions.StreamClosedError):
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            stream.ended = True
        elif isinstance(event, h2.events.StreamReset):
            stream.ended, stream.reset = True, event.error_code

    def close(self):
        self.sock.close()


class Stream:
    """A stream, as a socket that speaks HTTP/1.1 until its handshake is answered."""

    def __init__(self, connection, own):
        self.connection, self.own = connection, own
        self.id, self.fields, self.buffer = None, None, bytearray()
        self.ended, self.reset, self.takes = False, None, True
        self.key, self.told, self.early = b"", False, b""

    def begin(self, head):
        line, *lines = head.decode("latin-1").split("\r\n")
        fields = [tuple(line.split(": ", 1)) for line in lines]
        named = {name.lower(): value for name, value in fields}
        self.key = named.get("sec-websocket-key", "").encode()
        connection = self.connection
        self.id = connection.h2.get_next_available_stream_id()
        connection.streams[self.id] = self
        pseudo = [(":method", "CONNECT"), (":protocol", named.get("upgrade", "websocket")), (":scheme", connection.scheme)]
        pseudo += [(":path", line.split(" ")[1]), (":authority", named.get("host", "test"))]
        own = [(name.lower(), value) for name, value in fields if name.lower() not in DROPPED]
        connection.h2.send_headers(self.id, pseudo + own)

    def sendall(self, data):
        if self.id is None:
            self.early += data
            head, end, data = self.early.partition(b"\r\n\r\n")
            if not end:
                return
            self.begin(head)
        while data:
            room = min(self.connection.h2.local_flow_control_window(self.id), 16384)
            if room <= 0:
                if self.ended or not self.connection.more():
                    raise BrokenPipeError
                continue
            try:
                self.connection.h2.send_data(self.id, bytes(data[:room]))
            except h2.exceptions.ProtocolError:
                raise BrokenPipeError from None
            self.connection.flush()
            data = data[room:]
        self.connection.flush()

    def recv(self, size):
        while not self.told:
            if self.fields:
                self.told = True
                self.buffer[:0] = self.head()
            elif self.ended or not self.connection.more():
                break
        while not self.buffer and not self.ended:
            self.connection.more()
        if not self.buffer and self.own:
            self.connection.close()
        if not self.buffer and self.reset:
            raise ConnectionResetError
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def head(self):
        """The answer as HTTP/1.1 would have it."""
        fields = {name: value for name, value in self.fields.items() if not name.startswith(":")}
        status = int(self.fields[":status"])
        if status == 200:
            status = 101
            fields |= {"upgrade": "websocket", "connection": "upgrade", "sec-websocket-accept": accepted(self.key)}
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in fields.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def settimeout(self, _):
        pass

    def fileno(self):
        return self.connection.sock.fileno()

    def shutdown(self, _):
        with contextlib.suppress(h2.exceptions.ProtocolError):
            self.connection.h2.end_stream(self.id)
            self.connection.flush()

    def setsockopt(self, *_):
        """Only for a reset, which close() is then."""
        with contextlib.suppress(h2.exceptions.ProtocolError, OSError):
            self.connection.h2.reset_stream(self.id, 8)
            self.connection.flush()

    def close(self):
        if self.own:
            return self.connection.close()
        if not self.ended and self.id is not None:
            self.setsockopt()
        return None


def join(port, path="/", *, connection=None, host="127.0.0.1", receive_buffer=None, before=b"", **options):
    """The client of lib/websocket.py on a stream, of a connection of its own unless there is one."""
    carrier = connection or Connection(port, host=host, receive_buffer=receive_buffer)
    stream = Stream(carrier, connection is None)
    try:
        ws = websocket.WebSocket(stream)
        stream.sendall(websocket.request(path, **options) + before)
        ws.greeted(options.get("key", "dGhlIHNhbXBsZSBub25jZQ=="), options.get("protocols"), options.get("extensions"))
    except BaseException:
        stream.close()
        raise
    return ws


def wait(condition, connections):
    """Reads from all connections until the condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        for connection in connections:
            connection.more(0.01)
        if time.monotonic() > end:
            raise AssertionError("not in time")
