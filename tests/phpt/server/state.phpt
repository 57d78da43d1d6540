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
attempt(fn () => $server->start());
attempt(fn () => $server->start(1));
// A callback of a port is enough for that port, and only for it.
$port = $server->listen('127.0.0.1', 0, Apus\SOCK_TCP);
$port->on('request', fn () => null);
attempt(fn () => $server->start());
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
Apus\Server\Exception 103: nothing would answer requests: call on('request', function ($request, $response) { … }) before start()
ArgumentCountError: Apus\Server::start() expects exactly 0 arguments, 1 given
Apus\Server\Exception 103: nothing would answer requests: call on('request', function ($request, $response) { … }) before start()
