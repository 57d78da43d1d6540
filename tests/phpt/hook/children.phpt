--TEST--
Child processes, their pipes and their ends
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

$ways = [
    'exec' => fn () => exec('sleep 0.1; echo done'),
    'shell_exec' => fn () => trim(shell_exec('sleep 0.1; echo done')),
    'system' => fn () => (function () { ob_start(); $last = system('sleep 0.1; echo done'); ob_end_clean(); return $last; })(),
    'popen' => function () { $p = popen('sleep 0.1; echo done', 'r'); $text = trim(fgets($p)); return $text . pclose($p); },
    'pclose' => function () { $p = popen('cat > /dev/null; sleep 0.1; exit 7', 'w'); fwrite($p, 'x'); return pclose($p); },
    'proc_open' => function () {
        $p = proc_open('cat; sleep 0.1; exit 5', [['pipe', 'r'], ['pipe', 'w']], $pipes);
        $text = str_repeat('0123456789', 30_000);
        go(function () use ($pipes, $text) { fwrite($pipes[0], $text); fclose($pipes[0]); });
        $same = stream_get_contents($pipes[1]) === $text;
        return proc_close($p) . ($same ? ' whole' : ' broken');
    },
];
foreach ($ways as $name => $way) {
    $begun = microtime(true);
    $results = [];
    run(function () use ($way, &$results) {
        for ($i = 0; $i < 40; $i++) {
            go(function () use ($way, &$results) { $results[] = $way(); });
        }
    });
    $took = microtime(true) - $begun;
    printf("%s: %d times, %s, %s\n", $name, count($results), $took < 3.5 ? 'together' : "one after the other ($took s)", implode('|', array_unique($results)));
}
--EXPECT--
exec: 40 times, together, done
shell_exec: 40 times, together, done
system: 40 times, together, done
popen: 40 times, together, done0
pclose: 40 times, together, 7
proc_open: 40 times, together, 5 whole
