--TEST--
Datagrams over UDP and Unix sockets: Coroutine\Socket, Coroutine\Client
--FILE--
<?php
use Apus\Coroutine\{Client, Socket};
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
run(function () {
    $server = new Socket(Apus\AF_INET, Apus\SOCK_DGRAM);
    $server->bind('127.0.0.1');
    $port = $server->getsockname()['port'];
    go(function () use ($server) {
        while (($data = $server->recvfrom($peer)) !== false) {
            $server->sendto($peer['address'], $peer['port'], strrev($data));
        }
    });
    $socket = new Socket(Apus\AF_INET, Apus\SOCK_DGRAM);
    show('sendto', $socket->sendto('localhost', $port, 'abc'), $socket);
    show('recvfrom', $socket->recvfrom($peer, 1), $socket);
    var_dump($peer === ['address' => '127.0.0.1', 'port' => $port]);
    show('late', $socket->recvfrom($peer, 0.01), $socket);
    $large = random_bytes(60000);
    show('large', $socket->sendto('127.0.0.1', $port, $large), $socket);
    var_dump($socket->recvfrom($peer, 1) === strrev($large));
    show('too large', $socket->sendto('127.0.0.1', $port, str_repeat('x', 70000)), $socket);
    show('empty', $socket->sendto('127.0.0.1', $port, ''), $socket);
    show('empty', $socket->recvfrom($peer, 1), $socket);

    $client = new Client(Apus\SOCK_UDP);
    show('client sendto', $client->sendto('127.0.0.1', $port, 'def'), $client);
    show('client recvfrom', $client->recvfrom(2, $address, $from), $client);
    var_dump($address, $from === $port, $client->connected);
    $client->close();
    show('connect', $client->connect('127.0.0.1', $port), $client);
    show('send', $client->send('ghi'), $client);
    show('recv', $client->recv(1), $client);
    show('alive', $client->isConnected(), $client);
    $client->close();
    // Several wait in the queue: each is one message.
    $client->connect('127.0.0.1', $port);
    foreach (['a', 'bb', 'ccc'] as $message) {
        $client->send($message);
    }
    show('one', $client->recv(1), $client);
    show('two', $client->recv(1), $client);
    show('three', $client->recv(1), $client);
    $server->close();

    $paths = [];
    foreach ([1, 2] as $i) {
        $ends[$i] = new Socket(Apus\AF_UNIX, Apus\SOCK_DGRAM);
        $ends[$i]->bind($paths[$i] = sys_get_temp_dir() . "/apus-dgram-$i-" . getmypid());
    }
    show('unix', $ends[1]->sendto($paths[2], 0, 'hi'), $ends[1]);
    show('unix', $ends[2]->recvfrom($peer), $ends[2]);
    var_dump($peer === ['address' => $paths[1], 'port' => 0]);
    array_map('unlink', $paths);
    try {
        (new Client(Apus\SOCK_TCP))->sendto('127.0.0.1', 1, 'x');
    } catch (Apus\Client\Exception $e) {
        echo $e->getCode(), ' ', $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
sendto: 3
recvfrom: "cba"
bool(true)
late: false [110 Connection timed out]
large: 60000
bool(true)
too large: false [90 Message too long]
empty: 0
empty: ""
client sendto: true
client recvfrom: "fe"
string(9) "127.0.0.1"
bool(true)
bool(false)
connect: true
send: 3
recv: "ihg"
alive: true
one: "a"
two: "bb"
three: "ccc"
unix: 2
unix: "hi"
bool(true)
303 sendto() is for clients of datagrams (SOCK_UDP, SOCK_UDP6, UNIX_DGRAM): use send() on a connection
