--TEST--
A fatal error while a native function converts its arguments, throws, warns or looks for a function unwinds the native code, too
--FILE--
<?php
$code = '<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;
ini_set("memory_limit", "-1");
class Text { function __toString(): string { @trigger_error("raised", E_USER_ERROR); return ""; } }
register_shutdown_function(fn() => print("shutdown function\n"));
$handler = fn() => set_error_handler(function () { @trigger_error("raised", E_USER_ERROR); });
$loader = fn() => spl_autoload_register(function () { @trigger_error("raised", E_USER_ERROR); });
run(function () use ($handler, $loader) {
    Coroutine::sleep(0.001);
    %s
    echo "NOT REACHED\n";
});
echo "NOT REACHED\n";
';
$cases = [
    'a string of an object' => 'Coroutine\System::exec(new Text);',
    'of a method' => '(new Coroutine\Http\Client("127.0.0.1", 1))->setMethod(new Text);',
    'null to an integer' => '$handler(); Coroutine::cancel(null);',
    'a float with a fraction' => '$handler(); Coroutine::cancel(1.5);',
    'a warning' => '$handler(); Apus\Process::kill(PHP_INT_MAX >> 33, 0x1f); Apus\Process::kill(0x3ffffffe, 9);',
    'a callable whose class is loaded' => '$loader(); go("Missing::method");',
    'a callable in an array' => '$loader(); Coroutine\parallel(1, ["Missing", "method"]);',
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
-- a string of an object
Fatal error: raised
shutdown function
status 255
-- of a method
Fatal error: raised
shutdown function
status 255
-- null to an integer
Fatal error: raised
shutdown function
status 255
-- a float with a fraction
Fatal error: raised
shutdown function
status 255
-- a warning
Fatal error: raised
shutdown function
status 255
-- a callable whose class is loaded
Fatal error: raised
shutdown function
status 255
-- a callable in an array
Fatal error: raised
shutdown function
status 255
