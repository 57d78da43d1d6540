--TEST--
ConnectionPool: what is not the pool's, or was given back already, is refused
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;

Apus\Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 2);
    $other = new ConnectionPool(fn() => new Conn, 2);
    $conn = $pool->get();
    $theirs = $other->get();
    complain(fn() => $pool->put(new Conn));
    complain(fn() => $pool->put($theirs));
    complain(fn() => $pool->put('connection'));
    complain(fn() => $pool->put(false));
    $pool->put($conn);
    complain(fn() => $pool->put($conn));
    complain(fn() => $pool->put(null));
    $other->put($theirs);
    shown($pool, 'in_use', 'idle', 'created');

    // Another coroutine may give it back.
    $conn = $pool->get();
    Apus\Coroutine::join([Apus\go(fn() => $pool->put($conn))]);
    shown($pool, 'in_use', 'idle', 'created');

    // The same while it is being cleaned.
    $pool->set(['reset' => function ($conn) use ($pool) {
        complain(fn() => $pool->put($conn));
    }]);
    $pool->put($pool->get());
    shown($pool, 'in_use', 'idle', 'created');
    $pool->close();
    $pool->put($conn);
    $pool->put(new Conn);
    $pool->put(null);
});
?>
--EXPECT--
Apus\ConnectionPool\Exception 404: this connection is not one that the pool has given out, or it was given back already
Apus\ConnectionPool\Exception 404: this connection is not one that the pool has given out, or it was given back already
Apus\ConnectionPool\Exception 404: put() takes a connection that get() gave, or null for one that is broken
Apus\ConnectionPool\Exception 404: put() takes a connection that get() gave, or null for one that is broken
Apus\ConnectionPool\Exception 404: the connection was given back already: its user may be another now
Apus\ConnectionPool\Exception 404: put(null) replaces a broken connection, but this coroutine has none of the pool's
{"in_use":0,"idle":1,"created":1}
{"in_use":0,"idle":1,"created":1}
Apus\ConnectionPool\Exception 404: this connection is not one that the pool has given out, or it was given back already
{"in_use":0,"idle":1,"created":1}
