--TEST--
A stream comes from the port that bindto names, also where no address or 0 is before it
--INI--
apus.swoole_compat=1
--FILE--
<?php
Swoole\Coroutine\run(function (): void {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $to = 'tcp://' . stream_socket_get_name($server, false);
    foreach (['0', '', '127.0.0.1'] as $address) {
        $free = stream_socket_server('tcp://127.0.0.1:0');
        $port = (int) explode(':', stream_socket_get_name($free, false))[1];
        fclose($free);
        $context = stream_context_create(['socket' => ['bindto' => "{$address}:{$port}"]]);
        $client = stream_socket_client($to, $code, $why, 5, STREAM_CLIENT_CONNECT, $context);
        var_dump(stream_socket_get_name($client, false) === "127.0.0.1:{$port}");
        // The server's side ends first: the port is not kept.
        fclose(stream_socket_accept($server));
    }
    // A port of nobody's choice, and none at all.
    foreach (['0:0', '127.0.0.1:0'] as $from) {
        $context = stream_context_create(['socket' => ['bindto' => $from]]);
        var_dump(is_resource(stream_socket_client($to, $code, $why, 5, STREAM_CLIENT_CONNECT, $context)));
    }
});
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
