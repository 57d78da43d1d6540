--TEST--
ConnectionPool: age and idle time are limited, and some connections are kept ready
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use Apus\Coroutine;

Coroutine\run(function () {
    $stat = fn($pool, $name) => $pool->stats()[$name];

    echo "idle\n";
    $pool = (new ConnectionPool(fn() => new Conn, 4))->set(['idle_timeout' => 0.02, 'jitter' => 0]);
    $pool->fill();
    shown($pool, 'idle', 'created');
    until(fn() => $stat($pool, 'idle') === 0);
    shown($pool, 'in_use', 'created', 'expired', 'replaced');

    echo "old\n";
    $pool = (new ConnectionPool(fn() => new Conn, 4))->set(['max_lifetime' => 0.02, 'jitter' => 0.5]);
    $pool->fill();
    until(fn() => $stat($pool, 'idle') === 0);
    $conn = $pool->get();
    Coroutine::sleep(0.03);
    // Too old when it comes back.
    $pool->put($conn);
    shown($pool, 'in_use', 'idle', 'created', 'expired', 'replaced');

    echo "kept ready\n";
    $pool = (new ConnectionPool(fn() => new Conn, 3))->set(['min_idle' => 2, 'idle_timeout' => 0.01]);
    $pool->put($pool->get());
    until(fn() => $stat($pool, 'idle') === 2);
    $a = $pool->get();
    until(fn() => $stat($pool, 'idle') === 2);
    shown($pool, 'in_use', 'created');
    $pool->put($a);
    // Three are idle, and the third is one too many.
    until(fn() => $stat($pool, 'idle') === 2);
    Coroutine::sleep(0.03);
    shown($pool, 'idle', 'created', 'expired');

    echo "no limits\n";
    $pool = (new ConnectionPool(fn() => new Conn, 2))->set(['idle_timeout' => 0, 'max_lifetime' => 0]);
    $pool->fill();
    Coroutine::sleep(0.01);
    $pool->maintain();
    shown($pool, 'idle', 'expired');
});

// A pool does not keep a script from its end.
echo "end\n";
?>
--EXPECT--
idle
{"idle":4,"created":4}
{"in_use":0,"created":4,"replaced":0,"expired":4}
old
{"in_use":0,"idle":0,"created":5,"replaced":0,"expired":5}
kept ready
{"in_use":1,"created":3}
{"idle":2,"created":3,"expired":1}
no limits
{"idle":2,"expired":0}
end
