--TEST--
exit() after a fatal error that something else met is exit(), not another fatal error
--FILE--
<?php
$code = '<?php
use Apus\Process;
register_shutdown_function(function () {
    $process = new Process(function () { exit(7); }, false, 0);
    $process->start();
    $ended = Process::wait();
    echo "child: ", $ended["code"], "\n";
});
@trigger_error("raised", E_USER_ERROR);
';
$file = tempnam(sys_get_temp_dir(), 'apus');
file_put_contents($file, $code);
$out = shell_exec(escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d html_errors=0 -d fatal_error_backtraces=0 -d extension=' . escapeshellarg(getenv('APUS_SO')) . ' ' . escapeshellarg($file) . ' 2>&1; echo "status $?"');
echo preg_replace(['/ in \S+( on line \d+|\(\d+\).*)/', '/^\s*\n/m'], '', $out);
unlink($file);
?>
--EXPECT--
Fatal error: raised
child: 7
status 255
