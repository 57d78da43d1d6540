--TEST--
An error handler that waits before ConnectionPool::use() has entered what it was given leaves others theirs
--FILE--
<?php
use Apus\ConnectionPool;
use function Apus\go;
use function Apus\Coroutine\run;

$pool = new ConnectionPool(fn () => new stdClass, 3);
$told = [];
set_error_handler(function (int $number, string $message) use (&$told): bool {
    $told[] = strlen($message) > 20 ? 'by reference' : $message;
    Apus\Coroutine::sleep(0.001);
    return true;
});
run(function () use ($pool): void {
    go(fn () => $pool->use(function (&$connection): void {
    }));
    go(fn () => trigger_error('another', E_USER_WARNING));
});
sort($told);
echo implode(', ', $told), "\n";
--EXPECT--
another, by reference
