--TEST--
Server: what does not fit its state is an exception
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

$server = new Apus\Http\Server('127.0.0.1', 0);
foreach (['stats', 'shutdown', 'reload', 'stop', 'getClientList', 'getWorkerPid'] as $method) {
    attempt(fn () => $server->$method());
}
foreach (['exist', 'exists', 'close', 'getClientInfo'] as $method) {
    attempt(fn () => $server->$method(1));
}
function start(Apus\Server $server): void
{
    attempt(function () use ($server): void {
        try {
            $server->start();
        } catch (Apus\Server\Exception $error) {
            throw new Apus\Server\Exception(preg_replace('/(?<=:)\d+/', 'PORT', $error->getMessage()), $error->getCode());
        }
    });
}
start($server);
attempt(fn () => $server->start(1));
// A callback of a port is enough for that port, and only for it.
$port = $server->listen('127.0.0.1', 0, Apus\SOCK_TCP);
$port->on('request', fn () => null);
start($server);
// Other protocols need other callbacks.
$raw = new Apus\Server('127.0.0.1', 0);
$raw->on('request', fn () => null);
start($raw);
$raw->on('receive', fn () => null);
$raw->listen('127.0.0.1', 0, Apus\SOCK_UDP);
start($raw);
foreach (['send' => [1, ''], 'sendto' => ['127.0.0.1', 1, ''], 'sendfile' => [1, ''], 'sendwait' => [1, ''], 'pause' => [1], 'resume' => [1], 'confirm' => [1], 'protect' => [1],
    'heartbeat' => [], 'bufferedAmount' => [1]] as $method => $args) {
    attempt(fn () => $raw->$method(...$args));
}
var_dump($raw->getLastError());
?>
--EXPECT--
Apus\Server\Exception 104: stats() works inside a worker, after start()
Apus\Server\Exception 104: shutdown() needs a running server
Apus\Server\Exception 104: reload() needs a running server
Apus\Server\Exception 104: stop() works inside a worker, after start()
Apus\Server\Exception 104: getClientList() works inside a worker, after start()
Apus\Server\Exception 104: getWorkerPid() works inside a worker, after start()
Apus\Server\Exception 104: exist() works inside a worker, after start()
Apus\Server\Exception 104: exist() works inside a worker, after start()
Apus\Server\Exception 104: close() works inside a worker, after start()
Apus\Server\Exception 104: getClientInfo() works inside a worker, after start()
Apus\Server\Exception 103: nothing would answer requests of port 127.0.0.1:PORT: call on('request', function ($request, $response) { … }) before start()
ArgumentCountError: Apus\Server::start() expects exactly 0 arguments, 1 given
Apus\Server\Exception 103: nothing would answer requests of port 127.0.0.1:PORT: call on('request', function ($request, $response) { … }) before start()
Apus\Server\Exception 103: nothing would answer what clients send of port 127.0.0.1:PORT: call on('receive', function ($server, $fd, $workerId, $data) { … }) before start()
Apus\Server\Exception 103: nothing would answer datagrams of port 127.0.0.1:PORT: call on('packet', function ($server, $data, $clientInfo) { … }) before start()
Apus\Server\Exception 104: send() works inside a worker, after start()
Apus\Server\Exception 104: sendto() works inside a worker, after start()
Apus\Server\Exception 104: sendfile() works inside a worker, after start()
Apus\Server\Exception 104: sendwait() works inside a worker, after start()
Apus\Server\Exception 104: pause() works inside a worker, after start()
Apus\Server\Exception 104: resume() works inside a worker, after start()
Apus\Server\Exception 104: confirm() works inside a worker, after start()
Apus\Server\Exception 104: protect() works inside a worker, after start()
Apus\Server\Exception 104: heartbeat() works inside a worker, after start()
Apus\Server\Exception 104: bufferedAmount() works inside a worker, after start()
int(0)
