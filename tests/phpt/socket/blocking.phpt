--TEST--
Client: outside coroutines it blocks, inside one it lets the others run
--FILE--
<?php
use Apus\Client;
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
// The kernel makes the connection before anybody accepts it.
$listener = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
$client = new Client(Apus\SOCK_TCP);
show('not connected', $client->send('x'), $client);
show('refused', $client->connect('127.0.0.1', 1), $client);
show('no such name', (bool) $client->connect('no.such.invalid', 1), $client);
show('connect', $client->connect('localhost', $port, 0.05), $client);
show('again', $client->connect('localhost', $port, 0.05), $client);
$peer = stream_socket_accept($listener);
show('nothing', $client->recv(), $client);
show('nothing now', $client->recv(5, Client::MSG_DONTWAIT), $client);
fwrite($peer, 'hello world');
show('look', $client->recv(5, Client::MSG_PEEK), $client);
show('look at all', $client->recv(11, Client::MSG_PEEK | Client::MSG_WAITALL), $client);
show('five', $client->recv(5), $client);
show('too many', $client->recv(100, Client::MSG_WAITALL), $client);
fwrite($peer, 'now');
show('now', $client->recv(3, Client::MSG_DONTWAIT), $client);
show('send', $client->send('to you'), $client);
var_dump(fread($peer, 100));
$sent = $client->send(str_repeat('x', 50_000_000));
var_dump($sent > 0 && $sent < 50_000_000, $client->errCode);
var_dump($client->isConnected(), $client->sock > 2);
show('file', $client->close() && $client->connect('127.0.0.1', $port) && $client->sendfile(__FILE__, 0, 5), $client);
$peer = stream_socket_accept($listener);
var_dump(fread($peer, 100));
show('no file', $client->sendfile(__FILE__ . '.none'), $client);
$client->set(['open_length_check' => true, 'package_length_type' => 'n', 'package_body_offset' => 2, 'package_max_length' => 10]);
fwrite($peer, "\0\2hi\0\1!\0\x63");
show('message', $client->recv(), $client);
show('message', $client->recv(), $client);
show('message', $client->recv(), $client);
var_dump($client->isConnected(), $client->sock, $client->close());
show('end writing', $client->connect('127.0.0.1', $port) && $client->shutdown(Client::SHUT_WR), $client);
$peer = stream_socket_accept($listener);
var_dump(fread($peer, 1));
fclose($peer);
show('end', $client->recv(), $client);

foreach ([
    fn() => new Client(1, true),
    fn() => new Client(77),
    fn() => $client->recv(1, 4096),
    fn() => $client->recv(0),
    fn() => $client->enableSSL(fn() => 1),
] as $wrong) {
    try {
        $wrong();
    } catch (Throwable $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}

run(function () use ($listener, $port) {
    $client = new Client(Apus\SOCK_TCP);
    $client->connect('127.0.0.1', $port, 10);
    $peer = stream_socket_accept($listener);
    go(function () use ($peer) {
        echo "another coroutine\n";
        fwrite($peer, 'for you');
    });
    $id = go(fn() => show('in a coroutine', $client->recv(), $client));
    Apus\Coroutine::join([$id]);
    go(fn() => $client->recv());
    try {
        $client->recv();
    } catch (Apus\Coroutine\ConflictException $e) {
        echo strstr($e->getMessage(), ' was', true), "\n";
    }
    $client->close();
});
?>
--EXPECTF--
not connected: false [5001 the client is not connected: call connect() first]
refused: false [111 Connection refused]
no such name: false [711 the name "no.such.invalid" could not be resolved: %s]
connect: true
again: false [106 the client is connected already: close() it first]
nothing: false [110 Connection timed out]
nothing now: false [11 Resource temporarily unavailable]
look: "hello"
look at all: "hello world"
five: "hello"
too many: " world" [110 Connection timed out]
now: "now"
send: 6
string(6) "to you"
bool(true)
int(110)
bool(true)
bool(true)
file: true
string(5) "<?php"
no file: false [2 No such file or directory]
message: "\u0000\u0002hi"
message: "\u0000\u0001!"
message: false [1201 the peer sends a message of 101 bytes, package_max_length allows 10; the connection was closed]
bool(false)
int(-1)
bool(false)
end writing: true
string(0) ""
end: ""
Apus\Client\Exception: there is no asynchronous Client with callbacks: use Apus\Coroutine\Client in a coroutine
ValueError: Apus\Client::__construct(): Argument #1 ($type) must be Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, UNIX_STREAM or UNIX_DGRAM, of streams with Apus\SSL if wanted, 77 given
ValueError: Apus\Client::recv(): Argument #2 ($flag) must be a sum of this class's MSG_ constants, 4096 given
ValueError: Apus\Client::recv(): Argument #1 ($size) must be 1 or more bytes, 0 given
ValueError: Apus\Client::enableSSL(): Argument #1 ($onSslReady) must be null: the handshake is done when enableSSL() returns
another coroutine
in a coroutine: "for you"
Client::recv() in coroutine 1
