--TEST--
exit() in a coroutine ends the script: others are unwound, shutdown functions run, the status is kept
--FILE--
<?php
$code = '
use Apus\Coroutine;
use function Apus\{go, defer};
use function Apus\Coroutine\run;
register_shutdown_function(fn() => print("shutdown function\n"));
%s
echo "NOT REACHED\n";
';
$cases = [
    'in run()' => 'run(function () {
        go(function () { try { Coroutine::sleep(10); } catch (Throwable $e) { echo "other: ", get_class($e), "\n"; } finally { echo "other: finally\n"; } });
        defer(fn() => print("deferred\n"));
        try { Coroutine::sleep(0.001); exit(3); } catch (Throwable $e) { echo "NOT CAUGHT\n"; } finally { echo "NO FINALLY\n"; }
    });',
    'at once in run()' => 'run(fn() => exit(4));',
    'with a text' => 'run(function () { exit("text\n"); });',
    'in go() outside run()' => 'go(fn() => exit(5));',
    'in a child' => 'run(function () { go(function () { Coroutine::sleep(0.001); exit(6); }); Coroutine::sleep(10); echo "NOT REACHED\n"; });',
    'in a Fiber' => 'run(function () { (new Fiber(function () { Coroutine::sleep(0.001); exit(7); }))->start(); echo "NOT REACHED\n"; });',
    'in a timer' => 'Apus\Timer::after(1, fn() => exit(8)); run(fn() => Coroutine::sleep(10));',
    'in a deferred' => 'run(function () { defer(fn() => exit(9)); });',
    'of the script while one sleeps' => 'go(function () { Coroutine::sleep(0.001); echo "it is finished\n"; }); exit(10);',
];
$file = tempnam(sys_get_temp_dir(), 'apus');
foreach ($cases as $name => $case) {
    file_put_contents($file, "<?php " . sprintf($code, $case));
    echo "-- $name\n";
    passthru(escapeshellarg(PHP_BINARY) . ' -n -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' ' . escapeshellarg($file) . ' 2>&1', $status);
    echo "status $status\n";
}
unlink($file);
?>
--EXPECT--
-- in run()
deferred
other: Apus\Coroutine\CanceledException
other: finally
shutdown function
status 3
-- at once in run()
shutdown function
status 4
-- with a text
text
shutdown function
status 0
-- in go() outside run()
shutdown function
status 5
-- in a child
shutdown function
status 6
-- in a Fiber
shutdown function
status 7
-- in a timer
shutdown function
status 8
-- in a deferred
shutdown function
status 9
-- of the script while one sleeps
shutdown function
it is finished
status 10
