--TEST--
Swoole\Coroutine\Http2\MultiplexClient: many coroutines over one connection, late answers, close() and idle closing
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;
use Swoole\Coroutine\Channel;
use Swoole\Coroutine\Http2\MultiplexClient;
use Swoole\Http2\Request;

function request(string $path, string $data): Request
{
    $request = new Request();
    [$request->method, $request->path, $request->data] = ['POST', $path, $data];
    return $request;
}

Coroutine\run(function () {
    $held = new Channel(8);
    $closed = new Channel(1);
    $server = new Coroutine\Http\Server('127.0.0.1', 0);
    $server->set(['open_http2_protocol' => true]);
    $server->handle('/', fn ($request, $response) => $response->end($request->getContent()));
    $server->handle('/held', function ($request, $response) use ($held) {
        $held->pop();
        $response->end($request->getContent());
    });
    Coroutine::create(fn () => $server->start());

    $client = new MultiplexClient('127.0.0.1', $server->port);
    $client->set(['timeout' => 5]);
    $answers = Coroutine\map(range(1, 20), fn (int $i) => $client->request(request('/', "answer $i"))->data);
    var_dump($answers === array_map(fn (int $i) => "answer $i", range(1, 20)), $client->connected);

    // What comes late goes to nobody.
    var_dump($client->request(request('/held', 'late'), 0.01), $client->errCode === SWOOLE_ERROR_CO_TIMEDOUT);
    $held->push(true);
    var_dump($client->request(request('/', 'next'))->data);

    // Who waits while the client is closed gets false.
    Coroutine::create(function () use ($client, $closed) {
        $closed->push([$client->request(request('/held', 'x')), $client->errCode === SWOOLE_ERROR_CLIENT_NO_CONNECTION]);
    });
    Coroutine::sleep(0.01);
    var_dump($client->close(), $client->close());
    echo json_encode($closed->pop()), "\n";
    $held->push(true);
    var_dump($client->request(request('/', 'again'))->data);
    $client->close();

    $idle = new MultiplexClient('127.0.0.1', $server->port);
    $idle->set(['heartbeat_check_interval' => 0.005, 'heartbeat_idle_time' => 0.01]);
    $idle->request(request('/', 'x'));
    while ($idle->connected) {
        Coroutine::sleep(0.005);
    }
    var_dump($idle->request(request('/', 'woken'))->data);
    $idle->close();
    foreach (['recv' => [], 'read' => [], 'write' => [1, 'x'], 'goaway' => []] as $method => $args) {
        try {
            $idle->$method(...$args);
        } catch (BadMethodCallException $exception) {
            echo "$method() is not for those who share\n";
        }
    }
    $server->shutdown();
});
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
bool(true)
string(4) "next"
bool(true)
bool(false)
[false,true]
string(5) "again"
string(5) "woken"
recv() is not for those who share
read() is not for those who share
write() is not for those who share
goaway() is not for those who share
