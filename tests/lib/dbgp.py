"""A small DBGp client: the debugger's side of Xdebug's step debugging, as an editor would be.

    with Debugger() as debugger:                    # listens on a port of 127.0.0.1
        php = subprocess.Popen([..., *debugger.php_settings(), "script.php"])
        session = debugger.accept()
        session.breakpoint("/path/script.php", 12)
        stop = session.run()                        # Stop(status="break", file="/path/script.php", line=12)
        session.evaluate("$x")                      # Value(type="int", value="42")
"""
import base64
import socket
import urllib.parse
import xml.etree.ElementTree as ET
from dataclasses import dataclass

NS = {"d": "urn:debugger_protocol_v1", "x": "https://xdebug.org/dbgp/xdebug"}


@dataclass
class Stop:
    """Where the program stands: `status` is break, stopping or stopped."""

    status: str
    file: str = ""
    line: int = 0


@dataclass
class Value:
    type: str
    value: str


@dataclass
class Frame:
    level: int
    where: str
    file: str
    line: int


class ProtocolError(Exception):
    pass


class Session:
    """One connection of a PHP process (a request, or a script)."""

    def __init__(self, connection, timeout):
        connection.settimeout(timeout)
        self._socket = connection
        self._buffer = b""
        self._transaction = 0
        self.init = self._read()

    def _until_nul(self):
        while b"\0" not in self._buffer:
            data = self._socket.recv(65536)
            if not data:
                raise EOFError("the program has closed the connection")
            self._buffer += data
        head, self._buffer = self._buffer.split(b"\0", 1)
        return head

    def _read(self):
        """A message is LENGTH NUL XML NUL."""
        length = int(self._until_nul())
        text = self._until_nul()
        if len(text) != length:
            raise ProtocolError(f"{length} bytes announced, {len(text)} received")
        return ET.fromstring(text)

    def command(self, name, *arguments, data=None):
        """Sends a command, and gives back its answer (notifications and streams are passed over)."""
        self._transaction += 1
        line = " ".join([name, "-i", str(self._transaction), *map(str, arguments)])
        if data is not None:
            line += " -- " + base64.b64encode(data.encode()).decode()
        self._socket.sendall(line.encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("transaction_id") == str(self._transaction):
                break
        error = answer.find("d:error", NS)
        if error is not None:
            raise ProtocolError(f"{name}: {error.findtext('d:message', '', NS)} (code {error.get('code')})")
        return answer

    def breakpoint(self, file, line):
        """Stops before `line` runs; gives back the breakpoint's id."""
        return self.command("breakpoint_set", "-t", "line", "-f", "file://" + urllib.parse.quote(str(file)), "-n", line).get("id")

    def remove_breakpoint(self, identity):
        self.command("breakpoint_remove", "-d", identity)

    def _go(self, name):
        try:
            answer = self.command(name)
        except (EOFError, ConnectionError):
            return Stop("stopped")
        message = answer.find("x:message", NS)
        if message is None:
            return Stop(answer.get("status"))
        file = urllib.parse.unquote(message.get("filename", "").removeprefix("file://"))
        return Stop(answer.get("status"), file, int(message.get("lineno", 0)))

    def run(self):
        return self._go("run")

    def step_over(self):
        return self._go("step_over")

    def step_into(self):
        return self._go("step_into")

    def step_out(self):
        return self._go("step_out")

    def stack(self):
        frames = self.command("stack_get").findall("d:stack", NS)
        return [
            Frame(
                int(f.get("level")),
                f.get("where"),
                urllib.parse.unquote(f.get("filename").removeprefix("file://")),
                int(f.get("lineno")),
            )
            for f in frames
        ]

    def evaluate(self, expression):
        found = self.command("eval", data=expression).find("d:property", NS)
        text = found.text or ""
        if found.get("encoding") == "base64":
            text = base64.b64decode(text).decode(errors="replace")
        return Value(found.get("type"), text)

    def detach(self):
        try:
            self.command("detach")
        except (EOFError, ConnectionError):
            pass

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Debugger:
    """Listens for PHP processes."""

    def __init__(self, timeout=20):
        self.timeout = timeout
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(timeout)
        self.port = self._socket.getsockname()[1]

    def php_settings(self):
        """Arguments for php that make Xdebug connect here."""
        settings = {
            "xdebug.mode": "debug",
            "xdebug.start_with_request": "yes",
            "xdebug.client_host": "127.0.0.1",
            "xdebug.client_port": self.port,
            "xdebug.log_level": 0,
        }
        return [part for name, value in settings.items() for part in ("-d", f"{name}={value}")]

    def accept(self):
        connection, _ = self._socket.accept()
        return Session(connection, self.timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
