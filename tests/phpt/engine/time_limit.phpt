--TEST--
max_execution_time and endless recursion in a coroutine end the script with PHP's fatal error, not with a crash
--FILE--
<?php
$cases = [
    'ini_set("max_execution_time", 1); Apus\Coroutine\run(function () { Apus\Coroutine::sleep(0.001); while (true); });',
    'ini_set("memory_limit", "32M"); function f($n) { return f($n + 1); } Apus\Coroutine\run(function () { Apus\Coroutine::sleep(0.001); f(1); });',
];
foreach ($cases as $case) {
    $command = escapeshellarg(PHP_BINARY) . ' -n -d fatal_error_backtraces=0 -d display_errors=1 -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' -r ' . escapeshellarg($case);
    echo trim(shell_exec("$command 2>&1; echo \"status $?\"")), "\n";
}
?>
--EXPECTF--
Fatal error: Maximum execution time of 1 second exceeded in %s on line %d
status 255
Fatal error: Allowed memory size of 33554432 bytes exhausted%s
status 255
