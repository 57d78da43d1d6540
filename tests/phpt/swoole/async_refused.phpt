--TEST--
Swoole\Async\Client: a port that is none is refused; swoole.display_errors switches its warnings off
--INI--
apus.swoole_compat=1
--FILE--
<?php
$client = new Swoole\Async\Client(SWOOLE_SOCK_TCP);
foreach (['connect', 'receive', 'close', 'error'] as $event) {
    $client->on($event, function () {});
}
var_dump($client->connect('127.0.0.1', null), $client->errCode === SWOOLE_ERROR_INVALID_PARAMS);
ini_set('swoole.display_errors', '0');
var_dump($client->connect('127.0.0.1', 70000), $client->send('nobody'));
?>
--EXPECTF--

Warning: Swoole\Async\Client::connect(): The port is invalid in %s on line %d
bool(false)
bool(true)
bool(false)
bool(false)
