--TEST--
Swoole\Server: getWorkerStatus() and idle_worker_num know of callbacks of streams, datagrams and WebSockets
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach ([true, false] as $in_coroutine) {
    $server = new Swoole\WebSocket\Server('127.0.0.1', 0);
    $stream = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP);
    $stream->set(['open_http_protocol' => false, 'open_websocket_protocol' => false]);
    $udp = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_UDP);
    $server->set(['worker_num' => 1, 'enable_coroutine' => $in_coroutine, 'blocked_loop_warn' => 0]);
    $tell = function (string $what) use ($server) {
        echo $what, ' ', json_encode([$server->getWorkerStatus(), $server->stats()['idle_worker_num']]), "\n";
    };
    $stream->on('receive', function ($server, $fd) use ($tell) {
        Swoole\Coroutine::getCid() > 0 && Swoole\Coroutine::sleep(0.001);
        $tell('receive');
        $server->send($fd, 'done');
    });
    $server->on('packet', function ($server, $data, $client) use ($tell) {
        $tell('packet');
        $server->sendto($client['address'], $client['port'], 'done');
    });
    $server->on('message', function ($server, $frame) use ($tell) {
        $tell('message');
        $server->push($frame->fd, 'done');
    });
    $server->on('workerstart', fn () => go(function () use ($server, $stream, $udp, $tell) {
        foreach ([[SWOOLE_SOCK_TCP, $stream->port], [SWOOLE_SOCK_UDP, $udp->port]] as [$kind, $port]) {
            $client = new Swoole\Coroutine\Client($kind);
            $client->connect('127.0.0.1', $port, 20);
            $client->send('x');
            $client->recv(20);
        }
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->upgrade('/');
        $client->push('x');
        $client->recv(20);
        Swoole\Coroutine::sleep(0.01);
        $tell('nothing');
        $server->shutdown();
    }));
    $server->start();
}
?>
--EXPECT--
receive [1,0]
packet [1,0]
message [1,0]
nothing [2,1]
receive [1,0]
packet [1,0]
message [1,0]
nothing [2,1]
