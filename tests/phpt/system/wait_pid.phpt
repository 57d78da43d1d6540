--TEST--
System::waitPid(), wait(): children of pcntl_fork(), codes and signals, time-outs, cancel, whose child is whose
--EXTENSIONS--
posix
--SKIPIF--
<?php
if (!function_exists('pcntl_fork')) {
    die('skip needs pcntl');
}
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, System};
use function Apus\{go, last_error, strerror};
use function Apus\Coroutine\{batch, run};

/** A child that nobody waits for by itself. */
function child(string $code): int
{
    static $kept = [];
    $process = proc_open(['/bin/sh', '-c', "read go; $code"], [['pipe', 'r']], $pipes);
    $kept[] = [$process, $pipes];
    // It would reap a child that has ended.
    $pid = proc_get_status($process)['pid'];
    fwrite($pipes[0], "go\n");
    return $pid;
}

function show(mixed $result, int $pid = 0): void
{
    if ($result === false) {
        echo 'false ', strerror(last_error()), "\n";
        return;
    }
    $result['pid'] = $result['pid'] === $pid ? 'the child' : 'another';
    echo json_encode($result), "\n";
}

$forked = [];
foreach ([1, 2, 3] as $code) {
    $forked[$code] = pcntl_fork();
    if ($forked[$code] === 0) {
        pcntl_exec('/bin/sh', ['-c', "exit $code"]);
    }
}
run(function () use ($forked) {
    show(System::waitPid($forked[1]), $forked[1]);
    $results = [System::wait(10), System::wait(10)];
    sort($results);
    var_dump(array_column($results, 'code', 'pid') == [$forked[2] => 2, $forked[3] => 3]);

    $pid = child('exit 3');
    show(System::waitPid($pid), $pid);
    $pid = child('sleep 0.05; kill -15 $$');
    show(System::waitPid($pid, 10), $pid);
    show(System::waitPid($pid));
    show(System::waitPid(posix_getppid()));
    $pid = child('exit 4');
    show(System::wait(10), $pid);
    $pid = child('exit 5');
    show(System::waitPid(-1, 10), $pid);
    show(System::wait());

    echo "time-out and cancel:\n";
    $pid = child('exec sleep 100');
    show(System::waitPid($pid, 0.01));
    show(System::waitPid($pid, 0));
    show(System::wait(0.01));
    foreach ([fn() => System::waitPid($pid), fn() => System::wait()] as $wait) {
        $id = go(fn() => show($wait()));
        Coroutine::cancel($id);
        Coroutine::join([$id]);
        $id = go(function () use ($wait) {
            try {
                $wait();
            } catch (CanceledException $e) {
                echo $e->getMessage(), "\n";
            }
        });
        Coroutine::cancel($id, true);
        Coroutine::join([$id]);
    }
    posix_kill($pid, SIGKILL);
    show(System::waitPid($pid), $pid);

    echo "each gets its own:\n";
    $mine = child('sleep 0.03; exit 6');
    $jobs = [
        'exec' => fn() => System::exec('sleep 0.01; exit 8')['code'],
        'pid' => fn() => System::waitPid($mine)['code'],
        'any' => fn() => System::wait(10)['code'],
        'other' => fn() => System::wait(10)['code'],
    ];
    child('sleep 0.02; exit 7');
    child('sleep 0.04; exit 7');
    echo json_encode(batch($jobs)), "\n";
    show(System::wait(0));

    echo "40 at once:\n";
    $jobs = [];
    for ($i = 0; $i < 40; $i++) {
        $pid = child("sleep 0.1; exit $i");
        $jobs[] = fn() => System::waitPid($pid)['code'];
    }
    var_dump(batch($jobs) === range(0, 39));

    echo "a handler of SIGCHLD is called, too:\n";
    pcntl_async_signals(true);
    $called = 0;
    pcntl_signal(SIGCHLD, function () use (&$called) { $called++; });
    child('sleep 0.01; exit 9');
    echo System::wait(10)['code'], " ", $called, "\n";

    foreach ([0, -2, PHP_INT_MAX] as $wrong) {
        try {
            System::waitPid($wrong);
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
});
foreach ([fn() => System::wait(), fn() => System::waitPid(1)] as $outside) {
    try {
        $outside();
    } catch (Apus\Coroutine\Exception $e) {
        echo $e->getCode(), "\n";
    }
}
?>
--EXPECT--
{"pid":"the child","code":1,"signal":0}
bool(true)
{"pid":"the child","code":3,"signal":0}
{"pid":"the child","code":0,"signal":15}
false No child processes
false No child processes
{"pid":"the child","code":4,"signal":0}
{"pid":"the child","code":5,"signal":0}
false No child processes
time-out and cancel:
false Connection timed out
false Connection timed out
false Connection timed out
false Operation canceled
the coroutine was cancelled while it waited in Coroutine\System::waitPid()
false Operation canceled
the coroutine was cancelled while it waited in Coroutine\System::wait()
{"pid":"the child","code":0,"signal":9}
each gets its own:
{"exec":8,"pid":6,"any":7,"other":7}
false No child processes
40 at once:
bool(true)
a handler of SIGCHLD is called, too:
9 1
Apus\Coroutine\System::waitPid(): Argument #1 ($pid) must be a process id, or -1 for any child, 0 given
Apus\Coroutine\System::waitPid(): Argument #1 ($pid) must be a process id, or -1 for any child, -2 given
Apus\Coroutine\System::waitPid(): Argument #1 ($pid) must be a process id, or -1 for any child, 9223372036854775807 given
1
1
