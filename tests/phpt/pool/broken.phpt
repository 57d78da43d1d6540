--TEST--
ConnectionPool: put(null) replaces the broken connection of the running coroutine
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use function Apus\go;

Apus\Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 2);
    $a = $pool->get();
    $b = $pool->get();
    $waiter = go(function () use ($pool) {
        $conn = $pool->get();
        echo "the waiter has {$conn->id}\n";
        $pool->put($conn);
    });
    // The one that it has let go of, not the one that it took last.
    $a = null;
    $pool->put(null);
    Apus\Coroutine::join([$waiter]);
    shown($pool, 'in_use', 'idle', 'created', 'replaced');
    // Then the one that it took last, which others may still know.
    $pool->put(null);
    complain(fn() => $pool->put($b));
    shown($pool, 'in_use', 'idle', 'created', 'replaced');
    $b = null;
    complain(fn() => $pool->put(null));
    $pool->close();
});
?>
--EXPECT--
made 1
made 2
closed 1
made 3
the waiter has 3
{"in_use":1,"idle":1,"created":3,"replaced":1}
Apus\ConnectionPool\Exception 404: this connection is not one that the pool has given out, or it was given back already
{"in_use":0,"idle":1,"created":3,"replaced":2}
closed 2
Apus\ConnectionPool\Exception 404: put(null) replaces a broken connection, but this coroutine has none of the pool's
closed 3
