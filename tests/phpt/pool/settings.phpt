--TEST--
ConnectionPool: settings, their limits, and a size that changes
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

$pool = new ConnectionPool(fn() => new Conn, 2);
foreach ([
    ['colour' => 'red'], [5 => 1], ['size' => 0], ['size' => '5'], ['size' => 100001], ['total' => -1], ['min_idle' => 1.5],
    ['wait_timeout' => -1], ['check_idle' => -2], ['max_lifetime' => INF], ['idle_timeout' => NAN], ['jitter' => 1.1], ['jitter' => 'x'],
    ['check' => 'no_such_function'], ['reset' => 'everything'], ['reset' => []], ['size' => 7, 'jitter' => []],
] as $options) {
    complain(fn() => $pool->set($options));
}
shown($pool, 'size');
complain(fn() => $pool->set([
    'size' => 3, 'total' => 2, 'min_idle' => 0, 'wait_timeout' => 1.5, 'check_idle' => -1, 'check_timeout' => 1, 'max_lifetime' => 0,
    'idle_timeout' => 60, 'jitter' => 0, 'check' => null, 'reset' => 'none',
]));
// Outside servers there is one process, whose share is the total.
shown($pool, 'size');
complain(fn() => new ConnectionPool(fn() => 1, 0));
complain(fn() => new ConnectionPool(fn() => 1, 100001));
complain(fn() => new ConnectionPool('no_such_function'));
complain(fn() => new ConnectionPool());
complain(fn() => $pool->__construct(fn() => 1));
complain(fn() => (new class extends ConnectionPool { public function __construct() {} })->get());
complain(fn() => clone $pool);
complain(fn() => serialize($pool));

Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 1);
    $a = $pool->get();
    $got = 0;
    $ids = [];
    for ($i = 0; $i < 3; $i++) {
        $ids[] = go(function () use ($pool, &$got) {
            $conn = $pool->get();
            $got++;
            Coroutine::yield();
            $pool->put($conn);
        });
    }
    var_dump($pool->set(['size' => 3]) === $pool);
    until(function () use (&$got) { return $got === 2; });
    shown($pool, 'size', 'in_use', 'waiters', 'created');
    $pool->set(['size' => 1]);
    // Three are out, so those that come back are closed, until one is left.
    Coroutine::resume($ids[0]);
    $pool->put($a);
    shown($pool, 'size', 'in_use', 'idle', 'waiters');
    Coroutine::resume($ids[1]);
    until(function () use (&$got) { return $got === 3; });
    Coroutine::resume($ids[2]);
    shown($pool, 'size', 'in_use', 'idle', 'waiters', 'created');
});
?>
--EXPECTF--
Apus\ConnectionPool\Exception 405: a pool has no setting "colour"; it has: size, total, wait_timeout, check_idle, check_timeout, max_lifetime, idle_timeout, jitter, min_idle, check, reset
Apus\ConnectionPool\Exception 405: a pool has no setting "5"; it has: %s
Apus\ConnectionPool\Exception 405: setting "size" must be an int from 1 to 100000, 0 given
Apus\ConnectionPool\Exception 405: setting "size" must be an int from 1 to 100000, "5" given
Apus\ConnectionPool\Exception 405: setting "size" must be an int from 1 to 100000, 100001 given
Apus\ConnectionPool\Exception 405: setting "total" must be an int from 0 to 100000, -1 given
Apus\ConnectionPool\Exception 405: setting "min_idle" must be an int from 0 to 100000, 1.5 given
Apus\ConnectionPool\Exception 405: setting "wait_timeout" must be a number from 0 to 315360000, -1 given
Apus\ConnectionPool\Exception 405: setting "check_idle" must be a number from -1 to 315360000, -2 given
Apus\ConnectionPool\Exception 405: setting "max_lifetime" must be a number from 0 to 315360000, inf given
Apus\ConnectionPool\Exception 405: setting "idle_timeout" must be a number from 0 to 315360000, NaN given
Apus\ConnectionPool\Exception 405: setting "jitter" must be a number from 0 to 1, 1.1 given
Apus\ConnectionPool\Exception 405: setting "jitter" must be a number from 0 to 1, "x" given
Apus\ConnectionPool\Exception 405: setting "check" must be a callable, or null for what the driver knows, "no_such_function" given
Apus\ConnectionPool\Exception 405: setting "reset" must be 'transaction', 'none' or a callable, "everything" given
Apus\ConnectionPool\Exception 405: setting "reset" must be 'transaction', 'none' or a callable, array given
Apus\ConnectionPool\Exception 405: setting "jitter" must be a number from 0 to 1, array given
{"size":2}
accepted
{"size":2}
ValueError 0: Apus\ConnectionPool::__construct(): Argument #2 ($size) must be from 1 to 100000 connections, 0 given
ValueError 0: Apus\ConnectionPool::__construct(): Argument #2 ($size) must be from 1 to 100000 connections, 100001 given
TypeError 0: Apus\ConnectionPool::__construct(): Argument #1 ($constructor) must be a valid callback, function "no_such_function" not found or invalid function name
ArgumentCountError 0: Apus\ConnectionPool::__construct() expects at least 1 argument, 0 given
Error 0: Apus\ConnectionPool is already constructed
Error 0: Apus\ConnectionPool was not constructed: call parent::__construct() first
Error 0: Trying to clone an uncloneable object of class Apus\ConnectionPool
Exception 0: Serialization of 'Apus\ConnectionPool' is not allowed
bool(true)
{"size":3,"in_use":3,"waiters":1,"created":3}
{"size":1,"in_use":1,"idle":0,"waiters":1}
{"size":1,"in_use":0,"idle":1,"waiters":0,"created":3}
