--TEST--
Coroutine::set(): socket_read_timeout and socket_write_timeout, by their other names, too; socket_timeout is both
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;
use Swoole\Coroutine\Socket;

Coroutine\run(function () {
    [$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $socket = Socket::import($one);
    $limit = function (string $what, callable $wait) {
        $begin = microtime(true);
        var_dump($wait());
        $time = microtime(true) - $begin;
        echo "$what: ", $time >= 0.04 && $time < 3 ? 'in time' : $time, "\n";
    };
    Coroutine::set(['socket_timeout' => 600]);
    Coroutine::set(['socket_recv_timeout' => 0.05]);
    $limit('read', fn () => $socket->recv());
    Coroutine::set(['socket_timeout' => 600, 'socket_write_timeout' => 0.05]);
    $limit('write', fn () => $socket->sendAll(str_repeat('x', 64 << 20)) < 64 << 20);
    Coroutine::set(['socket_read_timeout' => 600, 'socket_write_timeout' => 600]);
    Coroutine::set(['socket_timeout' => 0.05]);
    $limit('both', fn () => $socket->recv());
    $options = Coroutine::getOptions();
    var_dump($options['socket_timeout'], $options['socket_read_timeout']);
});
?>
--EXPECT--
bool(false)
read: in time
bool(true)
write: in time
bool(false)
both: in time
float(0.05)
float(0)
