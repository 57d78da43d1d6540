--TEST--
A worker serves while its workerstart waits for what only its own requests bring, and gets what comes of it later
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$channel = new Swoole\Coroutine\Channel();
$server->on('workerstart', function () use ($server, $channel) {
    go(function () use ($server, $channel) {
        echo Swoole\Coroutine\Http\get("http://127.0.0.1:$server->port/one")->getBody(), "\n";
        $channel->push('an answer');
    });
    $got = $channel->pop();
    echo "workerstart got $got\n";
    $server->shutdown();
});
$server->on('request', fn ($request, $response) => $response->end("answered {$request->server['request_uri']}"));
$server->start();
?>
--EXPECT--
answered /one
workerstart got an answer
