"""A MariaDB of our own: data in the scratch directory, on cores of its own, ended with the benchmark."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

from .. import procs
from ..contenders import environment, search_path
from ..load import Failed

NAME, USER, PASSWORD = "bench", "bench", "bench"
ROWS = 10_000
START_SECONDS = 60.0
# mod_php keeps one for each of its children, and a server without a pool opens one for each request under way.
MOST_CONNECTIONS = 3000
PROGRAMS = {
    "mariadbd": "mariadb-server", "mariadb-install-db": "mariadb-server", "mariadb": "mariadb-client",
    "mariadb-slap": "mariadb-client",
}  # fmt: skip

_TABLE = f"""
CREATE DATABASE {NAME} CHARACTER SET utf8mb4;
USE {NAME};
CREATE TABLE item (id INT UNSIGNED PRIMARY KEY, name VARCHAR(32) NOT NULL, description VARCHAR(255) NOT NULL);
INSERT INTO item SELECT seq, CONCAT('item ', LPAD(seq, 5, '0')), REPEAT(MD5(seq), 6) FROM seq_1_to_{ROWS};
CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';
GRANT SELECT ON {NAME}.* TO '{USER}'@'127.0.0.1';
CREATE USER '{USER}'@'localhost' IDENTIFIED BY '{PASSWORD}';
GRANT SELECT ON {NAME}.* TO '{USER}'@'localhost';
"""


class DatabaseFailed(Failed):
    pass


def missing() -> list[str]:
    """Debian packages that are not installed."""
    return sorted({package for name, package in PROGRAMS.items() if not shutil.which(name, path=search_path())})


class MariaDb:
    def __init__(self, scratch: Path, cores: str, port: int, over_tcp: bool, more: str = ""):
        """`more`: statements, beside those of the table."""
        self._more = more
        self._port, self._over_tcp = port, over_tcp
        self._data, self._init, self._log = scratch / "mariadb", scratch / "init.sql", scratch / "mariadb.log"
        self._socket = scratch / "mariadb.sock"
        self._user = pwd.getpwuid(os.getuid()).pw_name
        self._group = procs.Group(cores, environment({}), scratch, self._log)

    def start(self) -> None:
        self._install()
        self._init.write_text(_TABLE + self._more)
        self._group.start(["mariadbd", "--no-defaults", *self._options()])
        self._await()

    def stop(self) -> None:
        self._group.stop()

    def cpu_seconds(self) -> float:
        return procs.cpu_seconds(self._group.tree())

    def settle(self, seconds: float = 10.0) -> None:
        """Waits until the sessions of the last contender are gone and nothing is left to do."""
        deadline = time.monotonic() + seconds
        before = self.cpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(0.05)
            now = self.cpu_seconds()
            if now - before <= 0.005:
                return
            before = now

    def version(self) -> str:
        done = subprocess.run(
            ["mariadbd", "--no-defaults", "--version"], env=environment({}), capture_output=True, text=True, check=False
        )
        words = done.stdout.split()
        return f"MariaDB {words[words.index('Ver') + 1].split('-')[0]}" if "Ver" in words else "MariaDB"

    def as_root(self) -> list[str]:
        """What a client of MariaDB's is told, to connect."""
        return ["--no-defaults", f"--socket={self._socket}", "--user=root"]

    def as_user(self) -> list[str]:
        """The same as the servers do."""
        way = ["--host=127.0.0.1", f"--port={self._port}"] if self._over_tcp else [f"--socket={self._socket}"]
        return ["--no-defaults", *way, f"--user={USER}", f"--password={PASSWORD}", f"--create-schema={NAME}"]

    def tokens(self) -> dict[str, str]:
        return {
            "DB_PORT": str(self._port),
            "DB_SOCKET": "" if self._over_tcp else str(self._socket),
            "DB_NAME": NAME,
            "DB_USER": USER,
            "DB_PASSWORD": PASSWORD,
        }

    def _install(self) -> None:
        argv = ["mariadb-install-db", "--no-defaults", f"--datadir={self._data}", f"--user={self._user}"]
        done = subprocess.run(
            [*argv, "--auth-root-authentication-method=normal", "--skip-test-db"],
            env=environment({}), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise DatabaseFailed(f"mariadb-install-db failed: {(done.stderr or done.stdout).strip()[-800:]}")

    def _options(self) -> list[str]:
        return [
            f"--datadir={self._data}",
            f"--socket={self._socket}",
            f"--pid-file={self._data}/mariadbd.pid",
            f"--init-file={self._init}",
            f"--user={self._user}",
            f"--port={self._port}",
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            f"--max-connections={MOST_CONNECTIONS}",
            # A connection that finds the queue full would be a failure of the database, not of who is measured.
            "--back-log=4096",
            f"--thread-cache-size={MOST_CONNECTIONS}",
            "--query-cache-type=0",
            "--innodb-buffer-pool-size=128M",
            "--innodb-log-file-size=16M",
            "--log-warnings=1",
        ]

    def _await(self) -> None:
        """The table is made before the first connection is accepted; the server then speaks first."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and not self._group.ended():
            try:
                with socket.create_connection(("127.0.0.1", self._port), timeout=1) as connection:
                    if connection.recv(1):
                        return
            except OSError:
                time.sleep(0.05)
        raise DatabaseFailed(f"MariaDB did not start:\n{self._group.log_tail()}")
