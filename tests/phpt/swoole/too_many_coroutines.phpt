--TEST--
Swoole\Http\Server: a request for whose handler there is no coroutine left is answered 503, and warnings tell of it
--INI--
apus.swoole_compat=1
html_errors=0
--FILE--
<?php
// Set for coroutines before the server is made, it holds in the server, too.
Swoole\Coroutine::set(['max_coroutine' => 3]);
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('workerstart', function () use ($server) {
    $ask = fn () => (new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port));
    // This one, another that only waits, and a third for the handler.
    $waiting = go(fn () => Swoole\Coroutine::yield());
    go(function () use ($server, $ask, $waiting) {
        foreach ([503, 200] as $expected) {
            $client = $ask();
            $client->get('/');
            echo $client->statusCode, "\n";
            $expected === 503 && Swoole\Coroutine::resume($waiting);
        }
        $server->shutdown();
    });
    Swoole\Coroutine::yield();
});
$server->on('request', fn ($request, $response) => $response->end('handled'));
$server->start();
?>
--EXPECTF--
Warning: Swoole\Server::start(): exceed max number of coroutine 3 in %s on line %d

Warning: Swoole\Server::start(): Swoole\Http\Server->onRequest handler error in %s on line %d
503
200
