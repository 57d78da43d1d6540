--TEST--
Content-Length is told as the program wrote it where it is right; an empty one is not told over HTTP/2
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'open_http2_protocol' => true, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('request', function ($request, $response) {
    $response->header('Content-Length', $request->get['length']);
    $response->end($request->get['body']);
});
$server->on('workerstart', fn () => go(function () use ($server) {
    $http2 = new Swoole\Coroutine\Http2\Client('127.0.0.1', $server->port);
    $http2->connect();
    $http1 = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
    foreach (['0000004', '', '5', '00'] as $length) {
        $path = "/?body=body&length=$length";
        $request = new Swoole\Http2\Request();
        $request->path = $path;
        $http2->send($request);
        $response = $http2->recv();
        $http1->get($path);
        echo json_encode([
            $length, $response->data, $response->headers['content-length'] ?? null,
            $http1->body, $http1->headers['content-length'] ?? null,
        ]), "\n";
    }
    $server->shutdown();
}));
$server->start();
?>
--EXPECT--
["0000004","body","0000004","body","0000004"]
["","body",null,"body","4"]
["5","body","4","body","4"]
["00","body","4","body","4"]
