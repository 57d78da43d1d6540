--TEST--
Swoole\Server: close() of what is being closed is false; what ends without an answer is no line in the log
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['worker_num' => 1, 'open_eof_split' => true, 'package_eof' => "\n"]);
$http = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP);
$http->set(['open_http_protocol' => true]);
$http->on('request', fn ($request, $response) => null);
$server->on('receive', function ($server, $fd, $reactor, $data) {
    // More than the client's and the server's kernel take while nobody reads.
    $server->send($fd, str_repeat('x', 7 << 20));
    echo json_encode([
        $server->close($fd), $server->close($fd), swoole_last_error() === SWOOLE_ERROR_SESSION_CLOSED,
        $server->close($fd, true),
    ]), "\n";
});
$server->on('start', function ($server) use ($http) {
    go(function () use ($server, $http) {
        $client = new Swoole\Coroutine\Client(SWOOLE_SOCK_TCP);
        $client->connect('127.0.0.1', $server->port, 5);
        $client->send("go\n");
        Co::sleep(0.05);
        while (strlen((string) $client->recv(5)) > 0) {
        }
        $web = new Swoole\Coroutine\Http\Client('127.0.0.1', $http->port);
        $web->get('/');
        echo $web->statusCode, "\n";
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
[true,false,true,true]
500
