--TEST--
Process\Pool: messages over a socket and a message queue, with coroutines and without; Process\Manager
--FILE--
<?php
use Apus\Coroutine;
use Apus\Process;
use Apus\Process\{Manager, Pool};

$me = getmypid();

/** One message over a connection of its own; what is answered. */
function ask(string $address, string $message): string
{
    $socket = stream_socket_client($address);
    // In two parts: the length alone is no message.
    fwrite($socket, substr(pack('N', strlen($message)), 0, 2));
    fflush($socket);
    fwrite($socket, substr(pack('N', strlen($message)), 2) . $message);
    $answer = stream_get_contents($socket);
    return $answer === '' ? '(nothing)' : (unpack('N', $answer)[1] === strlen($answer) - 4 ? substr($answer, 4) : '(broken)');
}

$path = tempnam(sys_get_temp_dir(), 'pool');
unlink($path);
foreach ([['127.0.0.1', false], ['127.0.0.1', true], ["unix:$path", false], ["unix:$path", true]] as [$host, $coroutine]) {
    echo str_starts_with($host, 'unix') ? 'unix' : 'tcp', $coroutine ? ", coroutines\n" : "\n";
    $pool = new Pool(2, Apus\IPC_SOCKET, 0, $coroutine);
    $pool->set(['max_package_size' => 1_000_000]);
    var_dump($pool->listen($host, 0, 100), $pool->port > 0);
    $pool->on('message', function (Pool $pool, string $data) use ($coroutine) {
        if ($data === 'quiet') {
            return;
        }
        $pool->write('re: ');
        if ($coroutine) {
            Coroutine::sleep(0.001);
        }
        $pool->write(strlen($data) > 100 ? md5($data) : $data);
    });
    $client = new Process(function () use ($host, $pool, $me) {
        $address = $pool->port ? "tcp://$host:{$pool->port}" : 'unix://' . substr($host, 5);
        $large = random_bytes(900_000);
        var_dump(ask($address, 'one'), ask($address, 'quiet'), ask($address, $large) === 're: ' . md5($large));
        // Longer than allowed: closed at once.
        $socket = stream_socket_client($address);
        fwrite($socket, pack('N', 1_000_001));
        var_dump(fread($socket, 10));
        var_dump(ask($address, 'still there'));
        Process::kill($me, SIGTERM);
    });
    $client->start();
    $pool->start();
    var_dump(Process::wait()['code'], file_exists($path));
}

foreach ([false, true] as $coroutine) {
    echo $coroutine ? "queue, coroutines\n" : "queue\n";
    $key = random_int(0x10000000, 0x7fffffff);
    $queue = new Apus\MessageQueue($key);
    $results = new Apus\MessageQueue;
    $pool = new Pool(3, Apus\IPC_MSGQUEUE, $key, $coroutine);
    $pool->on('message', fn(Pool $pool, string $data) => $results->push($data * 2));
    $client = new Process(function () use ($queue, $results, $me) {
        for ($i = 0; $i < 200; $i++) {
            $queue->push((string) $i);
        }
        for ($sum = $i = 0; $i < 200; $i++) {
            $sum += (int) $results->pop();
        }
        var_dump($sum);
        Process::kill($me, SIGTERM);
    });
    $client->start();
    $pool->start();
    var_dump(Process::wait()['code'], $queue->destroy());
}

echo "manager\n";
$manager = new Manager(Apus\IPC_NONE);
var_dump(
    $manager->setIPCType(Apus\IPC_UNIXSOCK) === $manager,
    $manager->getIPCType(),
    $manager->setMsgQueueKey(5)->getMsgQueueKey(),
);
$reader = new Process(function (Process $p) use ($me) {
    for ($lines = []; count($lines) < 3;) {
        $lines[] = preg_replace('/from worker \d/', 'from a worker', $p->read());
    }
    sort($lines);
    echo implode("\n", $lines), "\n";
    Process::kill($me, SIGTERM);
});
$reader->start();
$manager->add(function (Pool $pool, int $id) use ($reader) {
    $message = $pool->getProcess()->read();
    $reader->write("worker $id, " . (Coroutine::getCid() > 0 ? 'coroutine' : 'plain') . ", got: $message");
    $pool->getProcess()->read();
    $pool->getProcess()->read();
});
$manager->addBatch(2, function (Pool $pool, int $id) use ($reader) {
    $pool->getProcess(0)->write("from worker $id");
    $reader->write("worker $id, " . (Coroutine::getCid() > 0 ? 'coroutine' : 'plain'));
    Coroutine::sleep(60);
}, true);
$manager->start();
var_dump(Process::wait()['code']);
foreach ([fn() => (new Manager)->start(), fn() => $manager->addBatch(0, fn() => 1), fn() => new Manager(9)] as $wrong) {
    try {
        $wrong();
    } catch (Throwable $e) {
        echo $e::class, ': ', $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
tcp
bool(true)
bool(true)
string(7) "re: one"
string(9) "(nothing)"
bool(true)
string(0) ""
string(15) "re: still there"
int(0)
bool(false)
tcp, coroutines
bool(true)
bool(true)
string(7) "re: one"
string(9) "(nothing)"
bool(true)
string(0) ""
string(15) "re: still there"
int(0)
bool(false)
unix
bool(true)
bool(false)
string(7) "re: one"
string(9) "(nothing)"
bool(true)
string(0) ""
string(15) "re: still there"
int(0)
bool(false)
unix, coroutines
bool(true)
bool(false)
string(7) "re: one"
string(9) "(nothing)"
bool(true)
string(0) ""
string(15) "re: still there"
int(0)
bool(false)
queue
int(39800)
int(0)
bool(true)
queue, coroutines
int(39800)
int(0)
bool(true)
manager
bool(true)
int(1)
int(5)
worker 0, plain, got: from a worker
worker 1, coroutine
worker 2, coroutine
int(0)
Apus\Process\Exception: a manager needs add() or addBatch() before start()
ValueError: Apus\Process\Manager::addBatch(): Argument #1 ($workerNum) must be between 1 and 4096, 0 given
ValueError: Apus\Process\Manager::__construct(): Argument #1 ($ipcType) must be Apus\IPC_NONE, IPC_UNIXSOCK, IPC_MSGQUEUE or IPC_SOCKET, 9 given
