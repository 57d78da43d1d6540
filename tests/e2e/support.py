"""What the end-to-end tests share: servers with a ready pipe, and clients that see every byte."""

import contextlib
import functools
import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Seconds after which whatever a test waits for counts as missing; far above what a loaded machine needs.
PATIENCE = float(os.environ.get("APUS_TEST_PATIENCE", "30"))
JIT = ["-d", "opcache.enable_cli=1", "-d", "opcache.jit=tracing", "-d", "opcache.jit_buffer_size=64M"]


def target():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def newest(name):
    found = [path for profile in ("release", "ci", "debug") if (path := target() / profile / name).exists()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def module():
    given = os.environ.get("APUS_SO") or newest("libapus.so")
    if not given:
        raise unittest.SkipTest("no module: build it, or set APUS_SO")
    return str(pathlib.Path(given).resolve())


def command():
    """The `apus` command: built beside the module, or set as APUS_BIN."""
    beside = pathlib.Path(module()).parent / "apus"
    given = os.environ.get("APUS_BIN") or (beside if beside.exists() else newest("apus"))
    if not given:
        raise unittest.SkipTest("no apus command: build it, or set APUS_BIN")
    return str(pathlib.Path(given).resolve())


def php():
    return os.environ.get("APUS_PHP") or shutil.which("php")


@functools.lru_cache(1)
def jit_settings():
    """Opcache with the tracing JIT; opcache is a file of its own before PHP 8.5, where it is a part of PHP."""
    code = "echo is_file(ini_get('extension_dir') . '/opcache.so');"
    found = subprocess.run([php(), "-n", "-r", code], capture_output=True, check=True).stdout
    return [*(("-d", "zend_extension=opcache") if found else ()), *JIT]


def needs(program):
    path = shutil.which(program)
    if not path:
        raise unittest.SkipTest(f"needs {program}")
    return path


def until(what, condition, patience=PATIENCE):
    """Waits for something that no descriptor announces; gives back what the condition gave."""
    end = time.monotonic() + patience
    for pause in itertools.chain((0.001, 0.002, 0.005, 0.01), itertools.repeat(0.02)):
        if value := condition():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {patience} s")
        time.sleep(pause)


def written(what, path):
    """What another process writes to a file: it is there, and empty, before anything stands in it."""
    return until(what, lambda: path.exists() and path.read_text())


def state(pid):
    """The letter of its main thread in /proc; none where there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return None


def alive(pid):
    # A zombie has ended.
    return state(pid) not in (None, "Z")


def halt(pid):
    """SIGSTOP: until all its threads stand, one of them may answer."""

    def stands():
        stats = [task.read_text() for task in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
        return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)

    os.kill(pid, signal.SIGSTOP)
    until("it is stopped", stands)


def rss(pid):
    """Resident bytes."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"process {pid} has no memory")


def php_array(values):
    return "json_decode(<<<'JSON'\n" + json.dumps(values) + "\nJSON, true)"


class Server:
    """A PHP server in a process of its own, on a free port of 127.0.0.1 unless `listen` says otherwise."""

    def __init__(
        self,
        handler="$response->end('ok');",
        *,
        settings=None,
        before="",
        script=None,
        args=(),
        ini=(),
        listen="'127.0.0.1', 0",
        pass_fds=(),
        env=None,
        jit=None,
        wrapper=(),
    ):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-e2e-"))
        self.log_path = self.folder / "log"
        self.script = self.folder / "server.php"
        settings = {"worker_num": 1, "log_file": str(self.log_path), "blocked_loop_warn": 0, **(settings or {})}
        self.script.write_text(script or f"""<?php
use Apus\\Coroutine;
use Apus\\Http\\{{Request, Response, Server}};
$folder = {json.dumps(str(self.folder))};
$server = new Server({listen});
$server->set({php_array(settings)});
$server->on('request', function (Request $request, Response $response) use ($server, $folder) {{
    $path = $request->server['request_uri'];
{handler}
}});
{before}
$server->start();
""")
        jit = os.environ.get("APUS_E2E_JIT") == "1" if jit is None else jit
        self._launch([
            *wrapper,
            php(),
            "-n",
            "-d",
            f"extension={module()}",
            *(jit_settings() if jit else ()),
            *itertools.chain.from_iterable(("-d", i) for i in ini),
            str(self.script),
            *args,
        ], pass_fds, env)

    def _launch(self, line, pass_fds=(), env=None):
        """Starts it in its folder, and waits until it serves."""
        self.reader, writer = os.pipe()
        self.output = open(self.folder / "output", "wb")
        self.process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            pass_fds=(writer, *pass_fds),
            env={**os.environ, "APUS_READY_FD": str(writer), **(env or {})},
            cwd=self.folder,
            start_new_session=True,
        )
        os.close(writer)
        try:
            self.ready = self._ready()
        except BaseException:
            self.__exit__()
            raise
        self.pid = self.ready["pid"]
        self.address = self.ready["listen"][0] if self.ready["listen"] else None

    def _ready(self):
        with open(self.reader, "rb") as pipe:
            # Not select(): it takes no descriptor above 1023.
            ready = select.poll()
            ready.register(pipe, select.POLLIN)
            if not ready.poll(PATIENCE * 1000):
                self.process.kill()
                raise AssertionError(f"the server is not ready: {self.said()}")
            line = pipe.readline()
        if not line:
            self.process.wait(PATIENCE)
            raise AssertionError(f"the server did not start: {self.said()}")
        return json.loads(line)

    def said(self):
        self.output.flush()
        return (self.folder / "output").read_text(errors="replace") + self.log()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    @property
    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    def url(self, path="/"):
        return f"http://{self.address}{path}"

    def connect(self):
        return Client(socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE))

    def get(self, path="/", **options):
        """One request on a connection of its own."""
        with self.connect() as client:
            return client.request("GET", path, close=True, **options)

    def raw(self, data):
        """Sends bytes, and gives back all that comes until the server closes."""
        with self.connect() as client:
            client.send(data)
            return client.rest()

    def workers(self):
        """Process ids of the master's children."""
        return [int(pid) for pid in pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def control(self, line):
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(PATIENCE)
            control.connect(self.ready["control"])
            control.sendall(line.encode() + b"\n")
            return json.loads(control.makefile("rb").readline())

    def status(self):
        return self.control("status")

    def kill(self, number):
        os.kill(self.pid, number)

    def stop(self, number=signal.SIGTERM):
        """Stops the server; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self):
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the server does not end: {self.said()}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.poll() is None and self.process.kill()
        self.process.wait()
        # Workers notice that their master is gone; a test's leave at once.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.output.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Site(Server):
    """`apus serve`: a directory of PHP, which a settings file may say more of; on a free port of 127.0.0.1."""

    def __init__(self, root, *args, workers=2, settings=None, ini=(), env=None, more=""):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apus-serve-"))
        self.log_path = self.folder / "log"
        settings = {"worker_num": 1, "log_file": str(self.log_path), "document_root": str(root), **(settings or {})}
        # JSON's texts, numbers and lists are TOML's.
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        file = self.folder / "site.toml"
        file.write_text("\n".join(["[server]", *lines, more, ""]))
        ini = itertools.chain.from_iterable(("--ini", entry) for entry in ini)
        line = [command(), "serve", "--config", str(file), "--port", "0", "--workers", str(workers), *ini, *args]
        self._launch(line, env={"APUS_EXTENSION": module(), "APUS_PHP": php(), **(env or {})})


class Answer:
    def __init__(self, status, reason, headers, body, trailers=None):
        self.status, self.reason, self.headers, self.body, self.trailers = status, reason, headers, body, trailers or {}

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:60]!r}>"


class Client:
    """A connection that reads answers itself, strictly: what is malformed raises."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def more(self):
        data = self.sock.recv(65536)
        if not data:
            raise EOFError(f"closed after {self.buffer[:200]!r}")
        self.buffer += data

    def line(self):
        while b"\r\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line.decode("latin-1")

    def exactly(self, count):
        parts, have = [self.buffer], len(self.buffer)
        while have < count:
            data = self.sock.recv(min(count - have, 1 << 20))
            if not data:
                raise EOFError(f"closed {count - have} bytes early")
            parts.append(data)
            have += len(data)
        data = b"".join(parts)
        data, self.buffer = data[:count], data[count:]
        return data

    def rest(self):
        while True:
            try:
                data = self.sock.recv(65536)
            except ConnectionResetError:
                break
            if not data:
                break
            self.buffer += data
        data, self.buffer = self.buffer, b""
        return data

    def fields(self):
        fields = {}
        while line := self.line():
            name, value = line.split(": ", 1)
            assert name == name.strip(), line
            fields.setdefault(name.lower(), []).append(value)
        return {name: ", ".join(values) for name, values in fields.items()}

    def head(self):
        version, status, reason = self.line().split(" ", 2)
        assert version == "HTTP/1.1", version
        return int(status), reason, self.fields()

    def answer(self, method="GET"):
        status, reason, headers = self.head()
        trailers = {}
        if method == "HEAD" or status in (204, 304) or status < 200:
            body = b""
        elif "chunked" in headers.get("transfer-encoding", ""):
            body, trailers = self.chunks()
        elif "content-length" in headers:
            body = self.exactly(int(headers["content-length"]))
        else:
            body = self.rest()
        return Answer(status, reason, headers, body, trailers)

    def chunks(self):
        parts = []
        while size := int(self.line(), 16):
            parts.append(self.exactly(size))
            assert self.line() == ""
        return b"".join(parts), self.fields()

    def request(self, method="GET", path="/", body=None, headers=None, close=False):
        lines = [f"{method} {path} HTTP/1.1", "Host: test", *(f"{name}: {value}" for name, value in (headers or {}).items())]
        if close:
            lines.append("Connection: close")
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        return self.answer(method)

    def closed(self):
        """Waits for the end of the stream; whether nothing came before it."""
        return self.rest() == b""


class Wrk:
    """A steady load; `result()` ends it and says how many requests were answered and how many failed."""

    def __init__(self, url, connections=16, seconds=60, threads=1):
        line = [needs("wrk"), f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", url]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def result(self, stop=True):
        if stop:
            self.process.send_signal(signal.SIGINT)
        text, _ = self.process.communicate(timeout=PATIENCE * 4)
        requests = errors = None
        failed = 0
        for line in text.splitlines():
            words = line.replace(",", " ").split()
            if "requests in" in line:
                requests = int(words[0])
            elif "Socket errors:" in line:
                errors = {words[i]: int(words[i + 1]) for i in range(2, len(words) - 1, 2)}
            elif "Non-2xx" in line:
                failed = int(words[-1])
        return requests, errors or {}, failed, text


class Case(unittest.TestCase):
    maxDiff = None

    def serve(self, *args, **options):
        """A server that ends with the test."""
        return self.enterContext(Server(*args, **options))

    def wrk(self, *args, **options):
        load = Wrk(*args, **options)
        self.addCleanup(lambda: load.process.poll() is None and load.process.kill())
        return load
