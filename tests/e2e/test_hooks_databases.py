"""What programs do with data bases and stores, by many coroutines at once: nothing is lost, mixed or late."""

import json
import threading
import unittest

from support import until
from hooks import HookCase, servers

# A clock that ticks while something long runs: the longest gap between two ticks tells how long the loop was kept.
TICKS = """
$ticks = 0;
$running = true;
go(function () use (&$ticks, &$running) { while ($running) { usleep(1000); $ticks++; } });
"""


class MySQL(HookCase):
    KINDS = (servers.MariaDB, servers.Slow)

    def test_transactions_on_one_row(self):
        printed = self.inside("""
        pdo_mysql()->exec('CREATE OR REPLACE TABLE counter (id INT PRIMARY KEY, n INT) ENGINE=InnoDB');
        pdo_mysql()->exec('INSERT INTO counter VALUES (1, 0)');
        batch(array_fill(0, 30, function () {
            $c = pdo_mysql();
            for ($i = 0; $i < 5; $i++) {
                $c->beginTransaction();
                $n = $c->query('SELECT n FROM counter WHERE id = 1 FOR UPDATE')->fetchColumn();
                usleep(100);
                $c->exec('UPDATE counter SET n = ' . ($n + 1) . ' WHERE id = 1');
                $i === 4 ? $c->rollBack() : $c->commit();
            }
        }));
        echo pdo_mysql()->query('SELECT n FROM counter')->fetchColumn();
        """, kinds=self.KINDS)
        self.assertEqual(printed, "120")

    def test_a_persistent_connection_goes_from_one_coroutine_to_the_next(self):
        printed = self.inside("""
        $ids = [];
        foreach (range(1, 5) as $n) {
            $id = go(function () use (&$ids) {
                $c = pdo_mysql([PDO::ATTR_PERSISTENT => true]);
                $ids[] = $c->query('SELECT CONNECTION_ID()')->fetchColumn();
                $c = null;
            });
            Coroutine::join([$id]);
        }
        echo count($ids), ' ', count(array_unique($ids));
        """, kinds=self.KINDS)
        self.assertEqual(printed, "5 1")

    def test_a_persistent_connection_is_not_for_two_at_once(self):
        printed = self.inside("""
        $results = batch(array_fill(0, 3, function () {
            try {
                $c = pdo_mysql([PDO::ATTR_PERSISTENT => true]);
                return $c->query('SELECT SLEEP(0.1), CONNECTION_ID()')->fetch(PDO::FETCH_NUM)[0];
            } catch (ConflictException $e) {
                return 'conflict';
            }
        }));
        echo json_encode(array_count_values(array_map(fn ($result) => "got $result", $results)));
        """, kinds=self.KINDS)
        # Each gets its own result, on a connection of its own, or is told; never that of another.
        self.assertIn(printed, ['{"got 0":3}', '{"got 0":1,"got conflict":2}', '{"got 0":2,"got conflict":1}'])

    def test_big_results(self):
        printed = self.inside(TICKS + """
        $sql = 'SELECT seq, REPEAT(CHAR(65 + seq % 26), 200) FROM seq_1_to_20000';
        $jobs = [
            'buffered' => fn () => pdo_mysql(),
            'unbuffered' => fn () => pdo_mysql([PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]),
            'native' => fn () => pdo_mysql([PDO::ATTR_EMULATE_PREPARES => false]),
        ];
        $results = batch(array_map(fn ($connect) => function () use ($connect, $sql) {
            $sum = $wrong = 0;
            $statement = $connect()->prepare($sql);
            $statement->execute();
            while ($row = $statement->fetch(PDO::FETCH_NUM)) {
                $sum += $row[0];
                $wrong += $row[1] !== str_repeat(chr(65 + $row[0] % 26), 200);
            }
            return [$sum, $wrong];
        }, $jobs + ['mysqli' => fn () => pdo_mysql()]));
        $running = false;
        echo json_encode($results), ' ', $ticks > 3 ? 'ticked' : "only $ticks ticks";
        """, kinds=self.KINDS)
        self.assertEqual(printed, '{"buffered":[200010000,0],"unbuffered":[200010000,0],"native":[200010000,0],"mysqli":[200010000,0]} ticked')

    def test_big_packets(self):
        printed = self.inside("""
        $sizes = [10, 16_000, 1_000_000, 12_000_000];
        echo json_encode(batch(array_map(fn ($size) => function () use ($size) {
            $statement = pdo_mysql([PDO::ATTR_EMULATE_PREPARES => false])->prepare('SELECT ?, MD5(?)');
            $data = str_repeat(chr(97 + $size % 26), $size);
            $statement->execute([$data, $data]);
            $row = $statement->fetch(PDO::FETCH_NUM);
            return $row[0] === $data && $row[1] === md5($data);
        }, $sizes)));
        """, kinds=self.KINDS, ini=["memory_limit=512M"])
        self.assertEqual(printed, "[true,true,true,true]")

    def test_load_data(self):
        printed = self.inside(TICKS + """
        pdo_mysql()->exec('CREATE OR REPLACE TABLE loaded (who INT, id INT, v VARCHAR(100))');
        $files = array_map(function ($who) {
            $file = scratch();
            $f = fopen($file, 'w');
            for ($i = 0; $i < 10000; $i++) {
                fwrite($f, "$who\\t$i\\tvalue $i of $who\\n");
            }
            fclose($f);
            return $file;
        }, range(0, 3));
        batch(array_map(fn ($file) => fn () => pdo_mysql([PDO::MYSQL_ATTR_LOCAL_INFILE => true])->exec("LOAD DATA LOCAL INFILE '$file' INTO TABLE loaded"), $files));
        $running = false;
        echo json_encode(pdo_mysql()->query("SELECT who, COUNT(*), SUM(id), SUM(v = CONCAT('value ', id, ' of ', who)) FROM loaded GROUP BY who ORDER BY who")->fetchAll(PDO::FETCH_NUM)), $ticks > 3 ? '' : " only $ticks ticks";
        """, kinds=self.KINDS, ini=["mysqli.allow_local_infile=1"])
        self.assertEqual(printed.replace('"', ""), "[[0,10000,49995000,10000],[1,10000,49995000,10000],[2,10000,49995000,10000],[3,10000,49995000,10000]]")

    def test_several_hundred_connect_at_once(self):
        printed = self.inside("""
        $results = batch(array_map(fn ($n) => function () use ($n) {
            $c = $n % 2 ? my_sqli() : pdo_mysql();
            $row = $n % 2 ? $c->query("SELECT $n, CONNECTION_ID()")->fetch_row() : $c->query("SELECT $n, CONNECTION_ID()")->fetch(PDO::FETCH_NUM);
            usleep(1000);
            return [(int) $row[0] === $n, $row[1]];
        }, range(0, 299)));
        echo count(array_filter(array_column($results, 0))), ' ', count(array_unique(array_column($results, 1)));
        """, kinds=self.KINDS)
        self.assertEqual(printed, "300 300")

    def test_an_object_of_many_statements(self):
        # Coroutines that take turns on one connection are no conflict.
        printed = self.inside("""
        $c = pdo_mysql();
        $lock = false;
        $results = [];
        foreach (range(1, 20) as $n) {
            go(function () use ($n, $c, &$lock, &$results) {
                while ($lock) { usleep(500); }
                $lock = true;
                $s = $c->prepare('SELECT ?');
                $s->execute([$n]);
                $results[] = (int) $s->fetchColumn() === $n;
                $lock = false;
            });
        }
        while (count($results) < 20) { usleep(500); }
        echo json_encode(array_unique($results));
        """, kinds=self.KINDS)
        self.assertEqual(printed, "[true]")


class Restarts(HookCase):
    """Servers of their own, which die in the middle."""

    DEAD = """
    $ids = [];
    $told = [];
    foreach (range(1, 5) as $n) {
        $ids[] = go(function () use (&$told, $n) {
            $told[] = strtok(told(fn () => WAIT), ' ');
        });
    }
    file_put_contents(getenv('READY'), 'x');
    Coroutine::join($ids, 30);
    echo json_encode(array_unique($told)), count($told);
    """

    def dies(self, kind, wait):
        scratch = self.scratch()
        with kind() as server:
            variables = {**server.environment(), "READY": str(scratch / "ready")}
            def end():
                until("they wait", (scratch / "ready").exists)
                server.kill()
            thread = threading.Thread(target=end)
            thread.start()
            try:
                return self.inside(self.DEAD.replace("WAIT", wait), env=variables, kinds=(servers.Slow,))
            finally:
                thread.join()

    def test_mariadb_is_killed(self):
        self.assertEqual(self.dies(servers.MariaDB, "pdo_mysql()->query('SELECT SLEEP(60)')"), '["PDOException"]5')

    def test_postgresql_is_killed(self):
        # libpq says goodbye on stderr, too.
        self.assertRegex(self.dies(servers.PostgreSQL, "pdo_pgsql()->query('SELECT pg_sleep(60)')"), r'(?m)^\["PDOException"\]5$')

    def test_redis_is_killed(self):
        self.assertEqual(self.dies(servers.Redis, "phpredis()->blPop(['nothing'], 60)"), '["RedisException"]5')


class PostgreSQL(HookCase):
    KINDS = (servers.PostgreSQL, servers.Slow)

    def test_copy(self):
        printed = self.inside(TICKS + """
        pdo_pgsql()->exec('DROP TABLE IF EXISTS copied; CREATE TABLE copied (who int, id int, v text)');
        batch(array_map(fn ($who) => function () use ($who) {
            $rows = array_map(fn ($i) => "$who\\t$i\\tvalue $i of $who", range(0, 4999));
            $who % 2 ? pg_copy_from(my_pgsql(), 'copied', array_map(fn ($row) => "$row\\n", $rows)) : pdo_pgsql()->pgsqlCopyFromArray('copied', $rows);
        }, range(0, 3)));
        $counts = pdo_pgsql()->query("SELECT who, count(*), sum(id), sum((v = 'value ' || id || ' of ' || who)::int) FROM copied GROUP BY who ORDER BY who")->fetchAll(PDO::FETCH_NUM);
        [$out, $more] = batch([
            fn () => count(array_unique(pg_copy_to(my_pgsql(), 'copied'))),
            fn () => count(array_unique(pdo_pgsql()->pgsqlCopyToArray('copied'))),
        ]);
        $running = false;
        echo json_encode($counts), " $out $more ", $ticks > 3 ? 'ticked' : "only $ticks ticks";
        """, kinds=self.KINDS)
        self.assertEqual(printed.replace('"', ""), "[[0,5000,12497500,5000],[1,5000,12497500,5000],[2,5000,12497500,5000],[3,5000,12497500,5000]] 20000 20000 ticked")

    def test_listen_and_notify(self):
        printed = self.inside("""
        $got = [];
        $ids = [];
        foreach (range(1, 10) as $n) {
            $c = pdo_pgsql();
            $c->exec("LISTEN channel_$n");
            $ids[] = go(function () use ($c, $n, &$got) {
                for ($i = 0; $i < 3; $i++) {
                    $got[$n][] = $c->pgsqlGetNotify(PDO::FETCH_ASSOC, 20000)['payload'];
                }
            });
        }
        $sender = my_pgsql();
        foreach (range(1, 3) as $i) {
            foreach (range(1, 10) as $n) {
                pg_query($sender, "NOTIFY channel_$n, 'message $i for $n'");
            }
        }
        Coroutine::join($ids, 25);
        ksort($got);
        echo json_encode(array_unique(array_map(fn ($n) => $got[$n] === ["message 1 for $n", "message 2 for $n", "message 3 for $n"], range(1, 10))));
        $begin = hrtime(true);
        echo ' ', json_encode(pdo_pgsql()->pgsqlGetNotify(PDO::FETCH_ASSOC, 150)), since($begin) > 0.14 ? '' : ' early', since($begin) < 5 ? '' : ' late';
        """, kinds=self.KINDS)
        self.assertEqual(printed, "[true] false")

    def test_transactions_and_big_results(self):
        printed = self.inside(TICKS + """
        pdo_pgsql()->exec('DROP TABLE IF EXISTS counter; CREATE TABLE counter (n int); INSERT INTO counter VALUES (0)');
        $jobs = array_fill(0, 20, function () {
            $c = pdo_pgsql();
            for ($i = 0; $i < 3; $i++) {
                $c->beginTransaction();
                $n = $c->query('SELECT n FROM counter FOR UPDATE')->fetchColumn();
                $c->exec('UPDATE counter SET n = ' . ($n + 1));
                $i ? $c->commit() : $c->rollBack();
            }
        });
        $jobs[] = fn () => array_sum(array_map('intval', pg_fetch_all_columns(pg_query(my_pgsql(), "SELECT i, repeat('x', 200) FROM generate_series(1, 20000) i"))));
        $jobs[] = function () {
            $sum = 0;
            foreach (pdo_pgsql()->query("SELECT i, repeat('y', 200) FROM generate_series(1, 20000) i", PDO::FETCH_NUM) as $row) {
                $sum += $row[0];
            }
            return $sum;
        };
        $results = batch($jobs);
        $running = false;
        echo pdo_pgsql()->query('SELECT n FROM counter')->fetchColumn(), ' ', json_encode(array_slice($results, 20)), $ticks > 3 ? '' : " only $ticks ticks";
        """, kinds=self.KINDS)
        self.assertEqual(printed, "40 [200010000,200010000]")


class Stores(HookCase):
    KINDS = (servers.Redis, servers.Memcached, servers.Slow)

    def test_phpredis_subscribe(self):
        printed = self.inside("""
        $got = [];
        $ids = [];
        foreach (range(1, 10) as $n) {
            $ids[] = go(function () use ($n, &$got) {
                $c = phpredis();
                $c->setOption(Redis::OPT_READ_TIMEOUT, -1);
                try {
                    $c->subscribe(["news $n"], function ($c, $channel, $message) use ($n, &$got) {
                        $got[$n][] = "$channel: $message";
                        if ($message === 'end') { $c->close(); }
                    });
                } catch (RedisException $e) {
                    // How phpredis leaves: its connection is gone.
                    $got[$n][] = 'left';
                }
            });
        }
        $c = phpredis();
        while (count(array_filter($c->pubsub('numsub', array_map(fn ($n) => "news $n", range(1, 10))))) < 10) { usleep(1000); }
        foreach (['one', 'two', 'end'] as $message) {
            foreach (range(1, 10) as $n) { $c->publish("news $n", $message); }
        }
        Coroutine::join($ids, 20);
        echo json_encode(array_unique(array_map(fn ($n) => $got[$n] === ["news $n: one", "news $n: two", "news $n: end", "left"], range(1, 10))));
        """, kinds=self.KINDS)
        self.assertEqual(printed, "[true]")

    def test_pipelines_and_big_values(self):
        printed = self.inside("""
        echo json_encode(array_unique(batch(array_map(fn ($n) => function () use ($n) {
            $c = $n % 2 ? phpredis() : predis();
            $big = str_repeat(chr(65 + $n), 300_000);
            $replies = $n % 2
                ? $c->multi(Redis::PIPELINE)->set("big $n", $big)->get("big $n")->incrBy("count $n", $n + 1)->exec()
                : $c->pipeline(fn ($p) => $p->set("big $n", $big)->get("big $n")->incrby("count $n", $n + 1));
            return $replies[1] === $big && $replies[2] === $n + 1;
        }, range(0, 19)))));
        """, kinds=self.KINDS)
        self.assertEqual(printed, "[true]")

    def test_predis_subscribe(self):
        printed = self.inside("""
        $got = [];
        $id = go(function () use (&$got) {
            foreach ($loop = predis()->pubSubLoop(['subscribe' => 'letters']) as $message) {
                if ($message->kind === 'message') {
                    $got[] = $message->payload;
                    if ($message->payload === 'c') { $loop->unsubscribe(); }
                }
            }
        });
        $c = predis();
        while (!current($c->pubsub('NUMSUB', 'letters'))) { usleep(1000); }
        foreach (['a', 'b', 'c'] as $letter) { $c->publish('letters', $letter); }
        Coroutine::join([$id], 20);
        echo implode($got);
        """, kinds=self.KINDS)
        self.assertEqual(printed, "abc")

    def test_memcached(self):
        printed = self.inside("""
        echo json_encode(array_unique(batch(array_map(fn ($n) => function () use ($n) {
            $c = memcached();
            $values = [];
            for ($i = 0; $i < 20; $i++) {
                $values["key $n-$i"] = str_repeat("$n.$i ", 1000);
            }
            $values = array_combine(array_map(fn ($key) => strtr($key, ' ', '-'), array_keys($values)), $values);
            $stored = $c->setMulti($values);
            usleep(500);
            return $stored && $c->getMulti(array_keys($values)) === $values;
        }, range(0, 49)))));
        """, kinds=self.KINDS)
        self.assertEqual(printed, "[true]")

    def test_sqlite_writers_wait_for_each_other(self):
        # A lock that a coroutine holds while it waits: SQLite's busy handler has to let it run.
        printed = self.inside("""
        $file = scratch();
        (new PDO("sqlite:$file"))->exec('CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)');
        batch(array_fill(0, 10, function () use ($file) {
            $c = new PDO("sqlite:$file");
            $c->setAttribute(PDO::ATTR_TIMEOUT, 60);
            for ($i = 0; $i < 3; $i++) {
                $c->exec('BEGIN IMMEDIATE');
                $n = $c->query('SELECT n FROM t')->fetchColumn();
                usleep(1000);
                $c->exec('UPDATE t SET n = ' . ($n + 1));
                $c->exec('COMMIT');
            }
        }));
        echo (new PDO("sqlite:$file"))->query('SELECT n FROM t')->fetchColumn();
        """, kinds=self.KINDS)
        self.assertEqual(printed, "30")


class Shared(HookCase):
    """What two coroutines hold at the same time, and what is left of it when a call was broken off."""

    KINDS = (servers.MariaDB, servers.PostgreSQL, servers.Redis, servers.Memcached, servers.Slow)

    def test_a_statement_belongs_to_its_connection(self):
        printed = self.inside("""
        $pdo = pdo_mysql();
        $sqli = my_sqli();
        $statements = [$pdo->prepare('SELECT SLEEP(0.1)'), $sqli->prepare('SELECT SLEEP(0.1)')];
        $others = [fn () => $pdo->query('SELECT 1'), fn () => $sqli->query('SELECT 1')];
        foreach ($statements as $n => $statement) {
            $id = go(fn () => $statement->execute());
            foreach ([fn () => $statement->execute(), $others[$n]] as $call) {
                try { $call(); echo 'mixed '; } catch (ConflictException $e) { echo 'refused '; }
            }
            Coroutine::join([$id]);
        }
        """, kinds=self.KINDS)
        self.assertEqual(printed, "refused refused refused refused ")

    def persistent(self, make, call):
        """Eight coroutines with one key, twice: each gets its own answers, on a connection of its own, or is told; none
        another's."""
        printed = self.inside(f"""
        $told = [];
        foreach ([1, 2] as $round) {{
            $ids = [];
            foreach (range(11, 18) as $n) {{
                $ids[] = go(function () use ($n, &$told) {{
                    try {{
                        $c = {make};
                        for ($i = 0; $i < 3; $i++) {{
                            $r = {call};
                            $told[] = $r === $n ? 'right' : "$r in place of $n";
                        }}
                    }} catch (ConflictException $e) {{
                        $told[] = 'conflict';
                    }}
                }});
            }}
            Coroutine::join($ids, 20);
        }}
        echo json_encode(array_count_values($told));
        """, kinds=self.KINDS)
        told = json.loads(printed)
        self.assertLessEqual(set(told), {"right", "conflict"}, printed)
        self.assertGreaterEqual(told.get("right", 0), 6, printed)

    def test_persistent_pdo_pgsql(self):
        self.persistent("new PDO('pgsql:host=127.0.0.1;port=' . at('POSTGRESQL_PORT') . ';dbname=test;user=postgres', null, null, [PDO::ATTR_PERSISTENT => true])", '(int) $c->query("SELECT $n FROM pg_sleep(0.02)")->fetchColumn()')

    def test_persistent_mysqli(self):
        self.persistent("new mysqli('p:127.0.0.1', 'tester', 's3cret', 'test', (int) at('MARIADB_PORT'))", '(int) $c->query("SELECT $n + SLEEP(0.02)")->fetch_row()[0]')

    def test_persistent_pgsql(self):
        self.persistent("pg_pconnect('host=127.0.0.1 port=' . at('POSTGRESQL_PORT') . ' dbname=test user=postgres')", '(int) pg_fetch_result(pg_query($c, "SELECT $n FROM pg_sleep(0.02)"), 0, 0)')

    def test_persistent_phpredis(self):
        self.persistent("(function () { $c = new Redis(); $c->pconnect('127.0.0.1', (int) at('REDIS_PORT'), 5, 'one'); return $c; })()", "[$c->rawCommand('BLPOP', 'nothing', '0.02'), (int) $c->rawCommand('ECHO', (string) $n)][1]")

    def test_persistent_memcached(self):
        self.persistent("(function () { $c = new Memcached('one'); $c->getServerList() || $c->addServer('127.0.0.1', (int) at('SLOW_LINES')); return $c; })()", "(int) round(1000 * $c->get('sleep:0.0' . $n))")

    def test_curl_handles(self):
        printed = self.inside("""
        $multi = curl_multi_init();
        $handles = array_map(fn () => curl('/sleep/0.1'), range(1, 3));
        array_map(fn ($handle) => curl_multi_add_handle($multi, $handle), $handles);
        $drive = function () use ($multi) {
            do { curl_multi_exec($multi, $running); $running && curl_multi_select($multi, 5); } while ($running);
            return 'driven';
        };
        $told = batch([fn () => told($drive), fn () => told($drive)]);
        echo json_encode([$told, array_map('curl_multi_getcontent', $handles)], JSON_UNESCAPED_SLASHES), "\\n";
        $share = curl_share_init();
        foreach ([CURL_LOCK_DATA_DNS, CURL_LOCK_DATA_COOKIE, CURL_LOCK_DATA_SSL_SESSION] as $what) { curl_share_setopt($share, CURLSHOPT_SHARE, $what); }
        echo json_encode(array_count_values(batch(array_fill(0, 20, function () use ($share) {
            $handle = curl('/sleep/0.05', true);
            curl_setopt($handle, CURLOPT_SHARE, $share);
            return curl_exec($handle);
        }))));
        """, kinds=self.KINDS)
        driven, shared = printed.splitlines()
        self.assertEqual(driven, r'[["\"driven\"","\"driven\""],["slept 0.1","slept 0.1","slept 0.1"]]')
        self.assertEqual(shared, '{"slept 0.05":20}')

    def test_curl_multi_with_100_handles_and_keep_alive(self):
        printed = self.inside(TICKS + """
        $handles = array_map(fn ($n) => curl('/sleep/0.1', $n % 10 === 0), range(1, 100));
        foreach (['new', 'kept'] as $time) {
            $multi ??= curl_multi_init();
            // Newer versions of libcurl keep fewer by default.
            curl_multi_setopt($multi, CURLMOPT_MAXCONNECTS, 200);
            array_map(fn ($handle) => curl_multi_add_handle($multi, $handle), $handles);
            $begin = hrtime(true);
            do { curl_multi_exec($multi, $left); $left && curl_multi_select($multi, 10); } while ($left);
            $seconds = since($begin);
            echo "$time ", json_encode([array_count_values(array_map('curl_multi_getcontent', $handles)), array_sum(array_map(fn ($handle) => curl_getinfo($handle, CURLINFO_NUM_CONNECTS), $handles)), $seconds < 3]), "\\n";
            array_map(fn ($handle) => curl_multi_remove_handle($multi, $handle), $handles);
        }
        $running = false;
        echo $ticks > 10 ? 'ticked' : "only $ticks ticks";
        """, kinds=self.KINDS)
        self.assertEqual(printed, 'new [{"slept 0.1":100},100,true]\nkept [{"slept 0.1":100},0,true]\nticked')

    def test_what_comes_after_a_broken_off_call_is_its_own(self):
        # On the same connection: the answer to the next question, or an error; never the answer that was still under
        # way.
        printed = self.inside("""
        $calls = [
            'pdo_mysql' => [fn () => pdo_mysql(), fn ($c, $n) => (int) $c->query("SELECT $n + SLEEP(0.05)")->fetchColumn()],
            'mysqli' => [fn () => my_sqli(), fn ($c, $n) => (int) $c->query("SELECT $n + SLEEP(0.05)")->fetch_row()[0]],
            'pdo_pgsql' => [fn () => pdo_pgsql(), fn ($c, $n) => (int) $c->query("SELECT $n FROM pg_sleep(0.05)")->fetchColumn()],
            'pgsql' => [fn () => my_pgsql(), fn ($c, $n) => (int) pg_fetch_result(pg_query($c, "SELECT $n FROM pg_sleep(0.05)"), 0, 0)],
            'phpredis' => [fn () => phpredis(), function ($c, $n) { $c->rawCommand('BLPOP', 'nothing', '0.05'); return (int) $c->rawCommand('ECHO', (string) $n); }],
            'predis' => [fn () => predis(), function ($c, $n) { $c->executeRaw(['BLPOP', 'nothing', '0.05']); return (int) $c->echo((string) $n); }],
            'memcached' => [fn () => memcached('SLOW_LINES'), fn ($c, $n) => (int) (100 * $c->get('sleep:0.0' . $n))],
            'curl' => [fn () => curl('/'), function ($c, $n) {
                curl_setopt($c, CURLOPT_URL, 'http://127.0.0.1:' . at('SLOW_PORT') . "/sleep/0.0$n");
                return (int) (100 * (float) strstr(curl_exec($c), '0'));
            }],
        ];
        foreach ($calls as $name => [$make, $call]) {
            foreach ([false, true] as $throw) {
                $on = $make();
                $given = [];
                $id = go(function () use ($call, $on, &$given) {
                    foreach ([4, 5, 6] as $n) {
                        try {
                            $given[$n] = @$call($on, $n);
                        } catch (Throwable $e) {
                            $given[$n] = get_class($e);
                        }
                    }
                });
                usleep(5000);
                Coroutine::cancel($id, $throw);
                Coroutine::join([$id]);
                foreach ([5, 6] as $n) {
                    echo is_string($given[$n]) || !$given[$n] || $given[$n] === $n ? '' : "$name gives $given[$n] for $n\\n";
                }
                echo is_string($given[4]) || !$given[4] ? '' : "$name was not broken off: $given[4]\\n";
            }
        }
        echo 'all asked';
        """, kinds=self.KINDS)
        self.assertEqual(printed, "all asked")


class Iterated(HookCase):
    """foreach fetches rows without a call: it is refused like one, before it reads anything."""
    KINDS = (servers.MariaDB, servers.PostgreSQL)

    # The first coroutine waits in its call or loop when go() returns; the second one does not wait.
    def test_while_another_coroutine_is_in_the_connection(self):
        printed = self.inside("""
        $rows = function ($of) { $all = []; foreach ($of as $row) { $all[] = (int) (array_values($row)[0]); } return $all; };
        $two = "SELECT 1, SLEEP(0), REPEAT('x', 100000) UNION ALL SELECT 2, SLEEP(0.1), ''"; // the first row leaves at once
        $meanwhile = function ($call, $loop) use ($rows) {
            $ended = new Coroutine\\Channel(1);
            go(fn () => $ended->push($call()));
            try {
                return [$rows($loop), $ended->pop()];
            } catch (ConflictException) {
                return ['refused', $ended->pop(), $rows($loop)];
            }
        };
        $told = [];
        $c = pdo_mysql();
        $told['pdo_mysql'] = $meanwhile(fn () => $c->query('SELECT SLEEP(0.1)')->fetchColumn(), $c->query('SELECT 3'));
        $c = pdo_mysql([PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false]);
        $s = $c->query($two);
        $told['unbuffered'] = $meanwhile(fn () => $rows($s), $s);
        $c = my_sqli();
        $c->real_query($two);
        $s = $c->use_result();
        $ended = new Coroutine\\Channel(1);
        go(fn () => $ended->push($rows($s)));
        try { foreach ($s as $row) { } } catch (ConflictException) { $told['mysqli'] = ['refused', $ended->pop()]; }
        $c = pdo_pgsql();
        $told['pdo_pgsql'] = $meanwhile(fn () => $c->query('SELECT 4, pg_sleep(0.1)')->fetchColumn(), $c->query('SELECT 3'));
        echo json_encode($told);
        """, kinds=self.KINDS)
        self.assertEqual(
            json.loads(printed),
            {
                "pdo_mysql": ["refused", 0, [3]],
                "unbuffered": ["refused", [1, 2], []],
                "mysqli": ["refused", [1, 2]],
                "pdo_pgsql": ["refused", 4, [3]],
            },
        )


class DefaultLink(HookCase):
    """pg_query() and the like without a link, of which PHP keeps one: a coroutine's own, or that of whoever made it."""

    LINK = "$text = 'host=127.0.0.1 port=' . at('POSTGRESQL_PORT') . ' dbname=test user=postgres sslmode=disable';\n"
    ASK = """fn ($n) => function () use ($n) {
        try {
            return (int) pg_fetch_result(@pg_query("SELECT $n, pg_sleep(0.01)"), 0, 0);
        } catch (ConflictException) {
            return 'conflict';
        }
    }"""

    def test_one_that_several_coroutines_inherit_is_used_by_one_at_a_time(self):
        printed = self.inside(self.LINK + "pg_connect($text); echo json_encode(batch(array_map(" + self.ASK + ", [1, 2, 3, 4])));", kinds=(servers.PostgreSQL,))
        self.assertEqual(json.loads(printed), [1, "conflict", "conflict", "conflict"])

    def test_each_coroutine_has_the_one_that_it_opened(self):
        printed = self.inside(self.LINK + "$ask = " + self.ASK + ";\necho json_encode(batch(array_map(fn ($n) => function () use ($n, $text, $ask) { pg_connect($text); return $ask($n)(); }, [1, 2, 3, 4])));", kinds=(servers.PostgreSQL,))
        self.assertEqual(json.loads(printed), [1, 2, 3, 4])
