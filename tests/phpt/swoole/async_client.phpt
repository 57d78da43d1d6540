--TEST--
Swoole\Async\Client: callbacks of connect, receive, error and close; sleep() and wakeup(); a buffer that is full and empty again
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Async\Client;

$listener = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) explode(':', stream_socket_get_name($listener, false))[1];

/** A client with callbacks that say what they are told. */
function client(string $name, array $on): Client
{
    $client = new Client(SWOOLE_SOCK_TCP);
    foreach ($on + array_fill_keys(['connect', 'receive', 'error', 'close'], null) as $event => $callback) {
        $client->on($event, function (Client $client, string ...$data) use ($name, $event, $callback) {
            echo "$name: $event ", implode('', $data), "\n";
            $callback && $callback($client);
        });
    }
    return $client;
}

go(function () use ($listener) {
    $peer = stream_socket_accept($listener);
    echo 'server: ', fread($peer, 100), "\n";
    fwrite($peer, 'answer');
    $rest = fread($peer, 100);
    echo 'server: end ', json_encode($rest), "\n";
});
$first = client('first', [
    'connect' => function (Client $client) {
        var_dump($client->isConnected(), $client->sleep(), $client->send('question'), $client->getpeername()['host']);
        Swoole\Timer::after(50, function () use ($client) {
            echo "wakes\n";
            var_dump($client->wakeup());
        });
    },
    'receive' => function (Client $client) {
        var_dump($client->close(), $client->isConnected(), @$client->send('late'), $client->errCode, @$client->close());
    },
]);
var_dump($first->connect('127.0.0.1', $port), @$first->connect('127.0.0.1', $port), @$first->on('nonsense', 'var_dump'));
Swoole\Event::wait();

echo "-- nobody is there\n";
$free = stream_socket_server('tcp://127.0.0.1:0');
$unused = (int) explode(':', stream_socket_get_name($free, false))[1];
fclose($free);
$refused = client('refused', []);
var_dump($refused->connect('127.0.0.1', $unused));
Swoole\Event::wait();
var_dump($refused->errCode === SOCKET_ECONNREFUSED, $refused->isConnected());

echo "-- the other side ends, after it has read much\n";
go(function () use ($listener) {
    $peer = stream_socket_accept($listener);
    Swoole\Coroutine::sleep(0.05);
    for ($read = 0; $read < 8 << 20 && ($part = fread($peer, 65536)) !== ''; $read += strlen($part));
    echo 'server: ', $read >> 20, " MiB\n";
});
$sent = 0;
$told = [];
$much = client('much', [
    'connect' => function (Client $client) use (&$sent, &$told) {
        $client->on('bufferFull', function () use (&$told) {
            $told['full'] = true;
        });
        $client->on('bufferEmpty', function (Client $client) use (&$sent, &$told) {
            $told['empty'] ??= $client->send(str_repeat('x', (8 << 20) - $sent)) > 0;
        });
        $part = str_repeat('x', 1 << 20);
        while (@$client->send($part)) {
            $sent += 1 << 20;
        }
        var_dump($client->errCode === SWOOLE_ERROR_OUTPUT_BUFFER_OVERFLOW, $sent >= 2 << 20);
    },
]);
$much->set(['socket_buffer_size' => 2 << 20]);
$much->connect('127.0.0.1', $port);
Swoole\Event::wait();
echo json_encode($told), "\n";

$bare = new Client(SWOOLE_SOCK_TCP);
try {
    $bare->connect('127.0.0.1', $port);
} catch (Swoole\Client\Exception $exception) {
    echo $exception->getMessage(), "\n";
}
?>
--EXPECT--
bool(true)
bool(false)
bool(false)
first: connect 
bool(true)
bool(true)
int(8)
string(9) "127.0.0.1"
server: question
wakes
bool(true)
first: receive answer
first: close 
bool(true)
bool(false)
bool(false)
int(107)
bool(false)
server: end ""
-- nobody is there
bool(true)
refused: error 
bool(true)
bool(false)
-- the other side ends, after it has read much
much: connect 
bool(true)
bool(true)
server: 8 MiB
much: close 
{"full":true,"empty":true}
the callback of the event connect is missing: call on() before
