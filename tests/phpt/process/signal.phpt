--TEST--
Process: signal(): between steps of plain code, in functions that block, in coroutines; children have no handlers; alarm()
--FILE--
<?php
use Apus\Coroutine;
use Apus\Process;
use function Apus\Coroutine\run;

$me = getmypid();
$note = fn(int $signal) => print("signal $signal, coroutine " . (Coroutine::getCid() > 0 ? 'yes' : 'no') . "\n");

echo "plain\n";
var_dump(Process::signal(SIGUSR1, $note), Process::signal(SIGUSR2, $note));
Process::kill($me, SIGUSR1);
echo "after it\n";
Process::signal(SIGUSR1, fn() => throw new LogicException('from the handler'));
try {
    Process::kill($me, SIGUSR1);
    for ($i = 0; $i < 10; $i++);
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}

echo "while blocked\n";
$process = new Process(function (Process $p) use ($me) {
    Process::kill($me, SIGUSR2);
    $p->read();
    Process::kill($me, SIGUSR2);
    usleep(1000);
    $p->write('done');
    $p->read();
});
Process::signal(SIGUSR2, function () use ($process, &$count) {
    if (++$count === 1) {
        $process->write('go on');
    }
});
$process->start();
while ($count === null) {
    usleep(1000);
}
var_dump($process->read());
while ($count < 2);
Process::signal(SIGCHLD, fn() => print("a child has ended\n"));
$process->write('end');
var_dump(Process::wait()['pid'] === $process->pid);
Process::signal(SIGCHLD, null);

echo "children\n";
$process = new Process(function (Process $p) {
    $p->write('here');
    while (true) {
        usleep(100_000);
    }
});
$process->start();
$process->read();
Process::kill($process->pid, SIGUSR2);
var_dump(Process::wait()['signal'] === SIGUSR2);

echo "coroutines\n";
$done = new Coroutine\Channel(1);
run(function () use ($me, $done, $note) {
    Process::signal(SIGUSR1, function (int $signal) use ($done, $note) {
        $note($signal);
        Coroutine::sleep(0.001);
        $done->push($signal);
    });
    // Nothing else runs: the loop itself is woken. (A handler is nothing that a coroutine could wait for: the channel
    // alone would be.)
    $keeper = Apus\go(fn() => Coroutine::sleep(60));
    $process = proc_open(['/bin/kill', '-USR1', (string) $me], [], $pipes);
    var_dump($done->pop(), proc_close($process));
    Process::kill($me, SIGUSR1);
    echo "code that does not wait is interrupted\n";
    var_dump($done->pop());
    var_dump(Coroutine\System::waitSignal(SIGUSR1, 0.001));
    Coroutine::cancel($keeper);
});
// The same handler serves the next loop, and code outside.
run(function () use ($me, $done) {
    Process::kill($me, SIGUSR1);
    var_dump($done->pop(5));
});

echo "taken away\n";
var_dump(Process::signal(SIGUSR1, null), @Process::signal(SIGUSR1, null), Process::signal(SIGUSR2));

echo "alarm\n";
$alarms = 0;
Process::signal(SIGALRM, function () use (&$alarms) {
    if (++$alarms === 3) {
        Process::alarm(-1);
    }
});
var_dump(Process::alarm(1000));
while ($alarms < 3) {
    usleep(200);
}
foreach ([
    fn() => Process::signal(SIGKILL, $note),
    fn() => Process::signal(0, $note),
    fn() => Process::signal(SIGSEGV, $note),
    fn() => Process::alarm(1, 5),
] as $wrong) {
    try {
        $wrong();
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
echo "a handler keeps no script alive\n";
?>
--EXPECT--
plain
bool(true)
bool(true)
signal 10, coroutine no
after it
from the handler
while blocked
string(4) "done"
a child has ended
bool(true)
children
bool(true)
coroutines
signal 10, coroutine yes
int(10)
int(0)
signal 10, coroutine yes
code that does not wait is interrupted
int(10)
bool(false)
signal 10, coroutine yes
int(10)
taken away
bool(true)
bool(false)
bool(true)
alarm
bool(true)
Apus\Process::signal(): Argument #1 ($signal_no) must be a signal that can be handled, 9 given: SIGKILL and SIGSTOP cannot be caught
Apus\Process::signal(): Argument #1 ($signal_no) must be a signal that can be handled, 0 given: that is no signal
Apus\Process::signal(): Argument #1 ($signal_no) must be a signal that can be handled, 11 given: signals of the program's own faults cannot be handled
Apus\Process::alarm(): Argument #2 ($type) must be 0 (real time), 1 (user time) or 2 (CPU time), 5 given
a handler keeps no script alive
