"""Pools with real servers: dead connections are replaced, open transactions rolled back, and a few connections serve
many."""

import json
import os
import signal
import subprocess

import hooks
import support
from hooks import servers

BEGIN = """<?php
use Apus\\ConnectionPool;
use Apus\\Coroutine;
use Apus\\Database\\{MysqliConfig, MysqliPool, PDOConfig, PDOPool, RedisConfig, RedisPool};
use function Apus\\go;
use function Apus\\Coroutine\\{batch, parallel, run};

$warnings = [];
set_error_handler(function (int $code, string $text) use (&$warnings) { return (bool) ($warnings[] = $text); }, E_USER_WARNING);

function config(object $config): object
{
    return $config->withPort((int) getenv('PORT'))->withDbname('test')->withUsername('tester')->withPassword('s3cret');
}

function pool(string $kind, int $size): ConnectionPool
{
    return match ($kind) {
        'mysql' => new PDOPool(config(new PDOConfig), $size),
        'pgsql' => new PDOPool(config((new PDOConfig)->withDriver('pgsql')), $size),
        'mysqli' => new MysqliPool(config(new MysqliConfig), $size),
        'pg' => new ConnectionPool(fn () => pg_connect('host=127.0.0.1 dbname=test user=tester password=s3cret port=' . getenv('PORT'), PGSQL_CONNECT_FORCE_NEW), $size),
        'redis' => new RedisPool((new RedisConfig)->withPort((int) getenv('PORT'))->withTimeout(5)->withReadTimeout(30), $size),
    };
}

/** Runs SQL and gives back the first value of the first row. */
function ask(object $conn, string $sql): mixed
{
    return match (true) {
        $conn instanceof PDO => ($result = $conn->query($sql))->columnCount() ? $result->fetchColumn() : null,
        $conn instanceof mysqli => is_bool($result = $conn->query($sql)) ? null : $result->fetch_column(),
        default => pg_num_rows($result = pg_query($conn, $sql)) ? pg_fetch_result($result, 0, 0) : null,
    };
}

/** Which session of the server this is. */
function session(object $conn): string
{
    return (string) match (true) {
        $conn instanceof Redis => $conn->rawCommand('CLIENT', 'ID'),
        $conn instanceof mysqli, $conn instanceof PDO && $conn->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql' => ask($conn, 'SELECT CONNECTION_ID()'),
        default => ask($conn, 'SELECT pg_backend_pid()'),
    };
}

function kill(object $by, string $session): void
{
    match (true) {
        $by instanceof Redis => $by->rawCommand('CLIENT', 'KILL', 'ID', $session),
        $by instanceof mysqli, $by instanceof PDO && $by->getAttribute(PDO::ATTR_DRIVER_NAME) === 'mysql' => ask($by, "KILL CONNECTION $session"),
        // It has gone when it no longer stands in the table.
        default => ask($by, "SELECT pg_terminate_backend($session, 20000)"),
    };
}

function stats(ConnectionPool $pool, string ...$names): array
{
    return array_intersect_key($pool->stats(), array_flip($names));
}

function until(callable $condition): void
{
    for ($end = hrtime(true) + 30e9; !$condition(); Coroutine::sleep(0.005)) {
        hrtime(true) < $end or throw new Exception('it never became so');
    }
}

$result = [];
"""
SERVERS = {"mysql": servers.MariaDB, "mysqli": servers.MariaDB, "pgsql": servers.PostgreSQL, "pg": servers.PostgreSQL, "redis": servers.Redis}
SLEEP = {"mysql": "SELECT SLEEP(0.05)", "mysqli": "SELECT SLEEP(0.05)", "pgsql": "SELECT pg_sleep(0.05)", "pg": "SELECT pg_sleep(0.05)"}


def each(*kinds):
    """A decorator: one test for each kind of connection."""
    def make(test):
        test.kinds = kinds
        return test
    return make


def spread(case):
    for name, test in list(vars(case).items()):
        for kind in getattr(test, "kinds", ()):
            def one(self, test=test, kind=kind):
                test(self, kind)
            setattr(case, f"{name}_{kind}", one)
        if hasattr(test, "kinds"):
            delattr(case, name)
    return case


class PoolCase(hooks.HookCase):
    def script(self, body):
        path = self.scratch() / "pool.php"
        path.write_text(f"{BEGIN}run(function () use (&$result, &$warnings) {{\n{body}\n}});\necho json_encode($result), \"\\n\";\n")
        return path

    def result(self, kind, body, server=None):
        """What a program leaves in $result."""
        server = server or servers.shared(SERVERS[kind])
        return self.json(self.script(body), env={"PORT": str(server.port)}, ini=["display_startup_errors=0"])

    def talk(self, kind, body, server):
        """Starts a program that prints lines and reads lines."""
        settings, missing = hooks.extensions()
        if missing:
            self.skipTest(f"this PHP lacks {', '.join(sorted(missing))}")
        line = [support.php(), "-n", *settings, "-d", f"extension={support.module()}", "-d", "display_errors=1", str(self.script(body))]
        process = subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PORT": str(server.port)},
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        return process

    def hear(self, process, line):
        said = process.stdout.readline()
        if said != line + "\n":
            self.fail(f"wanted {line!r}:\n{said}{process.stdout.read() if process.poll() is not None else ''}")

    def say(self, process):
        process.stdin.write("go on\n")
        process.stdin.flush()


@spread
class Dead(PoolCase):
    @each("mysql", "mysqli", "pgsql", "pg", "redis")
    def test_killed_connections_are_replaced(self, kind):
        got = self.result(kind, f"""
        $pool = pool('{kind}', 4)->set(['check_idle' => 0]);
        $held = [$pool->get(), $pool->get(), $pool->get()];
        $sessions = array_map(session(...), $held);
        array_map($pool->put(...), $held);
        $held = null;
        $killer = pool('{kind}', 1)->get();
        array_map(fn ($session) => kill($killer, $session), $sessions);
        $held = [$pool->get(), $pool->get(), $pool->get()];
        $result['fresh'] = array_intersect($sessions, array_map(session(...), $held)) === [];
        array_map($pool->put(...), $held);
        $result += stats($pool, 'in_use', 'idle', 'created', 'replaced');
        $result['warnings'] = $warnings;
        """)
        if kind == "redis":
            # phpredis connects again by itself in the middle of the check: the pool need not replace what works.
            self.assertEqual(got, {**got, "fresh": True, "in_use": 0, "idle": 3, "warnings": []})
            return
        self.assertEqual(got, {"fresh": True, "in_use": 0, "idle": 3, "created": 6, "replaced": 3, "warnings": []})

    @each("mysql", "mysqli", "pgsql", "pg", "redis")
    def test_a_query_on_a_killed_connection_fails_and_the_next_user_has_another(self, kind):
        query = "$conn->rawCommand('DEBUG', 'SLEEP', '0.01') and $conn->get('x') === false and $conn->isConnected() or throw new Exception('gone')" if kind == "redis" else "ask($conn, 'SELECT 1')"
        got = self.result(kind, f"""
        $pool = pool('{kind}', 1);
        $killer = pool('{kind}', 1)->get();
        $failures = 0;
        for ($i = 0; $i < 5; $i++) {{
            $session = $pool->use(session(...));
            try {{
                $pool->use(function ($conn) use ($killer, $session) {{
                    kill($killer, $session);
                    @{query};
                }});
            }} catch (Throwable) {{
                $failures++;
            }}
            $result['other'][] = $pool->use(session(...)) !== $session;
        }}
        $result['failures'] = $failures;
        $result += stats($pool, 'in_use');
        """)
        self.assertEqual(got["other"], [True] * 5)
        self.assertEqual(got["in_use"], 0)
        if kind != "redis":
            self.assertEqual(got["failures"], 5)

    @each("mysql", "mysqli", "pgsql", "redis")
    def test_a_server_that_restarts(self, kind):
        with SERVERS[kind]() as server:
            program = self.talk(kind, f"""
            $pool = pool('{kind}', 3);
            $pool->fill();
            $say = function (string $line): void {{ echo "$line\\n"; fgets(STDIN); }};
            $say('filled');
            try {{
                $pool->use(session(...));
            }} catch (ConnectionPool\\Exception $e) {{
                $result['code'] = $e->getCode();
                $result['previous'] = $e->getPrevious() !== null;
            }} catch (Throwable $e) {{
                $result['code'] = get_class($e);
            }}
            $say('failed');
            $result['sessions'] = count(array_filter([$pool->use(session(...)), $pool->use(session(...))]));
            $result += stats($pool, 'in_use', 'waiters');
            """.replace("pool('", "pool('", 1).replace(", 3);", ", 3)->set(['check_idle' => 0]);"), server)
            self.hear(program, "filled")
            server.kill()
            self.say(program)
            self.hear(program, "failed")
            server.start()
            self.say(program)
            self.assertEqual(json.loads(program.stdout.readline()), {"code": 403, "previous": True, "sessions": 2, "in_use": 0, "waiters": 0})

    @each("mysql", "pgsql", "redis")
    def test_a_server_that_hangs_does_not_hang_the_check(self, kind):
        # With the hooks the check is broken off; then the connection is made anew, which waits until the server goes
        # on.
        with SERVERS[kind]() as server:
            program = self.talk(kind, f"""
            $pool = pool('{kind}', 1)->set(['check_idle' => 0, 'check_timeout' => 0.05]);
            $session = $pool->use(session(...));
            echo "session $session\\n";
            fgets(STDIN);
            $user = go(function () use ($pool, $session, &$result) {{
                $result['fresh'] = $pool->use(session(...)) !== $session;
            }});
            until(fn () => $pool->stats()['replaced'] === 1);
            echo "replaced\\n";
            Coroutine::join([$user]);
            $result += stats($pool, 'in_use', 'idle', 'created');
            """, server)
            said, session = program.stdout.readline().split()
            # PostgreSQL has a process for each session.
            stopped = int(session) if kind == "pgsql" else server.pid
            try:
                support.halt(stopped)
                self.say(program)
                self.hear(program, "replaced")
            finally:
                os.kill(stopped, signal.SIGCONT)
            self.assertEqual(json.loads(program.stdout.readline()), {"fresh": True, "in_use": 0, "idle": 1, "created": 2})

    @each("mysql", "pgsql")
    def test_no_server_at_all(self, kind):
        got = self.result(kind, f"""
        putenv('PORT=1');
        $pool = pool('{kind}', 2);
        $codes = batch(array_fill(0, 10, function () use ($pool) {{
            try {{
                $pool->get();
            }} catch (ConnectionPool\\Exception $e) {{
                return [$e->getCode(), get_class($e->getPrevious())];
            }}
        }}));
        $result['codes'] = array_unique($codes, SORT_REGULAR);
        $result += stats($pool, 'in_use', 'idle', 'waiters', 'created');
        """)
        self.assertEqual(got, {"codes": [[403, "PDOException"]], "in_use": 0, "idle": 0, "waiters": 0, "created": 0})


@spread
class Clean(PoolCase):
    @each("mysql", "mysqli", "pgsql", "pg")
    def test_open_transactions_are_rolled_back_and_reported(self, kind):
        table = f"pool_{kind}"
        got = self.result(kind, f"""
        $pool = pool('{kind}', 1);
        $pool->use(fn ($conn) => ask($conn, 'DROP TABLE IF EXISTS {table}'));
        $pool->use(fn ($conn) => ask($conn, 'CREATE TABLE {table} (n INT)'));
        $session = $pool->use(session(...));
        $pool->use(function ($conn) {{
            ask($conn, 'BEGIN');
            ask($conn, 'INSERT INTO {table} VALUES (1)');
        }});
        try {{
            $pool->use(function ($conn) {{
                ask($conn, 'BEGIN');
                ask($conn, 'INSERT INTO {table} VALUES (2)');
                throw new LogicException('in the middle');
            }});
        }} catch (LogicException) {{
        }}
        $pool->use(function ($conn) {{
            ask($conn, 'BEGIN');
            ask($conn, 'INSERT INTO {table} VALUES (3)');
            ask($conn, 'COMMIT');
        }});
        $result['rows'] = $pool->use(fn ($conn) => (string) ask($conn, 'SELECT SUM(n) FROM {table}'));
        $result['same'] = $pool->use(session(...)) === $session;
        $result['warnings'] = array_map(fn ($text) => preg_replace('/coroutine .*/', 'coroutine…', $text), $warnings);
        $result += stats($pool, 'in_use', 'idle', 'created', 'resets');
        $pool->use(fn ($conn) => ask($conn, 'DROP TABLE {table}'));
        """)
        name = {"mysql": "Database\\PDOPool", "pgsql": "Database\\PDOPool", "mysqli": "Database\\MysqliPool", "pg": "ConnectionPool"}[kind]
        warning = f"Apus\\{name}: a connection came back with an open transaction, which was rolled back (coroutine…"
        self.assertEqual(got, {"rows": "3", "same": True, "warnings": [warning] * 2, "in_use": 0, "idle": 1, "created": 1, "resets": 2})

    @each("pgsql")
    def test_a_failed_transaction_is_rolled_back(self, kind):
        got = self.result(kind, f"""
        $pool = pool('{kind}', 1);
        try {{
            $pool->use(function ($conn) {{
                $conn->beginTransaction();
                $conn->query('SELECT no_such_column');
            }});
        }} catch (PDOException) {{
        }}
        $result['answer'] = $pool->use(fn ($conn) => ask($conn, 'SELECT 5'));
        $result += stats($pool, 'created', 'resets');
        """)
        self.assertEqual(got, {"answer": 5, "created": 1, "resets": 1})

    @each("mysql", "mysqli")
    def test_a_connection_with_a_result_that_nobody_has_read_is_replaced(self, kind):
        ask = {
            "mysql": "$conn->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false); $kept = $conn->query('SELECT 1 UNION SELECT 2 UNION SELECT 3'); $kept->fetchColumn();",
            "mysqli": "$kept = $conn->query('SELECT 1 UNION SELECT 2 UNION SELECT 3', MYSQLI_USE_RESULT); $kept->fetch_column();",
        }[kind]
        got = self.result(kind, f"""
        $pool = pool('{kind}', 1);
        $kept = null;
        $pool->use(function ($conn) use (&$kept) {{ {ask} }});
        $result['answer'] = (string) $pool->use(fn ($conn) => ask($conn, 'SELECT 5'));
        $result += stats($pool, 'in_use', 'idle', 'created', 'replaced');
        """)
        self.assertEqual(got, {"answer": "5", "in_use": 0, "idle": 1, "created": 2, "replaced": 1})

    def test_redis_multi_pipelines_and_data_bases(self):
        got = self.result("redis", """
        $pool = new RedisPool((new RedisConfig)->withPort((int) getenv('PORT'))->withDbIndex(2)->withOption(Redis::OPT_PREFIX, 'pool:'), 1);
        $pool->use(fn ($redis) => $redis->set('x', 1));
        $pool->use(fn ($redis) => $redis->multi()->set('x', 2));
        $pool->use(fn ($redis) => $redis->pipeline()->set('x', 3));
        $pool->use(fn ($redis) => $redis->select(5));
        $result['x'] = $pool->use(fn ($redis) => $redis->get('x'));
        $result['db'] = $pool->use(fn ($redis) => $redis->getDBNum());
        $result['warnings'] = count($warnings);
        $result += stats($pool, 'created', 'resets');
        $pool->use(fn ($redis) => $redis->del('x'));
        """)
        self.assertEqual(got, {"x": "1", "db": 2, "warnings": 2, "created": 1, "resets": 3})

    @each("mysql", "mysqli", "pgsql", "pg", "redis")
    def test_cancelled_in_the_middle_of_a_query(self, kind):
        query = "$conn->blPop(['pool:nothing'], 30)" if kind == "redis" else f"ask($conn, '{SLEEP[kind].replace('0.05', '30')}')"
        got = self.result(kind, f"""
        $pool = pool('{kind}', 1);
        $session = $pool->use(session(...));
        foreach ([false, true] as $throw) {{
            $cid = go(function () use ($pool) {{
                $conn = $pool->get();
                try {{
                    @{query};
                }} catch (Throwable) {{
                }} finally {{
                    $pool->put($conn);
                }}
            }});
            Coroutine::sleep(0.02);
            Coroutine::cancel($cid, $throw);
            Coroutine::join([$cid]);
            $sessions[] = $pool->use(session(...));
        }}
        $result['different'] = count(array_unique([$session, ...$sessions]));
        $result += stats($pool, 'in_use', 'idle', 'created', 'replaced');
        """)
        self.assertEqual(got, {"different": 3, "in_use": 0, "idle": 1, "created": 3, "replaced": 2})


    @each("mysql", "mysqli", "pgsql", "pg", "redis")
    def test_cancelled_in_the_middle_of_a_query_and_given_back_later(self, kind):
        query, probe = ("$conn->blPop(['pool:nothing'], 30)", "$conn->rawCommand('ECHO', '77')") if kind == "redis" else (f"ask($conn, '{SLEEP[kind].replace('0.05', '1')}')", "ask($conn, 'SELECT 77')")
        got = self.result(kind, f"""
        $pool = pool('{kind}', 1);
        foreach ([false, true] as $throw) {{
            $pool->fill();
            $cid = go(function () use ($pool) {{
                $conn = $pool->get();
                try {{
                    @{query};
                }} catch (Throwable) {{
                }}
                // Its last wait is not the one that was cancelled.
                Coroutine::sleep(0.001);
                $pool->put($conn);
            }});
            Coroutine::sleep(0.02);
            Coroutine::cancel($cid, $throw);
            Coroutine::join([$cid]);
            $result['answers'][] = (int) $pool->use(fn ($conn) => {probe});
        }}
        $result += stats($pool, 'replaced');
        """)
        self.assertEqual(got, {"answers": [77, 77], "replaced": 2})

    @each("mysql", "mysqli", "pgsql", "pg", "redis")
    def test_a_deadline_in_the_middle_of_a_query(self, kind):
        query = "$conn->blPop(['pool:nothing'], 30)" if kind == "redis" else f"ask($conn, '{SLEEP[kind].replace('0.05', '30')}')"
        got = self.result(kind, f"""
        $pool = pool('{kind}', 1);
        $session = $pool->use(session(...));
        try {{
            Coroutine\\Scope::run(fn () => $pool->use(fn ($conn) => @{query}), 0.05);
        }} catch (Coroutine\\TimeoutException) {{
            $result['late'] = true;
        }}
        $result['fresh'] = $pool->use(session(...)) !== $session;
        $result += stats($pool, 'in_use', 'idle', 'waiters');
        """)
        self.assertEqual(got, {"late": True, "fresh": True, "in_use": 0, "idle": 1, "waiters": 0})


@spread
class Many(PoolCase):
    @each("mysql", "mysqli", "pgsql", "pg", "redis")
    def test_nobody_gets_the_answer_of_another(self, kind):
        # Long enough for the chaos to meet many of them.
        busy = "local x = 0 for i = 1, 50000 do x = x + i end return ARGV[1]"
        query = {"redis": f"$conn->eval(\"{busy}\", [$n], 0)"}.get(kind, "ask($conn, \"SELECT $n FROM pg_sleep(0.002)\")" if kind.startswith("pg") else "ask($conn, \"SELECT $n + SLEEP(0.002)\")")
        got = self.result(kind, f"""
        error_reporting(E_ALL & ~E_WARNING);
        $pool = pool('{kind}', 6)->set(['check_idle' => 0.01, 'min_idle' => 1]);
        $killer = pool('{kind}', 1)->get();
        $counts = ['right' => 0, 'wrong' => 0, 'failed' => 0];
        $users = [];
        for ($user = 0; $user < 40; $user++) {{
            $users[] = go(function () use ($pool, $user, &$counts) {{
                for ($i = 0; $i < 25; $i++) {{
                    $n = $user * 1000 + $i;
                    try {{
                        $got = $pool->use(function ($conn) use ($n) {{
                            $got = {query};
                            return $got === false ? throw new Exception('failed') : $got;
                        }});
                    }} catch (Throwable) {{
                        $got = false;
                    }}
                    $counts[$got === false ? 'failed' : ((int) $got === $n ? 'right' : 'wrong')]++;
                }}
            }});
        }}
        $chaos = go(function () use ($users, $killer, $pool) {{
            mt_srand(7);
            for ($i = 0; array_filter($users, Coroutine::exists(...)); $i++) {{
                Coroutine::cancel($users[mt_rand(0, 39)], mt_rand(0, 1) === 1);
                if ($i % 10 === 0) {{
                    try {{
                        $session = $pool->use(session(...));
                        kill($killer, $session);
                    }} catch (Throwable) {{
                        // It was killed before.
                    }}
                }}
                Coroutine::sleep(0.001);
            }}
        }});
        Coroutine::join([...$users, $chaos]);
        until(fn () => $pool->stats()['in_use'] === 0);
        $result = $counts + stats($pool, 'waiters', 'lost');
        $result['idle'] = $pool->stats()['idle'] <= 6;
        $result['warnings'] = $warnings;
        """)
        total = got["right"] + got["failed"]
        self.assertEqual(got, {**got, "wrong": 0, "waiters": 0, "lost": 0, "idle": True, "warnings": []})
        self.assertEqual(total, 1000)
        self.assertGreater(got["right"], 300)
        self.assertGreater(got["failed"], 20)

    @each("mysql", "mysqli", "pgsql", "pg")
    def test_two_hundred_coroutines_over_ten_connections(self, kind):
        got = self.result(kind, f"""
        $pool = pool('{kind}', 10);
        $pool->fill();
        $begin = hrtime(true);
        parallel(200, fn () => $pool->use(fn ($conn) => ask($conn, '{SLEEP[kind]}')));
        $result['seconds'] = (hrtime(true) - $begin) / 1e9;
        $result += stats($pool, 'in_use', 'idle', 'created', 'waits', 'timeouts');
        """)
        # One after the other they would take 10 s, ten at a time 1 s.
        self.assertGreaterEqual(got["seconds"], 0.99)
        self.assertLess(got.pop("seconds"), 1.5 if hooks.QUIET else 5)
        self.assertEqual(got, {"in_use": 0, "idle": 10, "created": 10, "waits": 190, "timeouts": 0})

    @each("mysql")
    def test_exhaustion(self, kind):
        got = self.result(kind, f"""
        $pool = pool('{kind}', 2);
        $outcomes = batch(array_fill(0, 5, function () use ($pool) {{
            try {{
                return $pool->use(fn ($conn) => ask($conn, 'SELECT SLEEP(0.4)'), 0.1);
            }} catch (ConnectionPool\\Exception $e) {{
                return [$e->getCode(), preg_replace('/[0-9.]+ s|taken at \\S+/', '#', $e->getMessage())];
            }}
        }}));
        $result['ok'] = count(array_filter($outcomes, is_int(...)));
        $result['failed'] = array_values(array_filter($outcomes, is_array(...)));
        $result += stats($pool, 'timeouts', 'created');
        """)
        self.assertEqual((got["ok"], got["timeouts"], got["created"]), (2, 3, 2))
        code, message = got["failed"][0]
        self.assertEqual(code, 401)
        self.assertRegex(message, r"^no connection came free within #: size 2, in use 2, waiters 3\. Held longest by: coroutine \d+, # # ago; coroutine \d+, # # ago\. ")

    @each("mysql")
    def test_the_total_is_divided_over_the_workers(self, kind):
        settings, missing = hooks.extensions()
        if missing:
            self.skipTest(f"this PHP lacks {', '.join(sorted(missing))}")
        ini = [part for part in settings if part != "-d"]
        begin = BEGIN.removeprefix("<?php\n") + "$pools = [];\n"
        script = f"""<?php
{begin}
$server = new Apus\\Http\\Server('127.0.0.1', 0);
$server->set(['worker_num' => 2, 'blocked_loop_warn' => 0]);
// Made before the workers are: each has its own connections.
$early = pool('{kind}', 3);
$early->put($early->get());
$server->on('request', function ($request, $response) use ($early) {{
    static $pool = pool('{kind}', 64)->set(['total' => 5]);
    $few = pool('{kind}', 64)->set(['total' => 1]);
    try {{
        $few->get();
    }} catch (ConnectionPool\\Exception $e) {{
        $message = $e->getMessage();
    }}
    $response->end(json_encode([$pool->stats()['size'], $message, $early->stats()['idle'], $early->use(session(...)) !== '', $early->stats()['created']]));
}});
$server->start();
""".replace(f"    static $pool = pool('{kind}', 64)->set(['total' => 5]);\n", f"    static $pool;\n    $pool ??= pool('{kind}', 64)->set(['total' => 5]);\n")
        with support.Server(script=script, ini=ini, env={"PORT": str(servers.shared(SERVERS[kind]).port)}) as server:
            size, message, idle, works, _ = json.loads(server.get().body)
        self.assertEqual((size, idle, works), (2, 0, True))
        self.assertEqual(message, 'setting "total" is 1, which leaves no connection for each of the 2 workers: it must be at least 2')
