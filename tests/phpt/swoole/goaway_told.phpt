--TEST--
Swoole\Coroutine\Http2\Client: what a server says with GOAWAY is in $errCode, $errMsg and $serverLastStreamId
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'open_http2_protocol' => true, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('request', function ($request, $response) {
    if ($request->get) {
        $response->goaway((int) $request->get['code'], $request->get['text']);
    }
    $response->end('answered');
});
$server->on('workerstart', fn () => go(function () use ($server) {
    foreach (['/', '/?code=0&text=come+again', '/?code=11&text=calm'] as $path) {
        $client = new Swoole\Coroutine\Http2\Client('127.0.0.1', $server->port);
        $client->connect();
        $request = new Swoole\Http2\Request();
        $request->path = $path;
        $stream = $client->send($request);
        $client->recv(20);
        var_dump($client->serverLastStreamId === $stream, $client->errCode, $client->errMsg);
    }
    $server->shutdown();
}));
$server->start();
?>
--EXPECT--
bool(true)
int(0)
string(0) ""
bool(true)
int(0)
string(10) "come again"
bool(true)
int(11)
string(4) "calm"
