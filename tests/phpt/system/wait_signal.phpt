--TEST--
System::waitSignal(): one and several, time-out, cancel, who else waits, what stood before comes back
--EXTENSIONS--
posix
--SKIPIF--
<?php
if (!function_exists('pcntl_signal')) {
    die('skip needs pcntl');
}
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, System};
use function Apus\{go, last_error, strerror};
use function Apus\Coroutine\run;

function kill(int $signal): void
{
    posix_kill(posix_getpid(), $signal);
}

pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () { echo "handler of pcntl_signal()\n"; });
run(function () {
    go(function () { var_dump(System::waitSignal(SIGUSR2)); });
    kill(SIGUSR2);
    Coroutine::sleep(0.01);

    echo "several:\n";
    go(function () {
        var_dump(System::waitSignal([SIGHUP, SIGUSR1, SIGUSR2, SIGUSR2]) === SIGUSR1);
        echo "the other one was kept: ";
        var_dump(System::waitSignal(SIGUSR2, 0) === SIGUSR2);
    });
    kill(SIGUSR2);
    kill(SIGUSR1);
    Coroutine::sleep(0.01);
    echo "what stood before is back: ";
    kill(SIGUSR1);

    echo "time-out:\n";
    var_dump(System::waitSignal(SIGUSR2, 0.01), strerror(last_error()), System::waitSignal(SIGUSR2, 0));

    echo "who else:\n";
    $first = go(function () { var_dump(System::waitSignal(SIGUSR2)); });
    var_dump(@System::waitSignal([SIGHUP, SIGUSR2]), strerror(last_error()), error_get_last()['message']);
    go(function () { var_dump(System::waitSignal(SIGHUP) === SIGHUP); });
    kill(SIGHUP);
    Coroutine::sleep(0.01);
    Coroutine::cancel($first);
    Coroutine::join([$first]);
    var_dump(strerror(last_error()));
    $thrown = go(function () {
        try {
            System::waitSignal(SIGUSR2);
        } catch (CanceledException $e) {
            echo $e->getMessage(), "\n";
        }
    });
    Coroutine::cancel($thrown, true);
    Coroutine::join([$thrown]);

    echo "arguments:\n";
    foreach ([0, -1, 65, 32, SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, [], [SIGUSR1, 99], ['SIGUSR1']] as $wrong) {
        try {
            System::waitSignal($wrong);
            echo "no exception\n";
        } catch (ValueError | TypeError $e) {
            echo get_class($e), ' ', strstr($e->getMessage(), 'must') ?: strstr($e->getMessage(), 'cannot'), "\n";
        }
    }
});

echo "a forked child is not its parent's waiter:\n";
$waits = go(function () { var_dump(System::waitSignal([SIGUSR2, SIGUSR1], 5) === SIGUSR2); });
$child = pcntl_fork();
if ($child === 0) {
    kill(SIGUSR1);
    kill(SIGUSR2);
    posix_kill(posix_getpid(), SIGKILL);
}
run(function () use ($child, $waits) {
    echo json_encode(['pid' => 0] + (System::waitPid($child, 5) ?: [])), "\n";
    var_dump(Coroutine::exists($waits));
    kill(SIGUSR2);
});
try {
    System::waitSignal(SIGUSR2);
} catch (Apus\Coroutine\Exception $e) {
    echo $e->getCode(), "\n";
}
?>
--EXPECT--
int(12)
several:
bool(true)
the other one was kept: bool(true)
what stood before is back: handler of pcntl_signal()
time-out:
bool(false)
string(20) "Connection timed out"
bool(false)
who else:
bool(false)
string(23) "Device or resource busy"
string(93) "Apus\Coroutine\System::waitSignal(): another coroutine waits for one of these signals already"
bool(true)
bool(false)
string(18) "Operation canceled"
the coroutine was cancelled while it waited in Coroutine\System::waitSignal()
arguments:
ValueError must be signals that can be waited for, 0 given: that is no signal
ValueError must be signals that can be waited for, -1 given: that is no signal
ValueError must be signals that can be waited for, 65 given: that is no signal
ValueError must be signals that can be waited for, 32 given: that is no signal
ValueError must be signals that can be waited for, 9 given: SIGKILL and SIGSTOP cannot be caught
ValueError must be signals that can be waited for, 19 given: SIGKILL and SIGSTOP cannot be caught
ValueError must be signals that can be waited for, 17 given: SIGCHLD cannot be waited for: use Apus\Coroutine\System::wait() or waitPid()
ValueError must be signals that can be waited for, 11 given: signals of the program's own faults cannot be waited for
ValueError cannot be empty
ValueError must be signals that can be waited for, 99 given: that is no signal
TypeError must hold numbers of signals (int) only
a forked child is not its parent's waiter:
handler of pcntl_signal()
{"pid":0,"code":0,"signal":12}
bool(true)
bool(true)
1
