--TEST--
Process: a child ends as a script does: exit codes, exceptions, shutdown functions, destructors; start() again
--FILE--
<?php
use Apus\Process;

$me = getmypid();
class Traced
{
    public function __construct(private string $name)
    {
    }

    public function __destruct()
    {
        echo getmypid() === $GLOBALS['me'] ? 'parent' : 'child', " destroys {$this->name}\n";
    }
}
register_shutdown_function(function () use ($me) {
    echo getmypid() === $me ? 'parent' : 'child', " shuts down\n";
});
$global = new Traced('global');

function run(): void
{
    $local = new Traced('local');
    $process = new Process(function (Process $process) {
        $inner = new Traced('inner');
        var_dump($process->pid === getmypid());
    });
    var_dump($process->pid, $process->id, is_int($process->pipe), $process->msgQueueId);
    try {
        $pid = $process->start();
        $end = Process::wait();
        var_dump($pid === $process->pid);
    } finally {
        echo getmypid() === $GLOBALS['me'] ? 'parent' : 'child', " finally\n";
    }
    var_dump($end === ['pid' => $pid, 'code' => 0, 'signal' => 0]);
    var_dump(Process::wait(), Process::wait(false));
}
run();

echo "codes\n";
$global = null;
$ways = [
    'returns' => fn() => 7,
    'exit(3)' => fn() => exit(3),
    '$process->exit(4)' => fn(Process $p) => $p->exit(4),
    'exit in try' => function () {
        try {
            exit(5);
        } finally {
            echo "never\n";
        }
    },
    'killed' => fn(Process $p) => Process::kill(getmypid(), SIGKILL),
    'run() in it' => fn() => Apus\Coroutine\run(function () {
        Apus\Coroutine::sleep(0.001);
        exit(6);
    }),
    'a timer is left' => fn() => Apus\Timer::after(1, fn() => exit(8)),
    'exception' => fn() => throw new LogicException('nobody catches this'),
    'exec' => fn(Process $p) => $p->exec('/bin/sh', ['-c', 'exit 9']),
    'no program' => fn(Process $p) => $p->exec('/nonexistent/program', []),
];
foreach ($ways as $name => $way) {
    $process = new Process(function (Process $p) use ($way) {
        set_error_handler(fn($number, $text) => print("$text\n"));
        $way($p);
    });
    $process->start();
    $end = Process::wait();
    echo "$name: {$end['code']} {$end['signal']}\n";
}

echo "handlers\n";
$process = new Process(function () {
    set_exception_handler(fn(Throwable $e) => print("handled: {$e->getMessage()}\n"));
    throw new LogicException('here');
});
$process->start();
var_dump(Process::wait()['code']);

echo "again\n";
$process = new Process(fn(Process $p) => print($p->read() . "\n"));
$process->write('first');
$process->write('second');
$one = $process->start();
Process::wait();
$two = $process->start();
Process::wait();
var_dump($one !== $two);
$process->start();
var_dump(@$process->start());
$process->write('third');
Process::wait();
$process->start();
Process::kill($process->pid, SIGKILL);
while (@$process->start() === false);
$process->write('fourth');
Process::wait();
Process::wait();

echo "misuse\n";
$child = new Process(function (Process $p) use ($process) {
    foreach ([fn() => $p->start(), fn() => $process->exit(), fn() => $p->exit(256)] as $wrong) {
        try {
            $wrong();
        } catch (Throwable $e) {
            echo $e::class, ': ', $e->getMessage(), "\n";
        }
    }
});
$child->start();
Process::wait();
foreach ([
    fn() => $process->exec('/bin/true', []),
    fn() => (new Process(fn() => 1))->read(),
    fn() => new Process(fn() => 1, false, 9),
] as $wrong) {
    try {
        $wrong();
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECTF--
NULL
int(1)
bool(true)
NULL
bool(true)
child destroys inner
child destroys local
child shuts down
child destroys global
bool(true)
parent finally
bool(true)
bool(false)
bool(false)
parent destroys local
codes
parent destroys global
child shuts down
returns: 0 0
child shuts down
exit(3): 3 0
child shuts down
$process->exit(4): 4 0
child shuts down
exit in try: 5 0
killed: 0 9
child shuts down
run() in it: 6 0
child shuts down
a timer is left: 8 0

%AFatal error: Uncaught LogicException: nobody catches this in %s:%d
Stack trace:
%A
  thrown in %s on line %d
child shuts down
exception: 255 0
exec: 9 0
Apus\Process::exec(): /nonexistent/program cannot be run: No such file or directory
child shuts down
no program: 0 0
handlers
handled: here
child shuts down
int(255)
again
first
child shuts down
second
child shuts down
bool(true)
bool(false)
third
child shuts down
fourth
child shuts down
misuse
Apus\Process\Exception: this process is started by its server or pool, or is the running one
Apus\Process\Exception: Apus\Process::exit() can be called inside the process itself only, in what its callback runs
ValueError: Apus\Process::exit(): Argument #1 ($exit_code) must be an exit code between 0 and 255, 256 given
child shuts down
Apus\Process\Exception: Apus\Process::exec() can be called inside the process itself only, in what its callback runs
Apus\Process\Exception: read() waits for what the process writes: call start() first
ValueError: Apus\Process::__construct(): Argument #3 ($pipe_type) must be 0 (no pipe), SOCK_STREAM (1) or SOCK_DGRAM (2), 9 given
parent shuts down
