--TEST--
ConnectionPool: close() ends waits, closes what is idle at once and the rest when it comes back
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 2);
    $a = $pool->get();
    $b = $pool->get();
    $waiter = go(fn() => complain(fn() => $pool->get()));
    $pool->close();
    Coroutine::join([$waiter]);
    complain(fn() => $pool->get());
    complain(fn() => $pool->fill());
    $pool->put($a);
    $a = null;
    shown($pool, 'in_use', 'idle');
    $pool->close();
    $pool->put($b);
    $b = null;
    shown($pool, 'in_use', 'idle');

    echo "without close()\n";
    $pool = new ConnectionPool(fn() => new Conn, 2);
    $kept = $pool->get();
    $pool->put($pool->get());
    $pool = null;
    echo "the pool is gone\n";
    $kept = null;
    echo "end\n";
});
?>
--EXPECT--
made 1
made 2
Apus\ConnectionPool\Exception 402: the pool was closed: nothing can be got from it any more
Apus\ConnectionPool\Exception 402: the pool was closed: nothing can be got from it any more
Apus\ConnectionPool\Exception 402: the pool was closed: nothing can be got from it any more
closed 1
{"in_use":1,"idle":0}
closed 2
{"in_use":0,"idle":0}
without close()
made 3
made 4
closed 4
the pool is gone
closed 3
end
