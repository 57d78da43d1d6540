--TEST--
swoole_client_select(): clients, streams and descriptors, in and outside of coroutines
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1);
$connect = function () use ($port, $server) {
    $client = new Swoole\Client(SWOOLE_SOCK_TCP);
    $client->connect('127.0.0.1', $port, 5);
    return [$client, stream_socket_accept($server)];
};
[$a, $a_peer] = $connect();
[$b, $b_peer] = $connect();

$read = $write = $except = [$a];
var_dump(swoole_client_select($read, $write, $except, 0), count($read), count($write), count($except));

$read = ['a' => $a, 7 => $b];
$none = null;
var_dump(swoole_select($read, $none, $none, 0.01), $read, $none);

fwrite($b_peer, 'to b');
$read = ['a' => $a, 7 => $b];
var_dump(swoole_client_select($read, $none, $none, null), array_keys($read), $read[7] === $b, $b->recv());

// The end of a stream is something to read; a stream of PHP that has read ahead has it, too.
[$one, $two] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
fwrite($two, "line\nrest");
fgets($one);
fclose($a_peer);
$read = ['stream' => $one, 'client' => $a, 'quiet' => $b];
var_dump(swoole_client_select($read, $none, $none), array_keys($read));

Co\run(function () use ($b, $b_peer, $none) {
    go(function () use ($b_peer) {
        Co::sleep(0.001);
        echo "another goes on\n";
        fwrite($b_peer, 'again');
    });
    $read = [$b];
    var_dump(swoole_client_select($read, $none, $none, 30), $b->recv());
    $read = [$b];
    var_dump(swoole_client_select($read, $none, $none, 0.001), $read);
    $cid = Co::getCid();
    go(function () use ($cid) {
        Co::sleep(0.001);
        Co::cancel($cid);
    });
    $read = [$b];
    var_dump(swoole_client_select($read, $none, $none, -1), swoole_last_error() === SWOOLE_ERROR_CO_CANCELED);
});

var_dump(swoole_client_select($none, $none, $none, 0));
?>
--EXPECTF--
int(1)
int(0)
int(1)
int(0)
int(0)
array(0) {
}
NULL
int(1)
array(1) {
  [0]=>
  int(7)
}
bool(true)
string(4) "to b"
int(2)
array(2) {
  [0]=>
  string(6) "stream"
  [1]=>
  string(6) "client"
}
another goes on
int(1)
string(5) "again"
int(0)
array(0) {
}
bool(false)
bool(true)

Warning: swoole_client_select() has nothing to wait for in %s on line %d
bool(false)
