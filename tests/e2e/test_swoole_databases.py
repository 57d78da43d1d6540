"""The clients of databases of older versions of Swoole, and its pools, against real servers."""

import json

from hooks import HookCase, servers

MYSQL = """
$server = [
    'host' => '127.0.0.1', 'port' => (int) getenv('APUS_TEST_MARIADB_PORT'), 'user' => 'tester', 'password' => 's3cret',
    'database' => 'test',
];
"""
POSTGRES = "$server = 'host=127.0.0.1 port=' . getenv('APUS_TEST_POSTGRESQL_PORT') . ' dbname=test user=postgres';"


class SwooleDatabases(HookCase):
    def told(self, body, *kinds):
        printed = self.inside("$out = [];\n" + body + "\necho json_encode($out);", kinds=kinds, ini=("apus.swoole_compat=1",))
        try:
            return json.loads(printed)
        except ValueError:
            self.fail(printed)

    def test_mysql_queries(self):
        out = self.told(MYSQL + """
        $db = new Swoole\\Coroutine\\MySQL();
        $out[] = $db->query('SELECT 1');
        $out[] = $db->errno;
        $out[] = $db->connect($server);
        $out[] = $db->query("SELECT 1 AS a, 'x' AS b");
        $out[] = [$db->query('SELECT nonsense'), $db->errno, str_starts_with($db->error, 'SQLSTATE[42S22] [1054] ')];
        $db->query('CREATE TEMPORARY TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))');
        $out[] = [$db->query("INSERT INTO t (v) VALUES ('a'), ('b')"), $db->affected_rows, $db->insert_id];
        $statement = $db->prepare('SELECT id, v FROM t WHERE id = ? OR v = ?');
        $out[] = $statement->execute([1, 'b']);
        $out[] = [$statement->execute([1]), $statement->errno];
        $out[] = [$db->begin(), $db->query('DELETE FROM t'), $db->rollback(), count($db->query('SELECT * FROM t'))];
        $out[] = $db->escape("a'b");
        $db->setDefer();
        $out[] = [$db->query('SELECT 2 AS n'), $db->recv(), $db->recv()];
        $db->setDefer(false);
        $out[] = [$db->query('SELECT SLEEP(60)', 0.05), $db->errno, $db->connected];
        """, servers.MariaDB)
        self.assertEqual(out, [
            False, 2006, True, [{"a": "1", "b": "x"}], [False, 1054, True], [True, 2, 1],
            [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}], [False, 2034], [True, True, True, 2], "a\\'b",
            [True, [{"n": "2"}], False], [False, 110, False]])

    def test_mysql_fetches(self):
        out = self.told(MYSQL + """
        $db = new Co\\MySQL();
        $out[] = $db->connect($server + ['fetch_mode' => true, 'strict_type' => true]);
        $out[] = [$db->query('SELECT 1 AS n UNION SELECT 2'), $db->fetch(), $db->fetchAll(), $db->fetch()];
        $db->query('CREATE OR REPLACE PROCEDURE two() BEGIN SELECT 1 AS a; SELECT 2 AS b; END');
        $out[] = [$db->query('CALL two()'), $db->fetchAll(), $db->nextResult(), $db->fetchAll(), $db->nextResult(), $db->nextResult()];
        $statement = $db->prepare('CALL two()');
        $out[] = [$statement->execute(), $statement->fetch(), $statement->nextResult(), $statement->fetchAll()];
        $other = new Co\\MySQL();
        $out[] = [$other->connect(['port' => 1] + $server), $other->connect_errno];
        $out[] = [$other->connect(['user' => 'nobody'] + $server), $other->connect_errno];
        """, servers.MariaDB)
        self.assertEqual(out, [
            True, [True, {"n": 1}, [{"n": 2}], None], [True, [{"a": 1}], True, [{"b": 2}], True, None],
            [True, {"a": 1}, True, [{"b": 2}]], [False, 2002], [False, 1045]])

    def test_mysql_pools_make_lost_connections_anew(self):
        out = self.told(MYSQL + """
        $killer = new Co\\MySQL();
        $killer->connect($server);
        $config = fn (string $class) => (new $class())->withHost('127.0.0.1')->withPort($server['port'])
            ->withDbname('test')->withUsername('tester')->withPassword('s3cret');
        $pdos = new Swoole\\Database\\PDOPool($config(Swoole\\Database\\PDOConfig::class), 1);
        $pdo = $pdos->get();
        $statement = $pdo->prepare('SELECT :n + 1');
        $statement->bindValue('n', 4);
        $killer->query('KILL ' . $pdo->query('SELECT CONNECTION_ID()')->fetchColumn());
        $out[] = [$statement->execute(), $statement->fetchColumn(), $pdo->getRound()];
        $mysqlis = new Swoole\\Database\\MysqliPool($config(Swoole\\Database\\MysqliConfig::class), 1);
        $mysqli = $mysqlis->get();
        $statement = $mysqli->prepare('SELECT ? + 1');
        $n = 6;
        $statement->bind_param('i', $n);
        $statement->bind_result($sum);
        $killer->query('KILL ' . $mysqli->thread_id);
        $out[] = [$statement->execute(), $statement->fetch(), $sum, $mysqli->getRound()];
        $pdo->beginTransaction();
        $killer->query('KILL ' . $pdo->query('SELECT CONNECTION_ID()')->fetchColumn());
        try {
            $pdo->query('SELECT 1');
        } catch (PDOException $e) {
            $out[] = 'a transaction is not begun anew';
        }
        $pdos->put($pdo);
        $mysqlis->put($mysqli);
        $out[] = [$pdos->get() === $pdo, $mysqlis->get(0.01) === $mysqli, $mysqlis->get(0.01)];
        $pdos->put($pdo);
        $mysqlis->put($mysqli);
        """, servers.MariaDB)
        self.assertEqual(out, [[True, 5, 1], [True, True, 7, 1], "a transaction is not begun anew", [True, True, False]])

    def test_redis(self):
        out = self.told("""
        $port = (int) getenv('APUS_TEST_REDIS_PORT');
        $redis = new Swoole\\Coroutine\\Redis();
        $out[] = [$redis->connect('127.0.0.1', $port), $redis->auth('none was set')];
        $redis->del('a', 'h', 'z', 'l');
        $out[] = [$redis->set('a', 'x', 100), $redis->get('a'), $redis->get('none'), $redis->ttl('a') > 90, $redis->type('a')];
        $out[] = [$redis->incr('a'), $redis->errCode !== 0, str_contains($redis->errMsg, 'not an integer')];
        $out[] = [$redis->hMSet('h', ['a' => 1, 'b' => 2]), $redis->hGetAll('h'), $redis->hMGet('h', ['b', 'c'])];
        $out[] = [$redis->rPush('l', 1, 2), $redis->mGet(['a', 'b']), $redis->zAdd('z', 1, 'm', 2, 'n')];
        $out[] = [$redis->zRange('z', 0, -1, true), $redis->zRangeByScore('z', 2, 9), $redis->expire('z', 10)];
        $redis->setOptions(['compatibility_mode' => true]);
        $out[] = [$redis->hGetAll('h'), $redis->zRange('z', 0, -1, true), $redis->hMGet('h', ['b', 'c'])];
        $out[] = [$redis->multi(), $redis->incr('n'), $redis->exec(), $redis->eval('return {KEYS[1], ARGV[1]}', ['k', 'v'], 1)];
        $redis->setDefer();
        $out[] = [$redis->get('a'), $redis->set('b', 1), $redis->recv(), $redis->recv(), $redis->recv()];
        $redis->setDefer(false);
        $listener = new Co\\Redis(['timeout' => 60]);
        $listener->connect('127.0.0.1', $port);
        $out[] = [$listener->subscribe(['news']), $listener->recv(), $listener->recv(0.01), $listener->errCode];
        $out[] = [$redis->publish('news', 'hello'), $listener->recv()];
        // A connection that the server closed is opened again, with its database.
        $redis->select(1);
        $id = $redis->client('id');
        $other = new Co\\Redis();
        $other->connect('127.0.0.1', $port);
        $other->client('kill', 'id', $id);
        $redis->get('a');
        $out[] = [$redis->get('a'), $redis->client('id') !== $id, $redis->getDBNum()];
        $none = new Co\\Redis();
        $out[] = [$none->connect('127.0.0.1', 1), $none->errCode, $none->get('x')];
        """, servers.Redis)
        self.assertEqual(out, [
            [True, False], [True, "x", None, True, 1], [False, True, True],
            [True, ["a", "1", "b", "2"], ["2", None]], [2, ["x", None], 2], [["m", "1", "n", "2"], ["n"], 1],
            [{"a": "1", "b": "2"}, {"m": 1, "n": 2}, {"b": "2", "c": None}], [True, "QUEUED", [1], ["k", "v"]],
            [True, True, "x", True, False], [True, ["subscribe", "news", 1], False, 110],
            [1, ["message", "news", "hello"]], [None, True, 1], [False, 111, False]])

    def test_postgresql(self):
        out = self.told(POSTGRES + """
        $db = new Swoole\\Coroutine\\PostgreSQL();
        $out[] = [$db->query('SELECT 1'), $db->error !== '', $db->connect($server)];
        $rows = $db->query('SELECT 1 AS a UNION SELECT 2 ORDER BY 1');
        $out[] = [$rows->fetchAll(), $rows->numRows(), $rows->fieldCount(), $rows->fetchRow(1), $rows->fetchObject(0)];
        $out[] = [$db->query('SELECT nonsense'), $db->resultDiag['sqlstate'], str_contains($db->error, 'nonsense')];
        $statement = $db->prepare('SELECT $1::int + 1 AS n');
        $out[] = [$statement->execute([4]), $statement->fetchAssoc(), $statement->execute(['x']), $statement->error !== ''];
        $out[] = [$db->prepare('named', 'SELECT $1::text AS t'), $db->fetchAll($db->execute('named', ['hi']))];
        $out[] = [$db->escapeLiteral("a'b"), $db->escape("a'b"), $db->escapeIdentifier('a"b')];
        $db->query('CREATE TEMPORARY TABLE t (id int)');
        $out[] = [$db->query('INSERT INTO t VALUES (1), (2)')->affectedRows(), isset($db->metaData('pg_catalog.pg_class')['relname'])];
        $other = new Co\\PostgreSQL();
        $out[] = [$other->connect('host=127.0.0.1 port=1 user=x dbname=x'), str_contains($other->error, 'refused')];
        """, servers.PostgreSQL)
        self.assertEqual(out, [
            [False, True, True], [[{"a": "1"}, {"a": "2"}], 2, 1, ["2"], {"a": "1"}], [False, "42703", True],
            [True, {"n": "5"}, False, True], [True, [{"t": "hi"}]], ["'a''b'", "a''b", '"a""b"'], [2, True],
            [False, True]])
