--TEST--
Swoole\Http2\Response: of several header fields of one name it has the last, of cookies all
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['open_http2_protocol' => true, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('request', function ($request, $response) {
    $response->header('X-Id', ['first', 'last']);
    $response->cookie('a', '1');
    $response->cookie('b', '2');
    $response->end();
});
$server->on('workerstart', function (Swoole\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http2\Client('127.0.0.1', $server->port);
        $client->connect();
        $client->send(new Swoole\Http2\Request());
        $answer = $client->recv(10);
        echo json_encode([$answer->headers['x-id'], $answer->cookies, count($answer->set_cookie_headers)]), "\n";
        $client->close();
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
["last",{"a":"1","b":"2"},2]
