--TEST--
ext/sockets under SWOOLE_HOOK_SOCKETS: its functions make and take Swoole\Coroutine\Socket in coroutines, and nowhere else
--EXTENSIONS--
sockets
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Socket;

Swoole\Runtime::enableCoroutine(SWOOLE_HOOK_ALL);
echo get_class(socket_create(AF_INET, SOCK_STREAM, SOL_TCP)), "\n";
$outside = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);

Swoole\Coroutine\run(function () use ($outside) {
    // What was made outside keeps its own functions.
    var_dump(socket_set_option($outside, SOL_SOCKET, SO_REUSEADDR, 1));

    $server = socket_create_listen(0);
    echo get_class($server), "\n";
    socket_getsockname($server, $address, $port);
    go(function () use ($server) {
        $peer = socket_accept($server);
        echo socket_read($peer, 100), "\n";
        Swoole\Coroutine::sleep(0.05);
        socket_write($peer, 'answered', 6);
        socket_close($peer);
    });
    $client = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    var_dump(socket_connect($client, '127.0.0.1', $port));
    var_dump(socket_send($client, 'asked', 0, 0));
    var_dump(socket_getpeername($client, $to, $at), $to, $at === $port);

    // In a hurry nothing waits; what waits again has the time-out that it had before.
    socket_set_nonblock($client);
    var_dump(socket_recv($client, $data, 100, 0), $data, socket_last_error($client) === SOCKET_ETIMEDOUT);
    socket_clear_error($client);
    socket_set_block($client);
    var_dump(socket_recv($client, $data, 100, MSG_PEEK), socket_recv($client, $data, 100, 0), $data);
    socket_close($client);
    var_dump(socket_set_block($client));

    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    socket_write($pair[0], "a line\nmore");
    var_dump(socket_read($pair[1], 100, PHP_NORMAL_READ));
    try {
        socket_send($pair[0], 'urgent', 0, MSG_OOB);
    } catch (RuntimeException $e) {
        echo $e->getMessage(), "\n";
    }

    $one = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    socket_bind($one, '127.0.0.1');
    socket_getsockname($one, $address, $port);
    $two = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    socket_sendto($two, 'datagram', 8, 0, '127.0.0.1', $port);
    var_dump(socket_recvfrom($one, $data, 4, 0, $from, $fromPort), $data, $from, $fromPort > 0);

    [$left, $right] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $socket = socket_import_stream($left);
    socket_write($socket, 'by a stream');
    socket_close($socket);
    var_dump($socket instanceof Socket, stream_get_contents($right));

    var_dump(socket_connect(socket_create(AF_INET, SOCK_STREAM, SOL_TCP), '127.0.0.1', 1));
    var_dump(socket_last_error() === SOCKET_ECONNREFUSED);
});

Swoole\Runtime::enableCoroutine(SWOOLE_HOOK_ALL ^ SWOOLE_HOOK_SOCKETS);
Swoole\Coroutine\run(fn () => print get_class(socket_create(AF_INET, SOCK_STREAM, SOL_TCP)) . "\n");
?>
--EXPECT--
Socket
bool(true)
Swoole\Coroutine\Socket
bool(true)
int(5)
bool(true)
string(9) "127.0.0.1"
bool(true)
asked
bool(false)
NULL
bool(true)
int(6)
int(6)
string(6) "answer"
bool(false)
string(7) "a line
"
$flags[1] is not supported
int(4)
string(4) "data"
string(9) "127.0.0.1"
bool(true)
bool(true)
string(11) "by a stream"
bool(false)
bool(true)
Socket
