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
        echo $method, ' ', json_encode($method === 'disconnect' || $method === 'ping' ? $server->$method(1) : $server->$method(1, 'x')), "\n";
    } catch (Apus\Exception $error) {
        echo $method, " throws\n";
    }
}
try {
    $server->start();
} catch (Apus\Exception $error) {
    echo preg_match('/message/', $error->getMessage()), "\n";
}
?>
--EXPECTF--
