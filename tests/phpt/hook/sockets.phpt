--TEST--
The sockets extension: datagrams, scattered messages, waiting for all
--EXTENSIONS--
sockets
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

run(function () {
    $a = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    socket_bind($a, '127.0.0.1');
    socket_getsockname($a, $host, $port);
    go(function () use ($a) {
        for ($i = 0; $i < 2; $i++) {
            socket_recvfrom($a, $data, 100, 0, $from, $fromPort);
            echo "$data from $from\n";
            socket_sendto($a, strtoupper($data), 100, 0, $from, $fromPort);
        }
    });
    $b = socket_create(AF_INET, SOCK_DGRAM, SOL_UDP);
    foreach (['one', 'two'] as $text) {
        socket_sendto($b, $text, 3, 0, '127.0.0.1', $port);
        socket_recvfrom($b, $data, 100, 0, $from, $fromPort);
        echo "$data\n";
    }
    $server = socket_create_listen(0);
    socket_getsockname($server, $host, $port);
    go(function () use ($server) {
        $peer = socket_accept($server);
        foreach (str_split('all of it', 3) as $part) {
            usleep(5_000);
            socket_send($peer, $part, 3, 0);
        }
    });
    $client = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    var_dump(socket_connect($client, '127.0.0.1', $port), socket_recv($client, $data, 9, MSG_WAITALL), $data);
    var_dump(@socket_read($client, 10));
    $refused = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
    socket_close($server);
    var_dump(@socket_connect($refused, '127.0.0.1', $port), socket_strerror(socket_last_error($refused)));
    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    go(function () use ($pair) {
        usleep(5_000);
        socket_sendmsg($pair[1], ['iov' => ['ab', 'cde']], 0);
    });
    $message = ['buffer_size' => 100, 'controllen' => socket_cmsg_space(SOL_SOCKET, SCM_RIGHTS, 1)];
    var_dump(socket_recvmsg($pair[0], $message, 0), $message['iov']);
});
--EXPECT--
one from 127.0.0.1
ONE
two from 127.0.0.1
TWO
bool(true)
int(9)
string(9) "all of it"
string(0) ""
bool(false)
string(18) "Connection refused"
int(5)
array(1) {
  [0]=>
  string(5) "abcde"
}
