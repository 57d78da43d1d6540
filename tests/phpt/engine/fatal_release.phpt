--TEST--
A fatal error in a destructor ends the script, and not whichever coroutine runs next
--FILE--
<?php
$code = '<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;
class Bad { function __destruct() { @trigger_error("in a destructor", E_USER_ERROR); } }
register_shutdown_function(fn() => print("shutdown function\n"));
run(function () {
    go(function () {
        try {
            for (;;) { Coroutine::sleep(0.001); }
        } finally {
            echo "other: finally\n";
        }
    });
    // The loop runs from here on.
    Coroutine::sleep(0.001);
    %s
});
echo "NOT REACHED\n";
';
$cases = [
    // The last reference is the closure of a coroutine, which the loop gives back.
    'on the loop' => '$bad = new Bad; go(function () use ($bad) { Coroutine::sleep(0.003); }); unset($bad); Coroutine::sleep(10);',
    'of a native object, by PHP code' => '$channel = new Coroutine\Channel(1); $channel->push(new Bad); unset($channel); echo "NOT REACHED\n";',
    'of a native object, by a native function' => '$channel = new Coroutine\Channel(1); $channel->push([new Bad]); Coroutine::defer(function () use ($channel) { $channel->pop(); echo "NOT REACHED\n"; });',
    'of a timer' => '$bad = new Bad; Apus\Timer::after(1, function () use ($bad) {}); unset($bad); Coroutine::sleep(10);',
];
$file = tempnam(sys_get_temp_dir(), 'apus');
foreach ($cases as $name => $case) {
    file_put_contents($file, sprintf($code, $case));
    echo "-- $name\n";
    $out = shell_exec(escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d html_errors=0 -d fatal_error_backtraces=0 -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' ' . escapeshellarg($file) . ' 2>&1; echo "status $?"');
    echo preg_replace(['/ in \S+( on line \d+|\(\d+\).*)/', '/^\s*\n/m'], '', $out);
}
unlink($file);
?>
--EXPECT--
-- on the loop
Fatal error: in a destructor
other: finally
shutdown function
status 255
-- of a native object, by PHP code
Fatal error: in a destructor
other: finally
shutdown function
status 255
-- of a native object, by a native function
Fatal error: in a destructor
other: finally
shutdown function
status 255
-- of a timer
Fatal error: in a destructor
other: finally
shutdown function
status 255
