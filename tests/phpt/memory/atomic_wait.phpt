--TEST--
Atomic::wait() and wakeup(): between processes, in coroutines, with signals, and after a death
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use Apus\Atomic;
use function Apus\Coroutine\run;
use function Apus\go;

function child(callable $do): int
{
    if (($pid = pcntl_fork()) === 0) {
        $do();
        posix_kill(posix_getpid(), SIGKILL);
    }
    return $pid;
}

echo "values:\n";
$atomic = new Atomic(7);
echo json_encode([$atomic->wait(), $atomic->get(), $atomic->wakeup(), $atomic->get()]), "\n";
$atomic->set(1);
echo json_encode([
    $atomic->wait(),
    $atomic->get(),
    $atomic->wait(0.001),
    $atomic->wakeup(),
    $atomic->wakeup(5),
    $atomic->get(),
]), "\n";
$atomic->set(0);

echo "processes:\n";
$got = new Atomic();
$ready = new Atomic();
$pids = [];
foreach ([1, 2, 3] as $_) {
    $pids[] = child(function () use ($atomic, $got, $ready) {
        $ready->add();
        $got->add((int) $atomic->wait(-1));
    });
}
// One is killed while it waits, and takes no wake-up with it.
while ($ready->get() < 3) {
    usleep(100);
}
posix_kill($pids[0], SIGKILL);
pcntl_waitpid($pids[0], $status);
foreach ([1, 2] as $n) {
    $atomic->wakeup();
    while ($got->get() < $n) {
        usleep(100);
    }
    echo $got->get(), ' ', $atomic->get(), "\n";
}
pcntl_waitpid($pids[1], $status);
pcntl_waitpid($pids[2], $status);

echo "coroutines:\n";
$ask = new Atomic();
$pid = child(function () use ($atomic, $ask) {
    while ($ask->wait(-1)) {
        $atomic->wakeup();
    }
});
run(function () use ($atomic, $ask) {
    $order = [];
    foreach ([1, 2, 3] as $n) {
        go(function () use ($atomic, &$order, $n) {
            $order[] = $atomic->wait(20) ? 'woken' : 'not';
        });
    }
    go(function () use ($atomic, &$order) {
        $order[] = $atomic->wait(0.005) ? 'woken' : 'timed out';
    });
    while (count($order) < 1) {
        Apus\Coroutine::sleep(0.001);
    }
    $order[] = 'the loop runs';
    foreach ([1, 2] as $_) {
        $before = count($order);
        $ask->wakeup();
        while (count($order) === $before) {
            Apus\Coroutine::sleep(0.001);
        }
    }
    $atomic->wakeup();
    while (count($order) < 5) {
        Apus\Coroutine::sleep(0.001);
    }
    echo implode(', ', $order), "\n";
    $cancelled = go(function () use ($atomic) {
        var_dump($atomic->wait(-1));
    });
    Apus\Coroutine::cancel($cancelled);
});
posix_kill($pid, SIGKILL);
pcntl_waitpid($pid, $status);

echo "signals:\n";
pcntl_async_signals(true);
$me = posix_getpid();
$stop = new Atomic();
pcntl_signal(SIGUSR1, function () use ($atomic, $stop) {
    $stop->set(1);
    $atomic->wakeup();
});
$pid = child(function () use ($me, $stop) {
    // Again and again: the first may come before the wait.
    while ($stop->get() === 0) {
        posix_kill($me, SIGUSR1);
        usleep(20000);
    }
});
var_dump($atomic->wait(-1));
pcntl_waitpid($pid, $status);
pcntl_signal(SIGALRM, fn() => throw new Exception('by the handler'));
pcntl_alarm(1);
$atomic->set(0);
try {
    $atomic->wait(-1);
} catch (Exception $exception) {
    echo $exception->getMessage(), "\n";
}
?>
--EXPECT--
values:
[false,7,true,7]
[true,0,false,true,true,1]
processes:
1 0
2 0
coroutines:
timed out, the loop runs, woken, woken, woken
bool(false)
signals:
bool(true)
by the handler
