--TEST--
WebSocket\Server: used before it runs, and without what it needs
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\WebSocket\Server;

$server = new Server('127.0.0.1', 0);
attempt(fn () => $server->on('massage', fn () => null));
attempt(fn () => $server->isEstablished(1));
foreach (['push', 'tryPush', 'disconnect', 'ping'] as $method) {
    try {
        echo $method, ' ', json_encode($method === 'disconnect' || $method === 'ping' ? $server->$method(1) : $server->$method(1, 'x')),
            "\n";
    } catch (Apus\Exception $error) {
        echo $method, " throws\n";
    }
}
attempt(fn () => $server->start());
?>
--EXPECTF--
Apus\Server\Exception 103: there is no event "massage"; there are: start, shutdown, beforeshutdown, managerstart, managerstop, workerstart, workerstop, workerexit, workererror, beforereload, afterreload, connect, request, close, receive, packet, bufferfull, bufferempty, pipemessage, handshake, beforehandshakeresponse, open, message, disconnect, task, finish, taskerror
Apus\Server\Exception 104: isEstablished() works inside a worker, after start()
push false
tryPush -1
disconnect false
ping false
Apus\Server\Exception 103: nothing would answer %son('message'%s
