"""Trouble for the databases: killed connections and queries, restarts, pauses; seeded, and with its times on record."""

import asyncio
import contextlib
import socket
import subprocess
import time


class Chaos:
    def __init__(self, random, mariadb, redis, postgresql=None):
        self.random, self.mariadb, self.redis, self.postgresql = random, mariadb, redis, postgresql
        self.done = []
        # [begin, end] of each storm.
        self.storms = []

    def sql(self, statement):
        line = ["mariadb", "--no-defaults", "-N", "-B", f"--socket={self.mariadb.socket}", "-uroot", "test", "-e", statement]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.split()

    def kill(self, what):
        ids = self.sql("SELECT id FROM information_schema.processlist WHERE user = 'tester'")
        chosen = self.random.sample(ids, min(len(ids), self.random.randint(1, 6)))
        # One that has gone meanwhile is no failure of the others.
        for one in chosen:
            self.sql(f"KILL {what} {one}")
        return f"KILL {what} x{len(chosen)}"

    def kill_connections(self):
        return self.kill("CONNECTION")

    def kill_queries(self):
        return self.kill("QUERY")

    def kill_redis_clients(self):
        with socket.create_connection(("127.0.0.1", self.redis.port), timeout=5) as connection:
            connection.sendall(b"CLIENT KILL TYPE normal SKIPME yes\r\n")
            return f"CLIENT KILL {connection.recv(64).decode(errors='replace').strip()}"

    def terminate_postgresql(self):
        if self.postgresql is None:
            return self.kill_connections()
        statement = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'tester' AND pid <> pg_backend_pid()"
        with contextlib.suppress(subprocess.SubprocessError):
            self.postgresql_sql(statement)
        return "pg_terminate_backend"

    def postgresql_sql(self, statement):
        from lib import servers

        psql = servers.program("psql", servers.POSTGRESQL_PROGRAMS)
        line = [psql, "-X", "-q", "-h", "127.0.0.1", "-p", str(self.postgresql.port), "-U", "tester", "-d", "test", "-v", "ON_ERROR_STOP=1", "-c", statement]
        subprocess.run(line, env={"PGPASSWORD": "s3cret", "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=60, check=True)

    def restart(self, daemon):
        hard = self.random.random() < 0.5
        if hard:
            daemon.kill()
        else:
            daemon.stop()
        time.sleep(self.random.random())
        daemon.start()
        return f"{daemon.name} restarted ({'SIGKILL' if hard else 'SIGTERM'})"

    def restart_mariadb(self):
        return self.restart(self.mariadb)

    def restart_redis(self):
        return self.restart(self.redis)

    def pause(self):
        daemon = self.random.choice((self.mariadb, self.redis))
        daemon.pause()
        try:
            time.sleep(self.random.uniform(0.2, 1.5))
        finally:
            daemon.go_on()
        return f"{daemon.name} paused"

    async def storm(self, seconds):
        """One trouble after the other for so long."""
        kinds = {
            self.kill_connections: 5, self.kill_queries: 4, self.kill_redis_clients: 5, self.terminate_postgresql: 3,
            self.restart_mariadb: 2, self.restart_redis: 3, self.pause: 2,
        }  # fmt: skip
        storm = [time.monotonic(), float("inf")]
        self.storms.append(storm)
        try:
            while time.monotonic() < storm[0] + seconds:
                kind = self.random.choices(list(kinds), list(kinds.values()))[0]
                self.done.append(await asyncio.to_thread(kind))
                await asyncio.sleep(self.random.uniform(0.05, 1.5))
        finally:
            storm[1] = time.monotonic()

    async def each_once(self):
        """Every kind of trouble, for runs too short to leave it to chance."""
        storm = [time.monotonic(), float("inf")]
        self.storms.append(storm)
        try:
            for kind in (
                self.kill_connections,
                self.kill_queries,
                self.kill_redis_clients,
                self.terminate_postgresql,
                self.pause,
                self.restart_redis,
                self.restart_mariadb,
            ):
                self.done.append(await asyncio.to_thread(kind))
                await asyncio.sleep(self.random.uniform(0.05, 0.3))
        finally:
            storm[1] = time.monotonic()

    def excused(self, began, ended, grace):
        """Whether a request met a storm, or what it left behind within so many seconds."""
        return any(ended >= begin and began <= end + grace for begin, end in self.storms)
