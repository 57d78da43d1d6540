--TEST--
Swoole\Coroutine\Http\Client: a server may answer before it has the request; a kept connection that it closes is a failure
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Http\Client;
use Swoole\Coroutine\Socket;

Swoole\Coroutine\run(function () {
    $server = new Socket(AF_INET, SOCK_STREAM, 0);
    $server->bind('127.0.0.1', 0);
    $server->listen();
    go(function () use ($server) {
        $peer = $server->accept(20);
        // At once, before anything was read.
        $peer->send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly");
        $peer->recv(65536, 20);
        // The second request on this connection gets no answer.
        $peer->recv(65536, 20);
        $peer->close();
        // Nor is it asked again.
        var_dump($server->accept(0.1));
        $peer = $server->accept(20);
        $peer->recv(65536, 20);
        $peer->send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
        $server->close();
    });
    $client = new Client('127.0.0.1', $server->getsockname()['port']);
    // The server's bytes are there before the request is.
    Swoole\Coroutine::sleep(0.01);
    var_dump($client->get('/'), $client->body);
    var_dump($client->get('/'), $client->statusCode === SWOOLE_HTTP_CLIENT_ESTATUS_SERVER_RESET);
    Swoole\Coroutine::sleep(0.2);
    var_dump($client->get('/'), $client->body);
});
?>
--EXPECT--
bool(true)
string(5) "early"
bool(false)
bool(true)
bool(false)
bool(true)
string(4) "late"
