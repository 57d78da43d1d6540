--TEST--
No stack to be had: an exception, and the process goes on
--INI--
memory_limit=-1
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

// An address space of 2 GiB holds only so many stacks of 64 MiB.
$code = 'use Apus\Coroutine; use function Apus\go;
Coroutine::set(["stack_size" => "64M"]);
Apus\Coroutine\run(function () {
    $made = 0;
    try { for ($i = 0; $i < 1000; $i++) { go(fn() => Coroutine::yield()); $made++; } }
    catch (Coroutine\Exception $e) { echo $e->getCode() === Coroutine\Exception::NO_MEMORY ? "NO_MEMORY" : $e->getCode(), " after ", $made > 5 && $made < 100 ? "some" : $made, "\n"; }
    foreach (Coroutine::list() as $id) { Coroutine::cancel($id); }
    Coroutine::sleep(0.001);
    go(fn() => print("there is one again\n"));
});';
passthru('ulimit -v 2097152; ' . escapeshellarg(PHP_BINARY) . ' -n -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' -r ' . escapeshellarg($code) . ' 2>&1', $status);
var_dump($status);
?>
--EXPECT--
NO_MEMORY after some
there is one again
int(0)
