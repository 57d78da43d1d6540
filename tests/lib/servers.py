#!/usr/bin/env python3
"""Real servers for tests and measurements: MariaDB, PostgreSQL, Redis, NATS, memcached, and slow HTTP(S) and line
servers.

Each has a folder and ports of 127.0.0.1 of its own, keeps nothing on disk that it could lose, and is killed when this
process ends, however it ends.

    with servers.MariaDB() as db:           # also Redis, PostgreSQL, Memcached, Slow
        db.port, db.socket                  # root, no password; tester / s3cret; data base "test"
        db.kill(); db.start(); db.restart()

    db = servers.shared(servers.MariaDB)    # one for all tests of this process

    tests/lib/servers.py mariadb redis -- COMMAND...    runs a command beside them; `environment()` tells the
                                                        names of the variables
"""
import atexit
import contextlib
import glob
import itertools
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# Seconds after which a server counts as not starting or not stopping; far above what a loaded machine needs.
PATIENCE = float(os.environ.get("APUS_TEST_PATIENCE", "60"))
USER, PASSWORD, DATABASE = "tester", "s3cret", "test"

# Kills what is left, and removes the folders, when the pipe from the process that started them breaks.
REAPER = """
import os, shutil, signal, sys
left = {}
for line in sys.stdin:
    verb, name = line.rstrip("\\n").split(" ", 1)
    if verb == "+":
        left[name] = True
    else:
        left.pop(name, None)
for name in left:
    if name.isdigit():
        try:
            os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass
for name in left:
    if not name.isdigit():
        shutil.rmtree(name, ignore_errors=True)
"""


class Reaper:
    """Outlives this process, so that not even SIGKILL leaves a server behind."""

    def __init__(self):
        self.lock = threading.Lock()
        self.process = subprocess.Popen(
            [sys.executable, "-c", REAPER], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def say(self, verb, name):
        with self.lock:
            self.process.stdin.write(f"{verb} {name}\n")
            self.process.stdin.flush()


_values = {}
_locks = {}
_guard = threading.Lock()


def once(key, make):
    """What `make` gives, made once a process, whoever asks first."""
    with _guard:
        lock = _locks.setdefault(key, threading.Lock())
    with lock:
        if key not in _values:
            _values[key] = make()
        return _values[key]


def reaper():
    return once(Reaper, Reaper)


def folder(prefix):
    path = pathlib.Path(tempfile.mkdtemp(prefix=f"apus-{prefix}-"))
    reaper().say("+", path)
    return path


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    reaper().say("-", path)


def program(name, *folders):
    """The path of a program; a test that needs it is skipped where it is missing."""
    for place in folders:
        if found := sorted(glob.glob(f"{place}/{name}")):
            return found[-1]
    if found := shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin"):
        return found
    raise unittest.SkipTest(f"needs {name}: tools/install-packages test")


def free_port():
    """A port below those that the kernel gives to outgoing connections, so that it is still free after a restart."""
    while True:
        port = random.SystemRandom().randrange(20000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def unprivileged(*names):
    """Options of Popen with which a server runs that refuses to be root."""
    if os.geteuid() != 0:
        return {}
    for name in (*names, "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise unittest.SkipTest("no user without root's rights")


class Daemon:
    """A server process: `line()` tells its command, `answers()` whether it is ready."""

    name = ""
    users = None

    def __init__(self, *options):
        self.options = options
        self.port = free_port()
        self.process = None
        self.folder = folder(self.name)
        self.identity = unprivileged(*self.users) if self.users else {}
        self.log_path = self.folder / "log"
        try:
            self.prepare()
            self.own(self.folder)
            self.start()
        except BaseException:
            self.close()
            raise

    def prepare(self):
        """Puts into the folder what the server needs before its first start."""

    def line(self):
        raise NotImplementedError

    def answers(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True

    def own(self, *paths):
        if self.identity:
            for path in itertools.chain.from_iterable([p, *p.rglob("*")] for p in paths):
                os.chown(path, self.identity["user"], self.identity["group"])

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        """Starts the server and waits until it answers; its port and data are those it had before."""
        assert self.process is None, "it runs already"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [str(part) for part in self.line()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self.identity,
            )
        reaper().say("+", self.pid)
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError):
                if self.answers():
                    return self
            if self.process.poll() is not None or time.monotonic() > end:
                code = self.process.poll()
                self._end(signal.SIGKILL)
                raise AssertionError(f"{self.name} does not start (exit code {code}): {self.line()}\n{self.log()}")
            time.sleep(0.01)

    def _end(self, number):
        if self.process is None:
            return
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(number)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reaper().say("-", process.pid)

    def stop(self):
        """Ends it in its own way; connections are closed."""
        self._end(signal.SIGTERM)

    def kill(self):
        """SIGKILL: its connections break without a word."""
        self._end(signal.SIGKILL)

    def restart(self):
        self.stop()
        return self.start()

    def pause(self):
        """SIGSTOP: connections stay open, and nothing answers until `go_on()`."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def log(self):
        return self.log_path.read_text(errors="replace")[-8000:] if self.log_path.exists() else ""

    def environment(self):
        """What a program beside it needs to know, as variables."""
        return {f"APUS_TEST_{self.name.upper()}_PORT": str(self.port)}

    def close(self):
        self.kill()
        remove(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind and issubclass(kind, Exception) and not issubclass(kind, unittest.SkipTest):
            print(f"--- log of {self.name}\n{self.log()}---", file=sys.stderr)
        self.close()


def template(make):
    """The folder that `make` fills, filled once a process."""
    def filled():
        path = folder("template")
        make(path)
        return path
    return once(make, filled)


def run(line, **options):
    options.setdefault("input", "")
    done = subprocess.run(
        [str(part) for part in line],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    )
    if done.returncode != 0:
        raise AssertionError(f"{line}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def _certificate():
    path = folder("certificate")
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    run([program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", names, "-keyout", path / "key.pem", "-out", path / "cert.pem"], cwd=path)
    return path / "cert.pem", path / "key.pem"


def certificate():
    """A certificate for localhost and 127.0.0.1 that signs itself, and its key: two paths."""
    return once(_certificate, _certificate)


# Small enough that a data base is made and started within a second or two, and nothing is synced: the folder dies with
# the process.
MARIADB_SMALL = ["--innodb-buffer-pool-size=24M", "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--innodb-doublewrite=0", "--skip-log-bin", "--debug-no-sync"]


def _mariadb_data(path):
    # --rpm: it leaves the folders of the installed server as they are.
    run([program("mariadb-install-db"), "--no-defaults", "--rpm", f"--user={pwd.getpwuid(os.geteuid()).pw_name}", f"--datadir={path}", "--auth-root-authentication-method=normal", "--skip-test-db", *MARIADB_SMALL])


class MariaDB(Daemon):
    """MariaDB; `root` has no password, `tester` has "s3cret"; the data base is "test". TLS is on offer. Options: of
    mariadbd."""

    name = "mariadb"

    def prepare(self):
        program("mariadbd")
        self.socket = self.folder / "socket"
        shutil.copytree(template(_mariadb_data), self.folder / "data")
        # One statement a line is what an init file takes.
        statements = [f"CREATE DATABASE IF NOT EXISTS {DATABASE};"]
        for user, how in ((USER, f"IDENTIFIED BY '{PASSWORD}'"), ("root", "")):
            for host in ("localhost", "127.0.0.1"):
                statements += [f"CREATE USER IF NOT EXISTS '{user}'@'{host}' {how};", f"GRANT ALL ON *.* TO '{user}'@'{host}' WITH GRANT OPTION;"]
        (self.folder / "init.sql").write_text("".join(f"{statement}\n" for statement in statements))

    def line(self):
        cert, key = certificate()
        return [
            program("mariadbd"),
            "--no-defaults",
            f"--user={pwd.getpwuid(os.geteuid()).pw_name}",
            f"--datadir={self.folder / 'data'}",
            f"--socket={self.socket}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--pid-file={self.folder / 'pid'}",
            f"--init-file={self.folder / 'init.sql'}",
            "--skip-name-resolve",
            "--local-infile=1",
            "--max-connections=1000",
            "--max-connect-errors=1000000",
            "--max-allowed-packet=64M",
            f"--ssl-cert={cert}",
            f"--ssl-key={key}",
            f"--tmpdir={self.folder}",
            *MARIADB_SMALL,
            *self.options,
        ]

    def answers(self):
        # The greeting comes when the init file has been worked off.
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
            return len(probe.recv(5)) == 5

    def environment(self):
        return {**super().environment(), "APUS_TEST_MARIADB_SOCKET": str(self.socket)}


POSTGRESQL_PROGRAMS = "/usr/lib/postgresql/*/bin"


def _postgresql_data(path):
    identity = unprivileged("postgres")
    if identity:
        os.chown(path, identity["user"], identity["group"])
    run([program("initdb", POSTGRESQL_PROGRAMS), "-D", path, "-U", "postgres", "-A", "trust", "-N", "--wal-segsize=1", "--encoding=UTF8", "--locale=C"], cwd=path, **identity)
    # Single-user mode: a statement a line, with no socket open yet.
    statements = f"CREATE ROLE {USER} SUPERUSER LOGIN PASSWORD '{PASSWORD}'\nCREATE DATABASE {DATABASE} TEMPLATE template0\n"
    run([program("postgres", POSTGRESQL_PROGRAMS), "--single", "-D", path, "-c", "fsync=off", "postgres"], input=statements, cwd=path, **identity)


class PostgreSQL(Daemon):
    """PostgreSQL; `postgres` needs no password, `tester` has "s3cret"; the data base is "test". TLS is on offer.
    Options: "name=value"."""

    name = "postgresql"
    users = ("postgres",)

    def prepare(self):
        data = self.folder / "data"
        shutil.copytree(template(_postgresql_data), data)
        data.chmod(0o700)
        for source, name in zip(certificate(), ("cert.pem", "key.pem")):
            shutil.copy(source, self.folder / name)
        (self.folder / "key.pem").chmod(0o600)
        (data / "pg_hba.conf").write_text(f"local all all trust\nhost all {USER} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n")
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder,
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "wal_level": "minimal",
            "max_wal_senders": 0,
            "shared_buffers": "24MB",
            "max_connections": 600,
            "autovacuum": "off",
            "max_parallel_workers": 0,
            "min_wal_size": "2MB",
            "max_wal_size": "64MB",
            "logging_collector": "off",
            "log_min_messages": "warning",
            "lc_messages": "C",
            "ssl": "on",
            "ssl_cert_file": self.folder / "cert.pem",
            "ssl_key_file": self.folder / "key.pem",
        }
        settings.update(option.split("=", 1) for option in self.options)
        (data / "postgresql.conf").write_text("".join(f"{name} = '{value}'\n" for name, value in settings.items()))

    @property
    def socket(self):
        """The folder of its socket: what libpq takes as host."""
        return self.folder

    def line(self):
        return [program("postgres", POSTGRESQL_PROGRAMS), "-D", self.folder / "data"]

    def answers(self):
        startup = b"user\0postgres\0database\0postgres\0\0"
        packet = (196608).to_bytes(4, "big") + startup
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as probe:
            probe.sendall((len(packet) + 4).to_bytes(4, "big") + packet)
            # R: authentication; E: it still starts up.
            return probe.recv(1) == b"R"

    def kill(self):
        # The children notice by themselves, at the end of what they do; a test wants them gone now.
        children = []
        if self.process is not None:
            with contextlib.suppress(OSError):
                children = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        self._end(signal.SIGKILL)
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if children:
            (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def stop(self):
        # "Fast": SIGTERM would wait for the clients.
        self._end(signal.SIGINT)

    def environment(self):
        return {**super().environment(), "APUS_TEST_POSTGRESQL_SOCKET": str(self.socket)}


class Redis(Daemon):
    """Redis without persistence; nobody needs a password, and `tester` may log in with "s3cret". Options: of
    redis-server."""

    name = "redis"

    def prepare(self):
        self.socket = self.folder / "socket"
        settings = {
            "port": self.port,
            "bind": "127.0.0.1",
            "unixsocket": self.socket,
            "save": '""',
            "appendonly": "no",
            "dir": self.folder,
            "daemonize": "no",
            "enable-debug-command": "yes",
            "hz": 200,
            "user": f"{USER} on >{PASSWORD} ~* &* +@all",
        }
        (self.folder / "redis.conf").write_text("".join(f"{name} {value}\n" for name, value in settings.items()))

    def line(self):
        return [program("redis-server"), self.folder / "redis.conf", *self.options]

    def answers(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
            probe.sendall(b"PING\r\n")
            return probe.recv(7) == b"+PONG\r\n"

    def environment(self):
        return {**super().environment(), "APUS_TEST_REDIS_SOCKET": str(self.socket)}


class RedisTls(Redis):
    """Redis whose port speaks TLS and asks for a client's certificate: `certificate()` is the server's, the authority,
    and one that it takes."""

    name = "rediss"

    def line(self):
        cert, key = certificate()
        return [program("redis-server"), self.folder / "redis.conf", "--port", "0", "--tls-port", self.port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, *self.options]

    answers = Daemon.answers


class Sentinel(Daemon):
    """A Redis Sentinel, which alone decides; `add(server)` gives it a master named "main". The default user's password
    is "s3cret"."""

    name = "sentinel"

    def prepare(self):
        (self.folder / "sentinel.conf").write_text(f"port {self.port}\nbind 127.0.0.1\nrequirepass {PASSWORD}\n")

    def line(self):
        return [program("redis-server"), self.folder / "sentinel.conf", "--sentinel"]

    def ask(self, *words):
        """What it answers."""
        return run([program("redis-cli"), "-p", self.port, "-a", PASSWORD, "--no-auth-warning", *words])

    def add(self, master):
        self.ask("SENTINEL", "MONITOR", "main", "127.0.0.1", str(master.port), "1")
        for name, value in (("down-after-milliseconds", "200"), ("failover-timeout", "2000")):
            self.ask("SENTINEL", "SET", "main", name, value)


class Nats(Daemon):
    """NATS without persistence; nobody needs a password. Options: of nats-server."""

    name = "nats"

    def line(self):
        return [program("nats-server"), "-a", "127.0.0.1", "-p", self.port, *self.options]

    def answers(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
            return probe.recv(5) == b"INFO "


class Memcached(Daemon):
    """memcached. Options: of memcached."""

    name = "memcached"
    users = ("memcache", "memcached")

    def line(self):
        return [program("memcached"), "-l", "127.0.0.1", "-p", self.port, "-U", "0", "-t", "2", "-c", "4096", "-m", "32", *self.options]

    def answers(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
            probe.sendall(b"version\r\n")
            return probe.recv(7) == b"VERSION"


class Slow(Daemon):
    """The servers of slow.py: `port` (HTTP), `https`, `lines` and `tls` (TCP), `udp`, `full` (never accepts)."""

    name = "slow"

    def prepare(self):
        self.https, self.lines, self.tls, self.udp, self.full = (free_port() for _ in range(5))
        self.cert, self.key = certificate()

    def line(self):
        return [
            sys.executable,
            "-B",
            HERE / "slow.py",
            self.port,
            self.https,
            self.lines,
            self.tls,
            self.udp,
            self.full,
            self.cert,
            self.key,
        ]

    def environment(self):
        return {**super().environment(), **{f"APUS_TEST_SLOW_{name.upper()}": str(getattr(self, name)) for name in ("https", "lines", "tls", "udp", "full", "cert")}}


def shared(kind):
    """The one server of this kind in this process: started when first asked for, ended at exit."""
    return once(kind, kind)


@atexit.register
def _close_all():
    for value in list(_values.values()):
        if isinstance(value, Daemon):
            with contextlib.suppress(Exception):
                value.close()


KINDS = {kind.name: kind for kind in (MariaDB, PostgreSQL, Redis, RedisTls, Sentinel, Nats, Memcached, Slow)}


def main(arguments):
    if (
        "--" not in arguments
        or not set(names := arguments[: (cut := arguments.index("--"))]) <= set(KINDS)
        or not arguments[cut + 1 :]
    ):
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(KINDS)}... -- COMMAND...")
    with contextlib.ExitStack() as stack:
        variables = dict(os.environ)
        for name in names:
            variables.update(stack.enter_context(KINDS[name]()).environment())
        return subprocess.run(arguments[cut + 1 :], env=variables).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
