--TEST--
Processes of proc_open() in coroutines have the type of there, and PHP's functions take them; a wrong descriptor warns
--INI--
apus.swoole_compat=1
--FILE--
<?php
Swoole\Runtime::enableCoroutine(SWOOLE_HOOK_ALL);
Swoole\Coroutine\run(function (): void {
    $process = proc_open('cat; exit 3', [['pipe', 'r'], ['pipe', 'w']], $pipes);
    var_dump(get_resource_type($process), proc_get_status($process)['running']);
    fwrite($pipes[0], 'through');
    fclose($pipes[0]);
    var_dump(stream_get_contents($pipes[1]), proc_close($process), get_resource_type($process));

    $sleeper = proc_open('sleep 30', [], $none);
    var_dump(proc_terminate($sleeper), is_resource($sleeper));
    // Given up, it is waited for.
    $sleeper = null;

    var_dump(proc_open('true', [1 => 5], $none));
});
var_dump(get_resource_type($process = proc_open('true', [], $none)), proc_close($process));
try {
    proc_open('true', [1 => 5], $none);
} catch (ValueError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
string(17) "process/coroutine"
bool(true)
string(7) "through"
int(3)
string(7) "Unknown"
bool(true)
bool(true)

Warning: proc_open(): Descriptor item must be either an array or a File-Handle in %s on line %d
bool(false)
string(7) "process"
int(0)
proc_open(): Argument #2 ($descriptor_spec) must only contain arrays and streams
