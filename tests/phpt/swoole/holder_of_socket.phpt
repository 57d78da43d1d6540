--TEST--
Where two coroutines read one socket, the fatal error is followed by where the other one stands
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1);
go(function () use ($port) {
    $client = new Swoole\Coroutine\Client(SWOOLE_SOCK_TCP);
    $client->connect('127.0.0.1', $port, 20);
    go(fn () => $client->recv());
    $client->recv();
});
Swoole\Event::wait();
?>
--EXPECTF--
Fatal error: Uncaught Swoole\Error: Socket#%d has already been bound to another coroutine#2, reading of the same socket in coroutine#1 at the same time is not allowed in %s:%d
Stack trace:
#0 %s(%d): Swoole\Coroutine\Client->recv()
#1 [internal function]: {closure%S}()
#2 {main}
  thrown in %s on line %d

 [Coroutine-2] Stack trace:
 -------------------------------------------------------------------
#0 %s(%d): Swoole\Coroutine\Client->recv()
#1 [internal function]: {closure%S}()
