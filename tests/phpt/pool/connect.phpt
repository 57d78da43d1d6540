--TEST--
ConnectionPool: connections are made in the coroutines that need them, side by side; a failure frees its place
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

Coroutine\run(function () {
    echo "side by side\n";
    $busy = $most = 0;
    $pool = new ConnectionPool(function () use (&$busy, &$most) {
        $most = max($most, ++$busy);
        Coroutine::sleep(0.01);
        $busy--;
        return new Conn;
    }, 5);
    Coroutine\parallel(12, function () use ($pool) {
        $conn = $pool->get();
        Coroutine::sleep(0.001);
        $pool->put($conn);
    });
    var_dump($most);
    shown($pool, 'in_use', 'idle', 'created');

    echo "failures\n";
    $fail = true;
    $pool = new ConnectionPool(function () use (&$fail) {
        Coroutine::sleep(0.001);
        return $fail ? throw new LogicException('no route', 7) : new Conn;
    }, 1);
    $ids = [];
    for ($i = 0; $i < 3; $i++) {
        $ids[] = go(function () use ($pool, &$fail, $i) {
            try {
                $pool->put($pool->get());
                echo "$i made one\n";
            } catch (ConnectionPool\Exception $e) {
                echo "$i ", $e->getCode(), ' ', $e->getMessage(), ' <- ', get_class($e->getPrevious()), ' ',
                    $e->getPrevious()->getCode(), "\n";
            }
            $fail = $i === 0;
        });
    }
    Coroutine::join($ids);
    shown($pool, 'in_use', 'idle', 'created');

    echo "no connections\n";
    foreach ([null, false, true, 5, 'text', []] as $value) {
        $pool = new ConnectionPool(fn() => $value);
        complain(fn() => $pool->get());
        shown($pool, 'in_use', 'idle', 'created');
    }
    complain(fn() => $pool->fill());

    echo "cancelled\n";
    $pool = new ConnectionPool(fn() => [Coroutine::sleep(1e6), new Conn][1], 1);
    $cid = go(fn() => complain(fn() => $pool->get()));
    Coroutine::cancel($cid, true);
    Coroutine::join([$cid]);
    shown($pool, 'in_use', 'idle', 'created');

    echo "closed meanwhile\n";
    $pool = new ConnectionPool(fn() => [Coroutine::yield(), new Conn][1], 1);
    $cid = go(fn() => complain(fn() => $pool->get()));
    $pool->close();
    Coroutine::resume($cid);
    shown($pool, 'in_use', 'idle', 'created');

    echo "a stream\n";
    $pool = new ConnectionPool(fn() => fopen('php://memory', 'r+'), 1);
    $stream = $pool->get();
    var_dump(is_resource($stream));
    $pool->put($stream);
    complain(fn() => $pool->put($stream));
    shown($pool, 'in_use', 'idle', 'created');
});
?>
--EXPECT--
side by side
int(5)
{"in_use":0,"idle":5,"created":5}
failures
0 403 the pool could not make a connection: no route <- LogicException 7
1 403 the pool could not make a connection: no route <- LogicException 7
2 made one
{"in_use":0,"idle":1,"created":1}
no connections
Apus\ConnectionPool\Exception 403: the pool could not make a connection: the constructor must return an object or a resource, and returned null
{"in_use":0,"idle":0,"created":0}
Apus\ConnectionPool\Exception 403: the pool could not make a connection: the constructor must return an object or a resource, and returned false
{"in_use":0,"idle":0,"created":0}
Apus\ConnectionPool\Exception 403: the pool could not make a connection: the constructor must return an object or a resource, and returned true
{"in_use":0,"idle":0,"created":0}
Apus\ConnectionPool\Exception 403: the pool could not make a connection: the constructor must return an object or a resource, and returned a plain value
{"in_use":0,"idle":0,"created":0}
Apus\ConnectionPool\Exception 403: the pool could not make a connection: the constructor must return an object or a resource, and returned a plain value
{"in_use":0,"idle":0,"created":0}
Apus\ConnectionPool\Exception 403: the pool could not make a connection: the constructor must return an object or a resource, and returned an array
{"in_use":0,"idle":0,"created":0}
Apus\ConnectionPool\Exception 403: the pool could not make a connection: the constructor must return an object or a resource, and returned an array
cancelled
Apus\Coroutine\CanceledException 0: the coroutine was cancelled while it waited in Coroutine::sleep()
{"in_use":0,"idle":0,"created":0}
closed meanwhile
Apus\ConnectionPool\Exception 402: the pool was closed: nothing can be got from it any more
{"in_use":0,"idle":0,"created":1}
a stream
bool(true)
Apus\ConnectionPool\Exception 404: the connection was given back already: its user may be another now
{"in_use":0,"idle":1,"created":1}
