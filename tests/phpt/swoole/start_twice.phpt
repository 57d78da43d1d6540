--TEST--
A server that has stopped cannot start again: a warning, whatever swoole.display_errors says, and false
--INI--
apus.swoole_compat=1
swoole.display_errors=Off
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['log_level' => SWOOLE_LOG_ERROR]);
$server->on('receive', fn () => null);
$server->on('workerstart', fn (Swoole\Server $server) => $server->shutdown());
var_dump($server->start(), $server->start());
?>
--EXPECTF--
Warning: Swoole\Server::start(): The server have been shutdown, unable to execute Swoole\Server->start() in %s on line %d
bool(true)
bool(false)
