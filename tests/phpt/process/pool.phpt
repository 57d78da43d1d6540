--TEST--
Process\Pool: workers are started again, reloaded, stopped; events, properties, detach(), misuse
--FILE--
<?php
use Apus\Coroutine;
use Apus\Process;
use Apus\Process\Pool;

[$read, $write] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_DGRAM, 0);
$tell = fn(string $line) => stream_socket_sendto($write, $line);
/** What workers have told, sorted. */
$told = function () use ($read) {
    stream_set_blocking($read, false);
    for ($lines = []; ($line = stream_socket_recvfrom($read, 1000)) != '';) {
        $lines[] = $line;
    }
    sort($lines);
    return implode("\n", $lines) . "\n";
};
$me = getmypid();

foreach ([false, true] as $coroutine) {
    echo $coroutine ? "with coroutines\n" : "plain\n";
    $pool = new Pool(2, Apus\IPC_UNIXSOCK, 0, $coroutine);
    $pool->on('start', fn(Pool $pool) => $tell('start ' . (int) ($pool->master_pid === getmypid())));
    $pool->on('Shutdown', fn(Pool $pool) => $tell('shutdown ' . (int) (getmypid() === $me)));
    $pool->on('workerStart', function (Pool $pool, int $id) use ($tell, $me) {
        $own = $pool->getProcess();
        $tell(
            "worker $id " . json_encode([
                $pool->workerId,
                $pool->workerPid === getmypid(),
                $pool->master_pid === $me,
                $own === $pool->getProcess($id),
                $own->pid === getmypid(),
                $own->id,
                $pool->workerRunning,
                Coroutine::getCid() > 0,
            ]),
        );
        $pool->sendMessage("to itself $id", $id);
        $pool->sendMessage("from $id", 1 - $id);
    });
    $pool->on('onWorkerStop', fn(Pool $pool, int $id) => $tell("stop $id " . json_encode([$pool->workerRunning, $pool->running])));
    if ($coroutine) {
        $pool->on('WorkerExit', fn(Pool $pool, int $id) => $tell("exit $id"));
    }
    // Four messages a generation; one reload, then the end.
    $counter = new Process(function (Process $p) use ($me) {
        foreach ([4 => SIGUSR1, 8 => SIGTERM] as $wanted => $signal) {
            for (; ($got ??= 0) < $wanted; $got++) {
                $p->read();
            }
            Process::kill($me, $signal);
        }
    });
    $counter->start();
    $pool->on('message', function (Pool $pool, string $data) use ($tell, $counter) {
        $tell("message at {$pool->workerId}: $data");
        $counter->write($data);
    });
    var_dump($pool->start());
    while (Process::wait());
    echo $told();
}

echo "a worker that ends is started again\n";
$pool = new Pool(1);
// What the next worker does is taken from a queue.
$queue = new Apus\MessageQueue;
foreach (['returns', 'exits', 'is killed', 'throws', 'stops', 'detaches', 'shuts down'] as $way) {
    $queue->push($way);
}
$pool->on('workerstart', function (Pool $pool) use ($queue, $tell) {
    $way = $queue->pop();
    $tell("worker $way");
    ini_set('display_errors', 0);
    ini_set('log_errors', 0);
    match ($way) {
        'returns' => 1,
        'exits' => exit(3),
        'is killed' => Process::kill(getmypid(), SIGKILL),
        'throws' => throw new LogicException('in a worker'),
        'stops' => $pool->stop(),
        'detaches' => $pool->detach() && usleep(20_000) === null && $tell('the detached one goes on'),
        'shuts down' => usleep(50_000) ?? $pool->shutdown() && sleep(60),
    };
});
$pool->on('workerstop', fn() => $tell('stop'));
fclose(STDERR);
$pool->start();
echo $told();

echo "misuse\n";
$wrong = [
    fn() => $pool->start(),
    fn() => $pool->on('message', fn() => 1),
    fn() => new Pool(0),
    fn() => new Pool(1, 7),
    fn() => (new Pool(1))->on('message', fn() => 1),
    fn() => (new Pool(1))->on('request', fn() => 1),
    fn() => (new Pool(1))->start(),
    fn() => (new Pool(1, Apus\IPC_SOCKET))->on('message', fn() => 1) && (new Pool(1, Apus\IPC_UNIXSOCK))->start(),
    fn() => (new Pool(1))->listen('127.0.0.1'),
    fn() => (new Pool(1, Apus\IPC_SOCKET))->listen('no.such.name.invalid'),
    fn() => (new Pool(1))->getProcess(0),
    fn() => (new Pool(1))->getProcess(1),
    fn() => (new Pool(1))->stop(),
    fn() => (new Pool(1))->detach(),
    fn() => (new Pool(1))->shutdown(),
    fn() => (new Pool(1))->write('x'),
    fn() => (new Pool(1))->sendMessage('x', 0),
    fn() => (new Pool(1))->set(['max_wait_time' => -1]),
    function () {
        $pool = new Pool(1);
        $pool->on('workerstart', fn() => 1);
        $pool->on('workerexit', fn() => 1);
        $pool->start();
    },
    function () {
        $pool = new Pool(1, Apus\IPC_SOCKET);
        $pool->on('message', fn() => 1);
        $pool->start();
    },
    fn() => Coroutine\run(function () {
        $pool = new Pool(1);
        $pool->on('workerstart', fn() => 1);
        $pool->start();
    }),
];
foreach ($wrong as $way) {
    try {
        $way();
        echo "nothing was thrown\n";
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
plain
NULL
message at 0: from 1
message at 0: from 1
message at 0: to itself 0
message at 0: to itself 0
message at 1: from 0
message at 1: from 0
message at 1: to itself 1
message at 1: to itself 1
shutdown 1
start 1
stop 0 [false,false]
stop 0 [false,false]
stop 1 [false,false]
stop 1 [false,false]
worker 0 [0,true,true,true,true,0,true,false]
worker 0 [0,true,true,true,true,0,true,false]
worker 1 [1,true,true,true,true,1,true,false]
worker 1 [1,true,true,true,true,1,true,false]
with coroutines
NULL
exit 0
exit 0
exit 1
exit 1
message at 0: from 1
message at 0: from 1
message at 0: to itself 0
message at 0: to itself 0
message at 1: from 0
message at 1: from 0
message at 1: to itself 1
message at 1: to itself 1
shutdown 1
start 1
stop 0 [false,false]
stop 0 [false,false]
stop 1 [false,false]
stop 1 [false,false]
worker 0 [0,true,true,true,true,0,true,true]
worker 0 [0,true,true,true,true,0,true,true]
worker 1 [1,true,true,true,true,1,true,true]
worker 1 [1,true,true,true,true,1,true,true]
a worker that ends is started again
stop
stop
the detached one goes on
worker detaches
worker exits
worker is killed
worker returns
worker shuts down
worker stops
worker throws
misuse
Apus\Process\Exception: a pool is started once: make another Apus\Process\Pool
Apus\Process\Exception: events are set before Apus\Process\Pool::start()
ValueError: Apus\Process\Pool::__construct(): Argument #1 ($worker_num) must be between 1 and 4096 workers, 0 given
ValueError: Apus\Process\Pool::__construct(): Argument #2 ($ipc_type) must be Apus\IPC_NONE, IPC_UNIXSOCK, IPC_MSGQUEUE or IPC_SOCKET, 7 given
Apus\Process\Exception: a pool without messages has no event "message": give the constructor an $ipc_type
Apus\Process\Exception: a pool has no event "request": there are start, shutdown, workerstart, workerstop, workerexit, message
Apus\Process\Exception: a pool needs on('workerstart', …) or on('message', …): its workers would have nothing to do
Apus\Process\Exception: a pool needs on('workerstart', …) or on('message', …): its workers would have nothing to do
Apus\Process\Exception: listen() is for pools with Apus\IPC_SOCKET, before start()
ValueError: Apus\Process\Pool::listen(): Argument #1 ($host) must be an address or a known name, "no.such.name.invalid" given
Apus\Process\Exception: the pool has not been started
ValueError: Apus\Process\Pool::getProcess(): Argument #1 ($work_id) must be a worker between 0 and 0, 1 given
Apus\Process\Exception: stop() is for workers of a pool
Apus\Process\Exception: detach() is for workers of a pool
Apus\Process\Exception: the pool has not been started, or has ended
Apus\Process\Exception: write() answers a message in the callback of "message", in pools with Apus\IPC_SOCKET
Apus\Process\Exception: sendMessage() is for pools with Apus\IPC_UNIXSOCK
ValueError: Apus\Process\Pool::set(): Argument #1 ($settings) can hold enable_coroutine (bool), enable_message_bus (bool), max_wait_time (0 to 86400 seconds) and max_package_size (1 to 268435456 bytes): "max_wait_time" is none of these, or its value is out of bounds
Apus\Process\Exception: the event "workerexit" is for pools with $enable_coroutine
Apus\Process\Exception: a pool with Apus\IPC_SOCKET needs listen() before start()
Apus\Coroutine\Exception: a pool of processes makes a process, which cannot be done inside a coroutine or a callback of an event loop, because all that runs there would go on in both: call it before run() or start(), give a server its processes with addProcess(), or start a program with System::exec()
