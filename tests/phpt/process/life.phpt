--TEST--
Process: kill(), daemon(), affinity, priorities, names; nothing is left behind
--FILE--
<?php
use Apus\Process;

set_error_handler(fn($number, $text) => print("warning: $text\n"));
$fds = fn() => count(scandir('/proc/self/fd'));

echo "kill\n";
$process = new Process(fn(Process $p) => $p->read());
$pid = $process->start();
var_dump(Process::kill($pid, 0), Process::kill($pid), Process::wait()['signal'], Process::kill($pid, 0));
var_dump(Process::kill(0x7ffffff0));

echo "daemon\n";
[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$process = new Process(function (Process $p) use ($theirs) {
    $before = getmypid();
    Process::signal(SIGUSR1, fn() => fwrite($theirs, "its handlers stay\n"));
    var_dump(Process::daemon(false, false, [2 => $theirs]));
    $p->write(
        json_encode([
            getmypid() !== $before,
            (int) explode(' ', file_get_contents('/proc/self/stat'))[5] === getmypid(),
            getcwd(),
            readlink('/proc/self/fd/1'),
        ]),
    );
    Process::kill(getmypid(), SIGUSR1);
    fwrite(STDERR, "written to 2\n");
});
$process->start();
// The process that was started ends at once; the daemon goes on.
var_dump(Process::wait()['code']);
for (; ($told = $process->read()) === '';);
echo $told, "\n", fgets($ours), fgets($ours);

echo "affinity\n";
$all = Process::getAffinity();
var_dump(
    Process::setAffinity([$all[0]]),
    Process::getAffinity() === [$all[0]],
    Process::setAffinity($all),
    Process::getAffinity() === $all,
);
foreach ([[], [-1], ['a']] as $wrong) {
    try {
        Process::setAffinity($wrong);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}

echo "priorities\n";
// The tests themselves may run at any priority: only the process that was asked for changes.
$mine = fn() => (int) explode(' ', file_get_contents('/proc/' . getmypid() . '/stat'))[18];
$before = $mine();
$process = new Process(fn(Process $p) => $p->read());
$process->start();
var_dump($process->setPriority(0, 19), $process->getPriority(0), $process->getPriority(0, getmypid()) === $before);
Process::kill($process->pid, SIGKILL);
Process::wait();
var_dump($process->getPriority(0));

echo "names\n";
$process = new Process(function (Process $p) {
    var_dump($p->name('apus test name'), str_starts_with(file_get_contents('/proc/self/cmdline'), 'apus test name'));
});
$process->start();
Process::wait();

echo "nothing is left\n";
unset($process, $ours, $theirs);
gc_collect_cycles();
$before = $fds();
for ($i = 0; $i < 50; $i++) {
    $process = new Process(fn(Process $p) => exit(count(array_filter(scandir('/proc/self/fd'), fn($fd) => is_numeric($fd)))));
    $process->exportSocket();
    $process->start();
    $counts[] = Process::wait()['code'];
}
unset($process);
var_dump($fds() === $before, count(array_unique($counts)));
var_dump(Process::wait(false), Apus\last_error() === 10);
?>
--EXPECT--
kill
bool(true)
bool(true)
int(15)
bool(false)
warning: Apus\Process::kill(): process 2147483632 got no signal 15: No such process
bool(false)
daemon
int(0)
[true,true,"\/","\/dev\/null"]
its handlers stay
written to 2
affinity
bool(true)
bool(true)
bool(true)
bool(true)
Apus\Process::setAffinity(): Argument #1 ($cpu_settings) cannot be empty
Apus\Process::setAffinity(): Argument #1 ($cpu_settings) must hold numbers of processors, from 0
Apus\Process::setAffinity(): Argument #1 ($cpu_settings) must hold numbers of processors, from 0
priorities
bool(true)
int(19)
bool(true)
warning: Apus\Process::getPriority(): No such process
bool(false)
names
bool(true)
bool(true)
nothing is left
bool(true)
int(1)
bool(false)
bool(true)
