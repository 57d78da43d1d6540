--TEST--
ConnectionPool: a connection that nobody can give back any more is closed, its place freed, and that is said
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 1);

    echo "a coroutine ends\n";
    go(function () use ($pool) {
        $conn = $pool->get();
        throw_away();
    });
    $conn = $pool->get();
    echo "got {$conn->id}\n";

    echo "while somebody waits\n";
    $pool->put($conn);
    $conn = null;
    $holder = go(function () use ($pool) {
        $conn = $pool->get();
        Coroutine::yield();
    });
    $waiter = go(function () use ($pool) {
        $conn = $pool->get();
        echo "got {$conn->id}\n";
        $pool->put($conn);
    });
    Coroutine::resume($holder);
    Coroutine::join([$waiter]);

    echo "a variable goes\n";
    $conn = $pool->get();
    $conn = null;
    $conn = $pool->get();
    echo "got {$conn->id}\n";
    $pool->put($conn);
    $conn = null;

    echo "in a cycle of garbage\n";
    go(function () use ($pool) {
        $box = new stdClass;
        $box->conn = $pool->get();
        $box->self = $box;
    });
    $conn = $pool->get();
    echo "got {$conn->id}\n";
    $pool->put($conn);
    $conn = null;

    echo "nobody needs it\n";
    go(fn() => [$pool->get()] && false);
    until(fn() => $pool->stats()['in_use'] === 0);
    shown($pool, 'in_use', 'idle', 'created', 'replaced', 'lost');

    echo "handed on, it is not lost\n";
    $conn = null;
    go(function () use ($pool, &$conn) {
        $conn = $pool->get();
    });
    complain(fn() => $pool->get(0.25));
    $pool->put($conn);
    $conn = null;
    shown($pool, 'in_use', 'idle', 'created', 'replaced', 'lost');
    $pool->close();
});

function throw_away(): void
{
}
?>
--EXPECTF--
a coroutine ends
made 1
closed 1

Warning: Apus\ConnectionPool: a connection was never given back: coroutine 2 (ended), taken at %slost.php:12 0.%d s ago. It was closed; use put() in a finally block, or use() in %slost.php on line 15
made 2
got 2
while somebody waits
closed 2

Warning: Apus\ConnectionPool: a connection was never given back: coroutine 3 (ended), taken at %slost.php:22 0.%d s ago. It was closed; use put() in a finally block, or use() in %s on line %d
made 3
got 3
a variable goes
closed 3

Warning: Apus\ConnectionPool: a connection was never given back: coroutine 1, taken at %slost.php:34 0.%d s ago. It was closed; use put() in a finally block, or use() in %slost.php on line 36
made 4
got 4
in a cycle of garbage
closed 4

Warning: Apus\ConnectionPool: a connection was never given back: coroutine %d (ended), taken at %slost.php:44 0.%d s ago. It was closed; use put() in a finally block, or use() in %slost.php on line 47
made 5
got 5
nobody needs it
closed 5

Warning: Apus\ConnectionPool: a connection was never given back: coroutine %d (ended), taken at %slost.php:53 0.%d s ago. It was closed; use put() in a finally block, or use() in %s on line %d
{"in_use":0,"idle":0,"created":5,"replaced":5,"lost":5}
handed on, it is not lost
made 6
Apus\ConnectionPool\Exception 401: no connection came free within 0.2%d s: size 1, in use 1, waiters 1. Held longest by: coroutine %d (ended), taken at %slost.php:60 %s
{"in_use":0,"idle":1,"created":6,"replaced":5,"lost":5}
closed 6
