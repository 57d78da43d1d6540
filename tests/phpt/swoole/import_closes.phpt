--TEST--
Swoole\Coroutine\Socket::import(): closing the socket closes the stream that it came of, which lives as long as it
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Socket;

Swoole\Coroutine\run(function () {
    [$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $socket = Socket::import($one);
    var_dump($socket->close(), is_resource($one), fread($other, 10), feof($other));
    // A stream that the program has closed itself is closed.
    $more = Socket::import($other);
    fclose($other);
    var_dump($more->close());
    // One that it has forgotten goes on.
    [$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $socket = Socket::import($one);
    unset($one);
    $socket->send('kept');
    var_dump(fread($other, 10));
});
?>
--EXPECT--
bool(true)
bool(false)
string(0) ""
bool(true)
bool(true)
string(4) "kept"
