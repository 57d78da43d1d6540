--TEST--
ConnectionPool: use() gives back in any case
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use Apus\Coroutine;

Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 1);
    var_dump($pool->use(fn(Conn $conn) => "with {$conn->id}"));
    complain(fn() => $pool->use(fn() => throw new LogicException('inside', 3)));
    // Given back by itself.
    var_dump($pool->use(fn(Conn $conn) => $pool->put($conn)));
    complain(fn() => $pool->use(fn() => $pool->use(fn() => 1, 0.01)));
    complain(fn() => $pool->use('no_such_function'));
    shown($pool, 'in_use', 'idle', 'created');

    $cid = Apus\go(fn() => var_dump($pool->use(fn() => Coroutine::sleep(1e6))));
    Coroutine::cancel($cid, true);
    Coroutine::join([$cid]);
    // Its user was cancelled in the middle.
    shown($pool, 'in_use', 'idle', 'created', 'replaced');

    $conn = $pool->get();
    $cid = Apus\go(fn() => var_dump($pool->use(fn() => 1)));
    Coroutine::cancel($cid);
    Coroutine::join([$cid]);
    $pool->put($conn);
    shown($pool, 'in_use', 'idle', 'created', 'replaced');
});
?>
--EXPECTF--
string(6) "with 1"
LogicException 3: inside
NULL
Apus\ConnectionPool\Exception 401: %s
TypeError 0: Apus\ConnectionPool::use(): Argument #1 ($callback) must be a valid callback, function "no_such_function" not found or invalid function name
{"in_use":0,"idle":1,"created":1}
{"in_use":0,"idle":0,"created":1,"replaced":1}
bool(false)
{"in_use":0,"idle":1,"created":2,"replaced":1}
