--TEST--
A fatal error (memory limit, E_USER_ERROR, redeclaration) in a coroutine ends the script as PHP does, without a crash
--FILE--
<?php
$code = '
use Apus\Coroutine;
use function Apus\{go, defer};
use function Apus\Coroutine\run;
ini_set("memory_limit", "16M");
register_shutdown_function(fn() => print("shutdown function\n"));
class Noisy { function __destruct() { echo "NO DESTRUCTOR\n"; } }
%s
echo "NOT REACHED\n";
';
$eat = '$s = "x"; while (true) { $s .= str_repeat("x", 1 << 20); }';
$other = 'go(function () { try { Coroutine::sleep(10); } finally { echo "other: finally\n"; } });';
$cases = [
    'memory at once' => "run(function () { $other $eat });",
    'memory after a wait' => "run(function () { $other Coroutine::sleep(0.001); $eat });",
    'memory in go()' => "go(function () { $eat });",
    'memory in a nested go()' => "run(function () { go(function () { go(function () { $eat }); echo 'NOT REACHED'; }); echo 'NOT REACHED'; });",
    'memory in a Fiber' => "run(function () { $other (new Fiber(function () { Coroutine::sleep(0.001); $eat }))->start(); });",
    'memory in a deferred' => "run(function () { defer(function () { $eat }); });",
    'memory in a timer' => "Apus\\Timer::after(1, function () { $eat }); run(fn() => Coroutine::sleep(10));",
    'memory in a callback' => "run(function () { array_map(function () { Coroutine::sleep(0.001); $eat }, [1]); });",
    'memory in resume()' => "run(function () { \$id = go(function () { Coroutine::yield(); $eat }); Coroutine::resume(\$id); echo 'NOT REACHED'; });",
    'error' => 'run(function () { Coroutine::sleep(0.001); @trigger_error("raised", E_USER_ERROR); });',
    'compile error' => 'run(function () { Coroutine::sleep(0.001); eval("class Noisy {}"); });',
];
$file = tempnam(sys_get_temp_dir(), 'apus');
foreach ($cases as $name => $case) {
    file_put_contents($file, "<?php " . sprintf($code, $case));
    echo "-- $name\n";
    $out = shell_exec(escapeshellarg(PHP_BINARY) . ' -n -d fatal_error_backtraces=0 -d display_errors=1 -d html_errors=0 -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' ' . escapeshellarg($file) . ' 2>&1; echo "status $?"');
    echo preg_replace(['/ in \S+( on line \d+|\(\d+\).*)/', '/^\s*\n/m', '/\(tried to allocate.*?\)/'], '', $out);
}
unlink($file);
?>
--EXPECTF--
-- memory at once
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
%Ashutdown function
%Astatus 255
-- memory after a wait
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
%Ashutdown function
%Astatus 255
-- memory in go()
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
shutdown function
status 255
-- memory in a nested go()
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
shutdown function
status 255
-- memory in a Fiber
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
%Ashutdown function
%Astatus 255
-- memory in a deferred
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
shutdown function
status 255
-- memory in a timer
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
%Ashutdown function
%Astatus 255
-- memory in a callback
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
shutdown function
status 255
-- memory in resume()
Fatal error: Allowed memory size of 16777216 bytes exhausted%S
shutdown function
status 255
-- error
Fatal error: raised
shutdown function
status 255
-- compile error
Fatal error: Cannot %rdeclare|redeclare%r class Noisy%S
shutdown function
status 255
