--TEST--
ConnectionPool: a connection whose user was cancelled in the middle of something is not handed out again
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 1);
    foreach ([false, true] as $throw) {
        $cid = go(function () use ($pool) {
            $conn = $pool->get();
            try {
                Coroutine::sleep(1e6);
            } finally {
                $pool->put($conn);
            }
        });
        Coroutine::cancel($cid, $throw);
        Coroutine::join([$cid]);
        shown($pool, 'in_use', 'idle', 'created', 'replaced');
    }
    // One that was cancelled before it got its connection has not harmed it.
    $cid = go(function () use ($pool) {
        Coroutine::sleep(1e6);
        $conn = $pool->get();
        Coroutine::sleep(0);
        $pool->put($conn);
    });
    Coroutine::cancel($cid);
    Coroutine::join([$cid]);
    shown($pool, 'in_use', 'idle', 'created', 'replaced');
    Conn::$quiet = true;
});
?>
--EXPECT--
made 1
closed 1
{"in_use":0,"idle":0,"created":1,"replaced":1}
made 2
closed 2
{"in_use":0,"idle":0,"created":2,"replaced":2}
made 3
{"in_use":0,"idle":1,"created":3,"replaced":2}
