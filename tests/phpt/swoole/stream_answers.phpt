--TEST--
Swoole\Http\Response::create() on a connection of a stream port
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('receive', function (Swoole\Server $server, int $fd, int $reactor, string $data) {
    $response = Swoole\Http\Response::create($server, $fd);
    $response->status(201);
    $response->header('X-Asked', strtok($data, ' '));
    var_dump($response->end('by hand'), Swoole\Http\Response::create($server, 999));
});
$server->on('workerstart', function (Swoole\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->get('/');
        echo $client->statusCode, ' ', $client->body, ' ', $client->headers['x-asked'], "\n";
        $client->close();
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
bool(true)
bool(false)
201 by hand GET
