--TEST--
Server: on() and getCallback(); unknown events are refused clearly
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

$server = new Apus\Http\Server('127.0.0.1', 0);
foreach (['Start', 'shutdown', 'beforeShutdown', 'managerStart', 'managerStop', 'WorkerStart', 'workerStop', 'workerExit', 'workerError', 'beforeReload', 'afterReload', 'connect', 'CLOSE', 'request',
    'receive', 'packet', 'bufferFull', 'bufferEmpty', 'pipeMessage', 'handshake', 'open', 'message', 'disconnect', 'task', 'finish', 'taskError'] as $event) {
    $server->on($event, 'strlen') || print "$event was refused\n";
}
var_dump($server->getCallback('REQUEST'), (new Apus\Http\Server('127.0.0.1', 0))->getCallback('request'));
foreach (['reqest', ''] as $event) {
    attempt(fn () => $server->on($event, 'strlen'));
}
attempt(fn () => $server->on('request', 'no_such_function'));
attempt(fn () => $server->on('request', null));
attempt(fn () => $server->on('request'));
attempt(fn () => $server->getCallback('nothing'));
?>
--EXPECT--
string(6) "strlen"
NULL
Apus\Server\Exception 103: there is no event "reqest"; there are: start, shutdown, beforeshutdown, managerstart, managerstop, workerstart, workerstop, workerexit, workererror, beforereload, afterreload, connect, request, close, receive, packet, bufferfull, bufferempty, pipemessage, handshake, beforehandshakeresponse, open, message, disconnect, task, finish, taskerror
Apus\Server\Exception 103: there is no event ""; there are: start, shutdown, beforeshutdown, managerstart, managerstop, workerstart, workerstop, workerexit, workererror, beforereload, afterreload, connect, request, close, receive, packet, bufferfull, bufferempty, pipemessage, handshake, beforehandshakeresponse, open, message, disconnect, task, finish, taskerror
TypeError: Apus\Server::on(): Argument #2 ($callback) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Apus\Server::on(): Argument #2 ($callback) must be a valid callback, no array or string given
ArgumentCountError: Apus\Server::on() expects exactly 2 arguments, 1 given
Apus\Server\Exception 103: there is no event "nothing"; there are: start, shutdown, beforeshutdown, managerstart, managerstop, workerstart, workerstop, workerexit, workererror, beforereload, afterreload, connect, request, close, receive, packet, bufferfull, bufferempty, pipemessage, handshake, beforehandshakeresponse, open, message, disconnect, task, finish, taskerror
