--TEST--
Swoole\Coroutine\Http2\Client: read() gives an answer as it comes, recv() the whole of it; fields come with the first piece
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'open_http2_protocol' => true, 'log_level' => SWOOLE_LOG_ERROR]);
$go_on = new Swoole\Coroutine\Channel(1);
$server->on('request', function ($request, $response) use ($go_on) {
    $response->header('x-first', 'yes');
    $response->trailer('x-last', 'yes');
    $response->write('one ');
    $go_on->pop(20);
    $response->write('two ');
    $go_on->pop(20);
    $response->end('three');
});
$server->on('workerstart', fn () => go(function () use ($server, $go_on) {
    $client = new Swoole\Coroutine\Http2\Client('127.0.0.1', $server->port);
    $client->connect();
    $show = fn ($response) => print(json_encode([
        $response->pipeline, $response->data, isset($response->headers['x-first']), isset($response->headers['x-last']),
    ]) . "\n");
    $client->send(new Swoole\Http2\Request());
    foreach (range(1, 2) as $_) {
        $show($client->read(20));
        $go_on->push(true);
    }
    while ($show($response = $client->read(20)) && $response->pipeline);
    $client->send(new Swoole\Http2\Request());
    $go_on->push(true);
    go(fn () => $go_on->push(true));
    $show($client->recv(20));
    // What has begun by pieces may be received as a whole.
    $client->send(new Swoole\Http2\Request());
    $show($client->read(20));
    $go_on->push(true);
    go(fn () => $go_on->push(true));
    $show($client->recv(20));
    $server->shutdown();
}));
$server->start();
?>
--EXPECT--
[true,"one ",true,false]
[true,"two ",false,false]
[true,"three",false,false]
[false,"",false,true]
[false,"one two three",true,true]
[true,"one ",true,false]
[false,"two three",false,true]
