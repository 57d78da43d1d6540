--TEST--
ConnectionPool: a forked process begins with an empty pool and leaves its parent's connections alone
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;

Conn::$quiet = true;
$pool = new ConnectionPool(fn() => new Conn, 2);
$idle = $pool->get();
$held = $pool->get();
$pool->put($idle);
if (($pid = pcntl_fork()) === 0) {
    shown($pool, 'in_use', 'idle');
    $own = $pool->get();
    var_dump($own !== $idle, $own !== $held);
    complain(fn() => $pool->put($held));
    $pool->put($own);
    shown($pool, 'in_use', 'idle');
    $pool->close();
    exit;
}
pcntl_waitpid($pid, $status);
shown($pool, 'in_use', 'idle');
$pool->put($held);
var_dump($pool->get() === $held);
?>
--EXPECT--
{"in_use":0,"idle":0}
bool(true)
bool(true)
Apus\ConnectionPool\Exception 404: this connection is not one that the pool has given out, or it was given back already
{"in_use":0,"idle":1}
{"in_use":1,"idle":1}
bool(true)
