--TEST--
A transfer of curl whose wait is cancelled was aborted by a callback, as there
--EXTENSIONS--
curl
--INI--
apus.swoole_compat=1
--FILE--
<?php
Swoole\Coroutine\run(function (): void {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $handle = curl_init('http://' . stream_socket_get_name($server, false));
    curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
    $cid = Swoole\Coroutine::getCid();
    go(function () use ($cid): void {
        Swoole\Coroutine::sleep(0.01);
        var_dump(Swoole\Coroutine::cancel($cid));
    });
    var_dump(curl_exec($handle), swoole_last_error() === SWOOLE_ERROR_CO_CANCELED);
    var_dump(curl_errno($handle) === CURLE_ABORTED_BY_CALLBACK, curl_error($handle));

    // What else goes wrong keeps its number.
    fclose($server);
    var_dump(curl_exec($handle), curl_errno($handle) === CURLE_COULDNT_CONNECT);
});
?>
--EXPECTF--
bool(true)
bool(false)
bool(true)
bool(true)
string(%d) "Operation was aborted by an application callback"
bool(false)
bool(true)
