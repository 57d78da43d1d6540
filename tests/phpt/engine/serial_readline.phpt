--TEST--
readline(): one coroutine after another is in it, each gets a line of its own
--EXTENSIONS--
readline
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

$code = <<<'PHP'
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;
readline_completion_function(fn () => []);
run(function () {
    $lines = new Channel(10);
    foreach (['A', 'B', 'C'] as $name) {
        go(function () use ($name, $lines) {
            $line = readline();
            readline_add_history($line);
            $lines->push("$name: $line");
        });
    }
    go(function () use ($lines) { readline_info('readline_name', 'apus'); $lines->push('info: ' . readline_info('readline_name')); });
    fwrite(STDERR, "they wait\n");
    for ($i = 0; $i < 4; $i++) { fwrite(STDERR, $lines->pop() . "\n"); }
});
PHP;
$file = tempnam(sys_get_temp_dir(), 'apus');
file_put_contents($file, "<?php $code");
$readline = extension_loaded('readline') && !in_array(
    'readline',
    preg_split('/\s+/', shell_exec(escapeshellarg(PHP_BINARY) . ' -n -m')),
) ? ' -d extension=readline' : '';
$process = proc_open(
    escapeshellarg(PHP_BINARY) . " -n$readline -d extension=" . escapeshellarg(getenv('APUS_SO')) . ' ' . escapeshellarg($file),
    [['pipe', 'r'], ['file', '/dev/null', 'w'], ['pipe', 'w']],
    $pipes,
);
echo fgets($pipes[2]);
foreach (['one', 'two', 'three'] as $line) {
    fwrite($pipes[0], "$line\n");
    echo fgets($pipes[2]);
}
echo fgets($pipes[2]);
fclose($pipes[0]);
echo stream_get_contents($pipes[2]), proc_close($process), "\n";
unlink($file);
?>
--EXPECT--
they wait
A: one
B: two
C: three
info: apus
0
