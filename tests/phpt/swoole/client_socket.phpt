--TEST--
Swoole\Coroutine\Http\Client: $socket is the connection; a deferred request has it at once; closed, it ends the connection
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Http\Client;
use Swoole\Coroutine\Socket;

$server = new Swoole\WebSocket\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('request', fn ($request, $response) => $response->end($request->server['remote_port']));
$server->on('message', fn () => null);
$server->on('workerstart', fn () => go(function () use ($server) {
    $client = new Client('127.0.0.1', $server->port);
    var_dump($client->socket);
    $client->setDefer();
    var_dump($client->get('/'), $client->socket instanceof Socket, $client->socket->getpeername()['port'] === $server->port);
    $socket = $client->socket;
    $client->recv();
    var_dump($client->socket === $socket, $client->body == $socket->getsockname()['port'], $socket->fd > 2);
    $client->setDefer(false);
    $client->get('/');
    echo "kept: ";
    var_dump($client->socket === $socket && $client->body == $socket->getsockname()['port']);

    var_dump($socket->close(), $client->get('/'), $client->statusCode, $client->socket === $socket);
    $last = $client->socket;
    $client->close();
    var_dump($client->socket, $last->isClosed());

    echo "WebSocket\n";
    $client = new Client('127.0.0.1', $server->port);
    $client->upgrade('/');
    $waiter = go(function () use ($client) {
        var_dump($client->recv());
    });
    var_dump($client->socket->close(), $client->push('x'), $client->errCode === SWOOLE_ERROR_CLIENT_NO_CONNECTION);
    Swoole\Coroutine::join([$waiter]);
    var_dump($client->recv(), $client->errCode === SWOOLE_ERROR_CLIENT_NO_CONNECTION);

    echo "nobody there\n";
    $free = stream_socket_server('tcp://127.0.0.1:0');
    $port = (int) substr(strrchr(stream_socket_get_name($free, false), ':'), 1);
    fclose($free);
    $client = new Client('127.0.0.1', $port);
    $client->setDefer();
    var_dump($client->get('/'), $client->errCode === SOCKET_ECONNREFUSED, $client->statusCode, $client->socket);
    $server->shutdown();
}));
$server->start();
?>
--EXPECT--
NULL
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
kept: bool(true)
bool(true)
bool(true)
int(200)
bool(false)
NULL
bool(true)
WebSocket
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
bool(true)
nobody there
bool(false)
bool(true)
int(-1)
NULL
