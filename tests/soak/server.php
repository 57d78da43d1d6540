<?php

/**
 * The application under the soak: each answer is made of what databases gave for this very request, so that the load
 * driver sees data of another request at once. `{"ok":true,...}`, or 503 with the failure's class and message.
 */

declare(strict_types=1);

use Apus\Coroutine;
use Apus\Database\MysqliConfig;
use Apus\Database\MysqliPool;
use Apus\Database\PDOConfig;
use Apus\Database\PDOPool;
use Apus\Database\RedisConfig;
use Apus\Database\RedisPool;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Http\Server;

use function Apus\Coroutine\batch;

/** A wait that was to be cancelled ended otherwise. */
final class NotCancelled extends Exception
{
}

final class Databases
{
    private const POOLED = 8;
    // Seconds: above what a restart of a server takes on a busy machine, below the driver's idea of a hang.
    private const LINE = 15.0;
    private const CONNECT = 5;
    private const ANSWER = 10;

    private PDOPool $pdo;
    private MysqliPool $mysqli;
    private RedisPool $redis;
    private ?PDOPool $pgsql = null;

    public function __construct(private int $mariadb, private int $redisPort, private int $postgresql)
    {
        $this->pdo = new PDOPool(
            (new PDOConfig())->withHost('127.0.0.1')->withPort($mariadb)->withDbname('test')->withUsername('tester')
                ->withPassword('s3cret')->withOptions(self::pdoOptions()),
            self::POOLED,
        );
        $this->mysqli = new MysqliPool(
            (new MysqliConfig())->withHost('127.0.0.1')->withPort($mariadb)->withDbname('test')->withUsername('tester')
                ->withPassword('s3cret'),
            self::POOLED,
        );
        $this->redis = new RedisPool(
            (new RedisConfig())->withHost('127.0.0.1')->withPort($redisPort)->withTimeout(self::CONNECT)
                ->withReadTimeout(self::ANSWER),
            self::POOLED,
        );
        if ($postgresql > 0) {
            $this->pgsql = new PDOPool(
                (new PDOConfig())->withDriver('pgsql')->withHost('127.0.0.1')->withPort($postgresql)->withDbname('test')
                    ->withUsername('tester')->withPassword('s3cret')->withOptions(self::pdoOptions()),
                self::POOLED,
            );
        }
    }

    private static function pdoOptions(): array
    {
        return [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_EMULATE_PREPARES => false,
            PDO::ATTR_TIMEOUT => self::CONNECT,
        ];
    }

    private function freshPdo(): PDO
    {
        return new PDO("mysql:host=127.0.0.1;port={$this->mariadb};dbname=test", 'tester', 's3cret', self::pdoOptions());
    }

    /** The row's value, and the mark, both from the server. */
    private static function select(PDO $pdo, int $id, string $mark, int $ms, string $sleep = 'SLEEP(? / 1000)'): array
    {
        $query = $pdo->prepare("SELECT v, ? AS mark, $sleep AS pause FROM soak WHERE id = ?");
        $query->execute([$mark, $ms, $id]);
        $rows = $query->fetchAll(PDO::FETCH_ASSOC);

        return self::row($rows);
    }

    private static function row(array $rows): array
    {
        if (count($rows) !== 1) {
            throw new LengthException(count($rows) . ' rows in place of one');
        }
        // KILL QUERY ends a SLEEP early, with 1.
        if (($rows[0]['pause'] ?? 0) != 0) {
            throw new RuntimeException('the query was interrupted: SLEEP() was ended early');
        }

        return ['value' => $rows[0]['v'], 'mark' => $rows[0]['mark']];
    }

    public function pdo(int $id, string $mark, int $ms): array
    {
        return self::select($this->freshPdo(), $id, $mark, $ms);
    }

    public function pdopool(int $id, string $mark, int $ms): array
    {
        return $this->pdo->use(static fn (object $pdo) => self::select($pdo, $id, $mark, $ms), self::LINE)
            ?: throw new Cancelled('pdopool');
    }

    public function pgsql(int $id, string $mark, int $ms): array
    {
        if ($this->pgsql === null) {
            return $this->pdopool($id, $mark, $ms);
        }
        $query = static function (object $pdo) use ($id, $mark, $ms): array {
            $query = $pdo->prepare('SELECT v, ?::text AS mark, pg_sleep(? / 1000.0)::text AS pause FROM soak WHERE id = ?');
            $query->execute([$mark, $ms, $id]);
            $rows = $query->fetchAll(PDO::FETCH_ASSOC);

            return self::row(array_map(static fn (array $row) => ['pause' => 0] + $row, $rows));
        };

        return $this->pgsql->use($query, self::LINE) ?: throw new Cancelled('pgsql');
    }

    public function mysqli(int $id, string $mark, int $ms): array
    {
        return self::prepared(new mysqli('127.0.0.1', 'tester', 's3cret', 'test', $this->mariadb), $id, $mark, $ms);
    }

    public function mysqlipool(int $id, string $mark, int $ms): array
    {
        $query = static fn (object $mysqli) => self::prepared($mysqli, $id, $mark, $ms);

        return $this->mysqli->use($query, self::LINE) ?: throw new Cancelled('mysqlipool');
    }

    private static function prepared(object $mysqli, int $id, string $mark, int $ms): array
    {
        $result = $mysqli->execute_query(
            'SELECT v, ? AS mark, SLEEP(? / 1000) AS pause FROM soak WHERE id = ?',
            [$mark, $ms, $id],
        );
        // What fails once the rows are coming is no exception in mysqli.
        if ($result === false) {
            throw new RuntimeException("mysqli lost the result: {$mysqli->error} ({$mysqli->errno})");
        }

        return self::row($result->fetch_all(MYSQLI_ASSOC));
    }

    /** A result of 500 rows, read to its end. */
    public function big(int $id, string $mark, int $ms): array
    {
        $first = min($id, 9_500);
        $rows = $this->mysqli->use(static function (object $mysqli) use ($first): array {
            return $mysqli->query("SELECT id, v FROM soak WHERE id >= $first ORDER BY id LIMIT 500")->fetch_all(MYSQLI_ASSOC);
        }, self::LINE) ?: throw new Cancelled('big');

        return ['count' => count($rows), 'value' => sha1(implode('', array_column($rows, 'v'))), 'first' => (int) $rows[0]['id']];
    }

    /** What a transaction wrote is there for itself, and gone after it. */
    public function transaction(int $id, string $mark, int $ms): array
    {
        $work = static function (object $pdo) use ($id, $mark, $ms): array {
            $pdo->beginTransaction();
            $pdo->prepare('INSERT INTO soak_written (mark, v) SELECT ?, v FROM soak WHERE id = ?')->execute([$mark, $id]);
            $query = $pdo->prepare('SELECT v, mark, SLEEP(? / 1000) AS pause FROM soak_written WHERE mark = ?');
            $query->execute([$ms, $mark]);
            $row = self::row($query->fetchAll(PDO::FETCH_ASSOC));
            if ($id % 2 === 0) {
                $pdo->rollBack();
            } else {
                $pdo->prepare('DELETE FROM soak_written WHERE mark = ?')->execute([$mark]);
                $pdo->commit();
            }
            $query = $pdo->prepare('SELECT COUNT(*) FROM soak_written WHERE mark = ?');
            $query->execute([$mark]);

            return $row + ['left' => (int) $query->fetchColumn()];
        };

        return $this->pdo->use($work, self::LINE) ?: throw new Cancelled('transaction');
    }

    /** Left open on purpose: the pool has to roll it back before anybody else gets the connection. */
    public function unfinished(int $id, string $mark, int $ms): array
    {
        $this->pdo->use(static function (object $pdo) use ($id, $mark): bool {
            $pdo->beginTransaction();
            $pdo->prepare('INSERT INTO soak_written (mark, v) SELECT ?, v FROM soak WHERE id = ?')->execute([$mark, $id]);

            return true;
        }, self::LINE) ?: throw new Cancelled('unfinished');
        $left = $this->pdo->use(static function (object $pdo) use ($mark): string {
            $query = $pdo->prepare('SELECT CONCAT(?, ":", COUNT(*)) FROM soak_written WHERE mark = ?');
            $query->execute([$mark, $mark]);

            return $query->fetchColumn();
        }, self::LINE) ?: throw new Cancelled('unfinished');
        [$mark, $count] = explode(':', $left);

        return $this->pdopool($id, $mark, 0) + ['left' => (int) $count];
    }

    public function redis(int $id, string $mark, int $ms): array
    {
        $redis = new Redis();
        $redis->connect('127.0.0.1', $this->redisPort, self::CONNECT, null, 0, self::ANSWER);

        return self::stored($redis, $id, $mark, $ms);
    }

    public function redispool(int $id, string $mark, int $ms): array
    {
        return $this->redis->use(static fn (object $redis) => self::stored($redis, $id, $mark, $ms), self::LINE)
            ?: throw new Cancelled('redispool');
    }

    private static function stored(object $redis, int $id, string $mark, int $ms): array
    {
        $value = sha1("row-$id");
        if ($redis->set("soak:$mark", $value, ['EX' => 60]) !== true) {
            throw new RedisException('SET was not done: ' . ($redis->getLastError() ?? 'no reason given'));
        }
        Coroutine::sleep($ms / 1000);
        $answers = $redis->multi(Redis::PIPELINE)->get("soak:$mark")->echo($mark)->del("soak:$mark")->exec();
        if (!is_array($answers) || count($answers) !== 3) {
            throw new RedisException('the pipeline was not answered whole');
        }
        if ($answers[0] === false) {
            throw new RedisException('the key is gone: Redis lost its data in between');
        }

        return ['value' => $answers[0], 'mark' => $answers[1]];
    }

    /** One coroutine waits in BLPOP for what another one pushes later. */
    public function blpop(int $id, string $mark, int $ms): array
    {
        [$popped] = batch([
            fn () => $this->redis->use(static fn (object $redis) => $redis->blPop(["soak:list:$mark"], 5), self::LINE),
            function () use ($id, $mark, $ms): void {
                Coroutine::sleep($ms / 1000);
                $this->redis->use(static fn (object $redis) => $redis->rPush("soak:list:$mark", "$mark " . sha1("row-$id")), self::LINE);
            },
        ]);
        if (!is_array($popped) || count($popped) !== 2) {
            throw new RedisException('BLPOP got nothing: the key is gone');
        }
        [$mark, $value] = explode(' ', $popped[1]);

        return ['value' => $value, 'mark' => $mark];
    }

    /** All at once. */
    public function fan(int $id, string $mark, int $ms): array
    {
        $parts = batch([
            'pdo' => fn () => $this->pdopool($id, $mark, $ms),
            'mysqli' => fn () => $this->mysqlipool($id, $mark, $ms),
            'redis' => fn () => $this->redispool($id, $mark, $ms),
            'pgsql' => fn () => $this->pgsql($id, $mark, $ms),
        ]);
        foreach ($parts as $name => $part) {
            if ($part !== $parts['pdo']) {
                throw new UnexpectedValueException("MIXED: $name gave " . json_encode($part));
            }
        }

        return $parts['pdo'];
    }

    /** A query of 5 s is cancelled in the middle; the pools are whole after that. */
    public function cancel(int $id, string $mark, int $ms): array
    {
        $began = hrtime(true);
        $ended = null;
        $slow = [
            fn () => $this->pdo->use(static fn (object $pdo) => self::select($pdo, $id, $mark, 5000), self::LINE),
            fn () =>
                $this->mysqli->use(static fn (object $mysqli) => self::prepared($mysqli, $id, $mark, 5000), self::LINE),
            fn () => $this->redis->use(static fn (object $redis) => $redis->blPop(["soak:never:$mark"], 5), self::LINE),
            fn () => self::select($this->freshPdo(), $id, $mark, 5000),
        ][$id % 4];
        $cid = Coroutine::create(static function () use ($slow, &$ended): void {
            try {
                $ended = ['returned', $slow()];
            } catch (Throwable $thrown) {
                $ended = ['threw', $thrown];
            }
        });
        Coroutine::sleep(($ms + 1) / 1000);
        $was = self::stack($cid);
        $cancelled = Coroutine::cancel($cid, $id % 3 === 0);
        Coroutine::join([$cid], 4.0);
        $took = (hrtime(true) - $began) / 1e9;
        if ($ended === null) {
            throw new NotCancelled(sprintf('a cancelled query has not ended after %.1f s: cancel() was %s in %s; it is in %s', $took, var_export($cancelled, true), $was, self::stack($cid)));
        }
        if ($ended[0] === 'returned' && is_array($ended[1]) && isset($ended[1]['value'])) {
            throw new NotCancelled('a cancelled query gave a value');
        }

        return ($id % 2 === 0 ? $this->pdopool($id, $mark, 0) : $this->mysqlipool($id, $mark, 0)) + ['cancelled' => true];
    }

    private static function stack(int $cid): string
    {
        $frames = Coroutine::exists($cid) ? Coroutine::getBackTrace($cid, DEBUG_BACKTRACE_IGNORE_ARGS) : [];

        return implode(
            ' < ',
            array_map(static fn (array $frame) => ($frame['class'] ?? '') . '::' . $frame['function'], $frames ?: []),
        ) ?: 'nothing';
    }

    public function stats(): array
    {
        return ['pdo' => $this->pdo->stats(), 'mysqli' => $this->mysqli->stats(), 'redis' => $this->redis->stats()]
            + ($this->pgsql === null ? [] : ['pgsql' => $this->pgsql->stats()]);
    }
}

/** The wait for a connection was cancelled: the client has gone. */
final class Cancelled extends Exception
{
}

$databases = null;
$server = new Server('127.0.0.1', 0);
$server->set(json_decode(getenv('SOAK_SETTINGS'), true));
$server->on('workerstart', function () use (&$databases): void {
    $databases = new Databases(
        (int) getenv('APUS_TEST_MARIADB_PORT'),
        (int) getenv('APUS_TEST_REDIS_PORT'),
        (int) getenv('APUS_TEST_POSTGRESQL_PORT'),
    );
});
$server->on('request', function (Request $request, Response $response) use (&$databases): void {
    $route = substr($request->server['request_uri'], 1);
    $response->header('Content-Type', 'application/json');
    try {
        if ($route === 'state') {
            gc_collect_cycles();
            $state = ['pid' => getmypid(), 'memory' => memory_get_usage(), 'pools' => $databases->stats(), 'coroutines' => Coroutine::stats()];
            $response->end(json_encode($state));

            return;
        }
        $got = $databases->$route((int) $request->get['id'], $request->get['mark'], (int) $request->get['ms']);
        $response->end(json_encode(['ok' => true, 'route' => $route, 'id' => (int) $request->get['id']] + $got));
    } catch (Throwable $thrown) {
        $chain = [];
        for ($one = $thrown; $one !== null; $one = $one->getPrevious()) {
            $chain[] = ['class' => $one::class, 'code' => $one->getCode(), 'message' => $one->getMessage()];
        }
        $response->status(503);
        $response->end(json_encode(['ok' => false, 'route' => $route, 'errors' => $chain], JSON_INVALID_UTF8_SUBSTITUTE));
    }
});
$server->start();
