--TEST--
PDOPool: plain PDO objects, whose open transactions are rolled back and reported when they come back
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Database\{PDOConfig, PDOPool};

$file = tempnam(sys_get_temp_dir(), 'apus-pool-');
Apus\Coroutine\run(function () use ($file) {
    var_dump(in_array('sqlite', PDOConfig::getAvailableDrivers()));
    $config = (new PDOConfig)->withDriver('sqlite')->withDbname($file)
        ->withOptions([PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_NUM]);
    $pool = (new PDOPool($config, 2))->set(['check_idle' => 0]);
    $pdo = $pool->get();
    var_dump(get_class($pdo), $pdo->getAttribute(PDO::ATTR_DRIVER_NAME));
    $pdo->exec('CREATE TABLE t (x)');
    $pool->put($pdo);

    echo "begun by PDO\n";
    $pool->use(function (PDO $pdo) {
        $pdo->beginTransaction();
        $pdo->exec('INSERT INTO t VALUES (1)');
    });
    echo "begun by SQL\n";
    $pool->use(function (PDO $pdo) {
        $pdo->exec('BEGIN');
        $pdo->exec('INSERT INTO t VALUES (2)');
    });
    echo "committed\n";
    $pool->use(function (PDO $pdo) {
        $pdo->beginTransaction();
        $pdo->exec('INSERT INTO t VALUES (3)');
        $pdo->commit();
    });
    echo json_encode($pool->use(fn($pdo) => $pdo->query('SELECT x FROM t')->fetchAll())), "\n";
    shown($pool, 'in_use', 'idle', 'created', 'resets');

    echo "silent PDO\n";
    $pool->use(function (PDO $pdo) {
        $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
        $pdo->beginTransaction();
    });
    shown($pool, 'in_use', 'idle', 'created', 'resets');

    echo "not asked for\n";
    $pool->set(['reset' => 'none']);
    $pdo = $pool->get();
    $pdo->beginTransaction();
    $pool->put($pdo);
    var_dump($pool->get()->inTransaction());
    $pdo->rollBack();
    $pool->put($pdo);

    echo "in a pool of one's own\n";
    $own = new ConnectionPool(fn() => new PDO("sqlite:$file"), 1);
    $own->use(fn($pdo) => $pdo->beginTransaction());
    shown($own, 'resets');

    echo "a statement keeps its connection\n";
    $statement = $own->get()->query('SELECT 1');
    complain(fn() => $own->get(0.01));
    $statement = null;
    $own->put(null);

    echo "failures\n";
    $bad = new PDOPool((new PDOConfig)->withDriver('sqlite')->withDbname('/no/such/folder/file'));
    try {
        $bad->get();
    } catch (ConnectionPool\Exception $e) {
        echo $e->getCode(), ' ', $e->getMessage(), ' <- ', get_class($e->getPrevious()), "\n";
    }
    complain(fn() => (new PDOPool((new PDOConfig)->withDriver('nothing')))->get());
});
unlink($file);
?>
--EXPECTF--
bool(true)
string(3) "PDO"
string(6) "sqlite"
begun by PDO

Warning: Apus\Database\PDOPool: a connection came back with an open transaction, which was rolled back (coroutine 1, taken at %spdo.php:18 0.0%d s ago) in %spdo.php on line 18
begun by SQL

Warning: Apus\Database\PDOPool: a connection came back with an open transaction, which was rolled back (coroutine 1, taken at %spdo.php:23 0.0%d s ago) in %spdo.php on line 23
committed
[[3]]
{"in_use":0,"idle":1,"created":1,"resets":2}
silent PDO

Warning: Apus\Database\PDOPool: %s
{"in_use":0,"idle":1,"created":1,"resets":3}
not asked for
bool(true)
in a pool of one's own

Warning: Apus\ConnectionPool: a connection came back with an open transaction, which was rolled back (coroutine 1, taken at %spdo.php:%d 0.0%d s ago) in %spdo.php on line %d
{"resets":1}
a statement keeps its connection
Apus\ConnectionPool\Exception 401: %s
failures
403 the pool could not make a PDO connection: SQLSTATE[HY000] [14] unable to open database file <- PDOException
Apus\ConnectionPool\Exception 403: the pool could not make a PDO connection: no data source name is known for the PDO driver "nothing": use new Apus\ConnectionPool(fn() => new PDO(...))
