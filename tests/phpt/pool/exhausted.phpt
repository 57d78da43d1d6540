--TEST--
ConnectionPool: a wait that takes too long throws EXHAUSTED, which names size, use, waiters, time and holders
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use function Apus\go;

Apus\Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 2);
    $a = $pool->get();
    $b = $pool->get();
    for ($i = 0; $i < 2; $i++) {
        go(function () use ($pool) {
            $pool->put($pool->get());
        });
    }
    complain(fn() => $pool->get(0.02));
    shown($pool, 'waiters', 'timeouts');
    $pool->put($a);
    $pool->put($b);
    until(fn() => $pool->stats()['in_use'] === 0);
    shown($pool, 'in_use', 'idle', 'waits');
    $stats = $pool->stats();
    var_dump($stats['wait_time_max'] >= 0.02, $stats['wait_time'] >= 3 * 0.02);

    $pool->set(['wait_timeout' => 0.01]);
    $a = $pool->get();
    $b = $pool->get();
    complain(fn() => $pool->get());
    complain(fn() => $pool->get(0));
    $pool->put($a);
    $pool->put($b);
});
?>
--EXPECTF--
Apus\ConnectionPool\Exception 401: no connection came free within 0.0%d s: size 2, in use 2, waiters 3. Held longest by: coroutine 1, taken at %sexhausted.php:9 0.0%d s ago; coroutine 1, taken at %sexhausted.php:10 0.0%d s ago. Give connections back sooner, or raise the pool's size or the time-out.
{"waiters":2,"timeouts":1}
{"in_use":0,"idle":2,"waits":3}
bool(true)
bool(true)
Apus\ConnectionPool\Exception 401: no connection came free within 0.0%d s: size 2, in use 2, waiters 1. Held longest by: %s
Apus\ConnectionPool\Exception 401: no connection came free within 0.0%d s: size 2, in use 2, waiters 1. Held longest by: %s
