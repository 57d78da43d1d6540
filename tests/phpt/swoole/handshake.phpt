--TEST--
Swoole\WebSocket\Server: beforehandshakeresponse adds to the answer; ping() and disconnect() of a response
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\WebSocket\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('beforeHandshakeResponse', function (Swoole\WebSocket\Server $server, $request, $response) {
    $response->cookie('a', 'b');
    return false;
});
var_dump($server->getCallback('BEFOREHANDSHAKERESPONSE') !== null);
$server->on('open', fn ($server, $request) => $server->push($request->fd, $request->server['request_uri']));
$server->on('message', fn () => null);
$server->on('workerstart', function (Swoole\WebSocket\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        var_dump($client->upgrade('/path'), $client->set_cookie_headers, $client->recv(5)->data);
        $server->shutdown();
    });
});
$server->start();

Swoole\Coroutine\run(function () {
    $server = new Swoole\Coroutine\Http\Server('127.0.0.1', 0);
    $server->handle('/', function ($request, Swoole\Http\Response $response) {
        if ($request->server['server_protocol'] === 'HTTP/2') {
            $response->end('over HTTP/2');
            return;
        }
        var_dump(@$response->disconnect(1000));
        $response->upgrade();
        var_dump($response->ping('are you there'), $response->ping(), @$response->disconnect(99999));
        $response->recv(5);
        var_dump($response->disconnect(4000, 'go away'));
    });
    go(fn () => $server->start());
    $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
    $client->set(['open_websocket_ping_frame' => true, 'open_websocket_close_frame' => true]);
    $client->upgrade('/');
    var_dump($client->recv(5)->data, $client->recv(5)->data);
    $client->push('enough');
    $frame = $client->recv(5);
    var_dump($frame->code, $frame->reason);

    // HTTP/2 needs no setting.
    $client = new Swoole\Coroutine\Http2\Client('127.0.0.1', $server->port);
    $client->connect();
    $client->send(new Swoole\Http2\Request());
    var_dump($client->recv(5)->data);
    $server->shutdown();
});
?>
--EXPECT--
bool(true)
bool(true)
array(1) {
  [0]=>
  string(3) "a=b"
}
string(5) "/path"
bool(false)
bool(true)
bool(true)
bool(false)
string(13) "are you there"
string(0) ""
bool(true)
int(4000)
string(7) "go away"
string(11) "over HTTP/2"
