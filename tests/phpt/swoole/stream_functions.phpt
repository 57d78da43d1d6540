--TEST--
Under SWOOLE_HOOK_STREAM_FUNCTION: a stream that is ready for both counts once, others run first, a side is shut down once
--INI--
apus.swoole_compat=1
--FILE--
<?php
Swoole\Runtime::enableCoroutine(SWOOLE_HOOK_ALL);
Swoole\Coroutine\run(function (): void {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $client = stream_socket_client('tcp://' . stream_socket_get_name($server, false));
    $peer = stream_socket_accept($server);
    fwrite($peer, 'x');
    go(function () use ($client): void {
        $read = $write = [$client];
        $except = null;
        var_dump(stream_select($read, $write, $except, 5), count($read), count($write));
    });
    echo "first\n";
    Swoole\Coroutine::sleep(0.001);

    fwrite($client, 'payload');
    var_dump(stream_socket_shutdown($client, STREAM_SHUT_WR), stream_get_contents($peer));
    var_dump(stream_socket_shutdown($client, STREAM_SHUT_WR), stream_socket_shutdown($client, STREAM_SHUT_RD));
});
// Outside of coroutines they are PHP's.
[$one, $two] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
fwrite($two, 'x');
$read = $write = [$one];
$except = null;
var_dump(stream_select($read, $write, $except, 5));
?>
--EXPECT--
first
int(1)
int(1)
int(1)
bool(true)
string(7) "payload"
bool(false)
bool(true)
int(2)
