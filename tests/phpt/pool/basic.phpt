--TEST--
ConnectionPool: connections are made when needed, and the one used last is handed out first
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;

Apus\Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 3);
    shown($pool, 'size', 'in_use', 'idle', 'created');
    $a = $pool->get();
    $b = $pool->get(1.5);
    shown($pool, 'size', 'in_use', 'idle', 'created');
    $pool->put($a);
    $pool->put($b);
    shown($pool, 'size', 'in_use', 'idle', 'created');
    $c = $pool->get();
    var_dump($c === $b, $c->id);
    $pool->put($c);
    $pool->fill();
    shown($pool, 'size', 'in_use', 'idle', 'created');
    unset($a, $b, $c);
    $pool->close();
    shown($pool, 'size', 'in_use', 'idle', 'created', 'replaced', 'expired', 'lost', 'resets');
});
var_dump(ConnectionPool::DEFAULT_SIZE, Apus\Database\PDOPool::DEFAULT_SIZE);
?>
--EXPECT--
{"size":3,"in_use":0,"idle":0,"created":0}
made 1
made 2
{"size":3,"in_use":2,"idle":0,"created":2}
{"size":3,"in_use":0,"idle":2,"created":2}
bool(true)
int(2)
made 3
{"size":3,"in_use":0,"idle":3,"created":3}
closed 1
closed 2
closed 3
{"size":3,"in_use":0,"idle":0,"created":3,"replaced":0,"expired":0,"lost":0,"resets":0}
int(64)
int(64)
