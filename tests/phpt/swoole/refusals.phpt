--TEST--
What is refused under the names of Swoole, in the words of there
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Process;
use Swoole\WebSocket\CloseFrame;
use Swoole\WebSocket\Frame;

echo "-- frames\n";
$close = new CloseFrame();
$close->reason = str_repeat('b', 124);
var_dump(Frame::pack(str_repeat('a', 126), WEBSOCKET_OPCODE_PING), Frame::pack($close), @Frame::pack('x', -1));
var_dump(strlen(Frame::pack('x')));

echo "-- processes\n";
$process = new Process(fn () => 0);
var_dump($process->read(0), $process->getPriority(-1000, getmypid()), swoole_last_error() === SOCKET_EINVAL);
var_dump(@$process->getPriority(PRIO_USER), swoole_last_error() === SWOOLE_ERROR_INVALID_PARAMS);
$pool = new Process\Pool(1);
$pool->on('workerstart', function (Process\Pool $pool) {
    echo "a worker\n";
    $pool->shutdown();
    sleep(10);
});
$pool->start();
$pool->start();
$pool = new Process\Pool(2, SWOOLE_IPC_UNIXSOCK);
$pool->on('message', fn () => 0);
$pool->on('workerstart', function (Process\Pool $pool, int $worker) {
    if ($worker === 0) {
        var_dump($pool->sendMessage('x', 2));
        $pool->shutdown();
    }
});
$pool->start();

echo "-- servers\n";
$taken = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($taken, false), ':'), 1);
try {
    new Swoole\Server('127.0.0.1', $port);
} catch (Swoole\Exception $e) {
    echo str_replace((string) $port, 'PORT', $e->getMessage()), "\n";
    var_dump($e->getCode() === SOCKET_EADDRINUSE);
}
$kinds = [Swoole\Server::class => SWOOLE_SOCK_TCP, Swoole\Http\Server::class => SWOOLE_SOCK_TCP];
foreach ($kinds + [Swoole\WebSocket\Server::class => SWOOLE_SOCK_TCP] as $class => $kind) {
    try {
        (new $class('127.0.0.1', 0, SWOOLE_BASE, $kind))->start();
    } catch (Swoole\Error $e) {
        echo $e->getMessage(), "\n";
    }
}
try {
    (new Swoole\Server('127.0.0.1', 0, SWOOLE_BASE, SWOOLE_SOCK_UDP))->start();
} catch (Swoole\Error $e) {
    echo $e->getMessage(), "\n";
}

echo "-- channel\n";
try {
    (new Swoole\Coroutine\Channel())->__construct(2);
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}

echo "-- log\n";
$log = tempnam(sys_get_temp_dir(), 'log');
var_dump(swoole_async_set(['log_file' => $log]), swoole_error_log(SWOOLE_LOG_NOTICE, 'told'));
echo file_get_contents($log);
unlink($log);
?>
--EXPECTF--
-- frames

Warning: Swoole\WebSocket\Frame::pack(): websocket control frame payload must not exceed 125 bytes in %s on line %d

Warning: Swoole\WebSocket\Frame::pack(): the max length of close reason is 123 in %s on line %d
string(0) ""
string(0) ""
string(0) ""
int(3)
-- processes

Warning: Swoole\Process::read(): size must be greater than 0 in %s on line %d
bool(false)
bool(false)
bool(true)
bool(false)
bool(true)
a worker
a worker

Warning: Swoole\Process\Pool::sendMessage(): invalid worker_id[2] in %s on line %d
bool(false)
-- servers
failed to listen server port[127.0.0.1:PORT], Error: Address already in use[98]
bool(true)
require onReceive callback
require onRequest callback
require onMessage callback
require onPacket callback
-- channel
channel has already been constructed
-- log
bool(true)
NULL
[%d-%d-%d %d:%d:%d #%d.0]	NOTICE	told
