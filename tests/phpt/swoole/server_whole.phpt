--TEST--
Swoole\Http\Server: max_concurrency is that of all workers together; server_addr is the address that was reached
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('0.0.0.0', 0, SWOOLE_PROCESS);
$server->set(['worker_num' => 2, 'max_concurrency' => 2, 'log_level' => SWOOLE_LOG_NONE, 'enable_coroutine' => true]);
$go_on = new Swoole\Atomic;
$held = new Swoole\Atomic;
$server->on('request', function ($request, $response) use ($go_on, $held) {
    if ($request->server['request_uri'] === '/hold') {
        $held->add();
        $go_on->wait(-1);
        $go_on->wakeup();
    }
    $response->end($request->server['server_addr']);
});
$server->on('start', function ($server) use ($go_on, $held) {
    go(function () use ($server, $go_on, $held) {
        $get = function (string $path, string $host = '127.0.0.1') use ($server) {
            $client = new Swoole\Coroutine\Http\Client($host, $server->port);
            $client->get($path);
            return [$client->statusCode, $client->statusCode === 200 ? $client->body : ''];
        };
        $answers = new Chan(2);
        for ($i = 0; $i < 2; $i++) {
            go(fn () => $answers->push($get('/hold')));
        }
        while ($held->get() < 2) {
            Co::sleep(0.002);
        }
        // Whichever worker has it, and however many of those it holds.
        for ($i = 0; $i < 6; $i++) {
            echo $get('/')[0], ' ';
        }
        $go_on->wakeup();
        echo json_encode([$answers->pop(), $answers->pop()]), "\n";
        echo json_encode([$get('/'), $get('/', '127.0.0.2')]), "\n";
        $server->shutdown();
    });
});
$server->start();

Co\run(function () {
    $cid = Co::getCid();
    go(function () use ($cid) {
        Co::sleep(0.001);
        Co::cancel($cid);
    });
    var_dump(Co\System::waitSignal(SIGUSR2), swoole_last_error() === SWOOLE_ERROR_CO_CANCELED);
});
?>
--EXPECT--
503 503 503 503 503 503 [[200,"127.0.0.1"],[200,"127.0.0.1"]]
[[200,"127.0.0.1"],[200,"127.0.0.2"]]
bool(false)
bool(true)
