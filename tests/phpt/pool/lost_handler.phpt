--TEST--
ConnectionPool: the warning of a lost connection reaches a handler of errors that insists on the types of its parameters
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;

set_error_handler(function (int $kind, string $message, string $file, int $line): bool {
    echo $kind === E_USER_WARNING ? 'warning' : $kind, " in $file on line $line: ", strtok($message, ':'), "\n";
    return true;
});
Coroutine\run(function () {
    $pool = new ConnectionPool(fn() => new Conn, 1);
    go(fn() => [$pool->get()] && false);
    until(fn() => $pool->stats()['in_use'] === 0);
    shown($pool, 'lost');
    go(fn() => [$pool->get()] && false);
    $conn = $pool->get();
    $pool->put($conn);
});
?>
--EXPECTF--
made 1
closed 1
warning in Unknown on line 0: Apus\ConnectionPool
{"lost":1}
made 2
closed 2
warning in %slost_handler.php on line %d: Apus\ConnectionPool
made 3
closed 3
