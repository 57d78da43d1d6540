--TEST--
Swoole\Coroutine\Http\Client: events of a stream without a length are read from $socket; a server sends them with send()
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Http\Client;

$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$closed = new Swoole\Coroutine\Channel(2);
$server->on('request', function ($request, $response) use ($server) {
    $response->header('Content-Type', 'text/event-stream');
    $response->header('Content-Length', '');
    $response->end();
    foreach (range(1, 3) as $number) {
        Co::sleep(0.001);
        $server->send($response->fd, "data: $number\n\n");
    }
});
$server->on('close', fn () => $closed->push(true));
$server->on('workerstart', fn () => go(function () use ($server, $closed) {
    $client = new Client('127.0.0.1', $server->port);
    var_dump($client->get('/'), $client->statusCode, $client->body, $client->connected);
    var_dump(isset($client->headers['content-length']), isset($client->headers['transfer-encoding']));
    foreach (range(1, 3) as $_) {
        echo json_encode($client->socket->recvLine() . $client->socket->recvLine()), "\n";
    }
    // Another request has a connection of its own, and ends the stream.
    $stream = $client->socket;
    var_dump($client->get('/'), $client->socket === $stream, $stream->isClosed(), $closed->pop(20));
    echo json_encode($client->socket->recvLine()), "\n";
    $client->close();
    var_dump($closed->pop(20));
    $server->shutdown();
}));
$server->start();
?>
--EXPECT--
bool(true)
int(200)
string(0) ""
bool(true)
bool(false)
bool(false)
"data: 1\n\n"
"data: 2\n\n"
"data: 3\n\n"
bool(true)
bool(false)
bool(true)
bool(true)
"data: 1\n"
bool(true)
