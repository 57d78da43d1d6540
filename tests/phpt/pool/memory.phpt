--TEST--
ConnectionPool: nothing is left behind by waits, time-outs, cancellations, failures and lost connections
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

set_error_handler(fn() => true, E_USER_WARNING);

function round_of(ConnectionPool $pool): void
{
    Coroutine\parallel(20, function () use ($pool) {
        $pool->use(fn() => Coroutine::sleep(0));
        try {
            $pool->use(fn() => throw new Exception);
        } catch (Exception) {
        }
    });
    $held = [$pool->get(), $pool->get(), $pool->get(), $pool->get()];
    $waiters = [];
    for ($i = 0; $i < 10; $i++) {
        $waiters[] = go(function () use ($pool) {
            try {
                $pool->get(0.001);
            } catch (ConnectionPool\Exception) {
            }
        });
    }
    Coroutine::cancel($waiters[3]);
    Coroutine::cancel($waiters[5], true);
    Coroutine::join($waiters);
    $pool->put(array_pop($held));
    // Three are lost.
    $held = null;
    $pool->put($pool->get());
    $other = new ConnectionPool(fn() => throw new Exception('no'));
    try {
        $other->get();
    } catch (ConnectionPool\Exception) {
    }
    // A pool that its constructor knows is garbage when nobody else does.
    $box = new stdClass;
    $box->pool = new ConnectionPool(fn() => $box->conn ?? new Conn);
    $box->pool->put($box->pool->get());
}

Coroutine\run(function () {
    $pool = (new ConnectionPool(fn() => new Conn, 4))->set(['check_idle' => 0, 'check' => fn() => mt_rand(0, 1) === 1]);
    for ($i = 0; $i < 30; $i++) {
        round_of($pool);
    }
    until(fn() => $pool->stats()['in_use'] === 0);
    gc_collect_cycles();
    $before = memory_get_usage();
    for ($i = 0; $i < 100; $i++) {
        round_of($pool);
    }
    until(fn() => $pool->stats()['in_use'] === 0);
    gc_collect_cycles();
    $grown = memory_get_usage() - $before;
    echo $grown < 20_000 ? "flat\n" : "grown by $grown bytes\n";
    shown($pool, 'in_use', 'waiters');
    $pool->close();
    $made = Conn::$made;
    echo $pool->stats()['created'] <= $made ? "counted\n" : "miscounted\n";
});
?>
--EXPECT--
flat
{"in_use":0,"waiters":0}
counted
