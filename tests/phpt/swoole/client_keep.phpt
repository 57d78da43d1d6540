--TEST--
Swoole\Client: with SWOOLE_KEEP closing leaves the connection to the next client, unless it is forced or gone
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1);
$client = function (int $flags = SWOOLE_KEEP, string $id = '') use ($port) {
    $client = new Swoole\Client(SWOOLE_SOCK_TCP | SWOOLE_SYNC | $flags, SWOOLE_SOCK_SYNC, $id);
    var_dump($client->connect('127.0.0.1', $port, 5));
    return $client;
};
$names = fn ($client) => $client->getsockname()['port'];

$first = $client();
$peer = stream_socket_accept($server);
$name = $names($first);
var_dump($first->reuse, $first->close(), $first->sock, $first->isConnected());

$second = $client();
var_dump($second->reuse, $second->reuseCount, $names($second) === $name);
$second->send('hello');
var_dump(fread($peer, 5));
// Two at once are two.
$other = $client();
stream_socket_accept($server);
var_dump($other->reuse, $names($other) === $name);
$other->close(true);

// Another id, and a client without the flag, have their own.
$second->close();
$named = $client(SWOOLE_KEEP, 'mine');
$plain = $client(0);
var_dump($named->reuse, $plain->reuse);
$named->close();
$plain->close();

// What the server has closed is not taken up.
fclose($peer);
$third = $client();
var_dump($third->reuse, $third->reuseCount);
$third->close(true);
$fourth = $client(SWOOLE_KEEP, 'mine');
var_dump($fourth->reuse, $fourth->reuseCount);

// A child does not use the connections of its parent.
$fourth->close();
$process = new Swoole\Process(function ($process) use ($client) {
    ob_start();
    $reuse = $client(SWOOLE_KEEP, 'mine')->reuse;
    ob_end_clean();
    $process->write(var_export($reuse, true));
});
$process->start();
echo $process->read(), "\n";
Swoole\Process::wait();
?>
--EXPECT--
bool(true)
bool(false)
bool(true)
int(-1)
bool(false)
bool(true)
bool(true)
int(1)
bool(true)
string(5) "hello"
bool(true)
bool(false)
bool(false)
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
bool(false)
int(0)
bool(true)
bool(true)
int(1)
false
