--TEST--
Coroutine\Client: connecting, its states and properties, errors, exportSocket()
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{Client, Socket};
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
run(function () {
    $server = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $server->bind('127.0.0.1');
    $server->listen();
    $port = $server->getsockname()['port'];
    go(function () use ($server) {
        while ($peer = $server->accept()) {
            go(function () use ($peer) {
                while (($data = $peer->recv()) !== '' && $data !== false && $data !== 'bye') {
                    $peer->sendAll($data);
                }
                $peer->close();
            });
        }
    });
    $client = new Client(Apus\SOCK_TCP);
    echo json_encode($client), "\n";
    show('send', $client->send('x'), $client);
    show('recv', $client->recv(), $client);
    show('close', $client->close(), $client);
    show('refused', $client->connect('127.0.0.1', 1), $client);
    show('no such name', $client->connect('no.such.invalid', 80), $client);
    show('no such name', $client->connect("bad\0name", 80), $client);
    show('connect', $client->connect('localhost', $port), $client);
    var_dump($client->connected, $client->fd > 2, $client->isConnected());
    show('connect', $client->connect('127.0.0.1', $port), $client);
    show('nothing yet', $client->recv(0.01), $client);
    show('send', $client->send('hello'), $client);
    show('recv', $client->recv(), $client);
    var_dump($client->getpeername() === ['host' => '127.0.0.1', 'address' => '127.0.0.1', 'port' => $port]);
    var_dump(array_keys($client->getsockname()) === ['host', 'address', 'port']);

    $socket = $client->exportSocket();
    var_dump($socket === $client->exportSocket(), $socket === $client->socket, $socket->fd === $client->fd);
    $socket->send('by the socket');
    show('recv', $client->recv(), $client);

    $id = go(fn() => show('closed meanwhile', $client->recv(), $client));
    show('close', $client->close(), $client);
    Coroutine::join([$id]);
    var_dump($client->connected, $client->fd, $client->socket, $socket->isClosed());

    $client->set(['open_eof_check' => true, 'package_eof' => "\n", 'timeout' => 5]);
    show('again', $client->connect('127.0.0.1', $port), $client);
    $client->send("a\nbb\n");
    show('message', $client->recv(), $client);
    show('message', $client->recv(), $client);
    $client->send('bye');
    show('end', $client->recv(), $client);
    var_dump($client->connected, $client->isConnected());
    $client->close();

    // Connecting is cut short by close().
    $full = new Socket(Apus\AF_UNIX, Apus\SOCK_STREAM);
    $full->bind($path = sys_get_temp_dir() . '/apus-client-full-' . getmypid());
    $full->listen(0);
    $queued = new Client(Apus\UNIX_STREAM);
    show('queued', $queued->connect($path), $queued);
    $late = new Client(Apus\UNIX_STREAM);
    $id = go(fn() => show('connecting', $late->connect($path, 0, 10), $late));
    Coroutine::sleep(0.01);
    try {
        $late->connect($path);
    } catch (Apus\Coroutine\ConflictException $e) {
        echo strstr($e->getMessage(), ' was', true), "\n";
    }
    $late->close();
    Coroutine::join([$id]);
    $full->accept();
    show('anew', $late->connect($path), $late);
    unlink($path);
    $server->close();
    foreach ([99, Apus\SOCK_UDP | Apus\SSL] as $type) {
        try {
            new Client($type);
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
    try {
        $client->connect('127.0.0.1', 70000);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECTF--
{"errCode":0,"errMsg":"","fd":-1,"socket":null,"type":1,"setting":null,"connected":false}
send: false [5001 the client is not connected: call connect() first]
recv: false [5001 the client is not connected: call connect() first]
close: false [5001 the client is not connected: call connect() first]
refused: false [111 Connection refused]
no such name: false [711 the name "no.such.invalid" could not be resolved: %s]
no such name: false [711 "bad\0name" is no host name]
connect: true
bool(true)
bool(true)
bool(true)
connect: false [106 the client is connected already: close() it first]
nothing yet: false [110 Connection timed out]
send: 5
recv: "hello"
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
recv: "by the socket"
close: true
closed meanwhile: false [125 Operation canceled]
bool(false)
int(-1)
NULL
bool(true)
again: true
message: "a\n"
message: "bb\n"
end: ""
bool(true)
bool(false)
queued: true
Coroutine\Client::connect() in coroutine 1
connecting: false [125 Operation canceled]
anew: true
Apus\Coroutine\Client::__construct(): Argument #1 ($type) must be Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM, of streams with Apus\SSL if wanted, 99 given
Apus\Coroutine\Client::__construct(): Argument #1 ($type) must be Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM, of streams with Apus\SSL if wanted, 514 given
Apus\Coroutine\Client::connect(): Argument #2 ($port) must be a port between 0 and 65535, 70000 given
