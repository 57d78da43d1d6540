--TEST--
The wrapper async.file and the transports async.* are PHP's own by other names; pcntl_fork() in a coroutine is refused
--EXTENSIONS--
pcntl
--INI--
apus.swoole_compat=1
--FILE--
<?php
$file = tempnam(sys_get_temp_dir(), 'apus');
Co\run(function () use ($file) {
    var_dump(file_put_contents("async.file://$file", 'one two'), file_get_contents("async.file://$file"));
    $server = stream_socket_server('async.tcp://127.0.0.1:0');
    go(function () use ($server) {
        $peer = stream_socket_accept($server);
        fwrite($peer, 'hello ' . fgets($peer));
    });
    $client = stream_socket_client('async.tcp://' . stream_socket_get_name($server, false));
    fwrite($client, "you\n");
    echo stream_get_contents($client);
    var_dump(pcntl_fork());
});
unlink($file);
var_dump(in_array('async.file', stream_get_wrappers(), true), in_array('async.udg', stream_get_transports(), true));
?>
--EXPECTF--
int(7)
string(7) "one two"
hello you

Warning: pcntl_fork() has been disabled for security reasons in %s on line %d
bool(false)
bool(true)
bool(true)
