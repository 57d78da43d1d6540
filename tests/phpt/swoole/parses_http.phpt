--TEST--
Swoole\Server with open_http_protocol and no request callback: receive gets the bytes, and the program parses them
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Http\Request;
use Swoole\Http\Response;

$server = new Swoole\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['open_http_protocol' => true]);
$server->on('receive', function (Swoole\Server $server, int $fd, int $reactor, string $data) {
    $request = Request::create();
    var_dump($request->parse($data) === strlen($data), $request->isCompleted());
    $response = Response::create([$server, $request], $fd);
    $response->header('X-Server', 'own');
    $response->end('you asked for ' . $request->server['request_uri']);
    var_dump($request->fd === $fd);
});
$server->on('workerstart', function (Swoole\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        var_dump($client->get('/path'), $client->headers['x-server'], $client->body);
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
string(3) "own"
string(19) "you asked for /path"
