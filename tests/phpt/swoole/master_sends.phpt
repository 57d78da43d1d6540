--TEST--
Swoole\Server: callbacks of the master see connections, send to them, close them, answer requests, message workers
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_PROCESS);
$server->set(['worker_num' => 2, 'log_level' => SWOOLE_LOG_ERROR, 'max_wait_time' => 1]);
$stream = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP);
$stream->set(['open_http_protocol' => false]);
$stream->on('receive', function (Swoole\Server $server, int $fd, int $reactor, string $data) {
    if ($data === 'who') {
        $server->send($fd, 'worker');
    }
});
$heard = new Swoole\Table(8);
$heard->column('text', Swoole\Table::TYPE_STRING, 100);
$heard->create();
$large = str_repeat('large ', 50000);
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) use ($heard) {
    $response->detach();
    $heard->set('asked', ['text' => (string) $request->fd]);
});
$server->on('pipemessage', function (Swoole\Server $server, int $from, mixed $data) use ($heard, $large) {
    $heard->set("to {$server->worker_id}", ['text' => json_encode([$from >= 2, $data === [$large]])]);
});
$log = [];
$server->on('managerstart', function (Swoole\Server $server) use (&$log, $heard, $large, $stream) {
    $log[] = [$server->getWorkerId(), $server->getWorkerPid(0) > 0, $server->getWorkerPid(0) !== getmypid()];
    go(function () use ($server, &$log, $heard, $large, $stream) {
        // The client of all of it is a coroutine of the master, too.
        $client = stream_socket_client("tcp://127.0.0.1:$stream->port");
        fwrite($client, 'who');
        $log[] = fread($client, 100);
        foreach ($server->connections as $fd) {
            $log[] = [$server->exist($fd), $server->getClientInfo($fd)['remote_ip']];
            $log[] = $server->send($fd, $large . 'end');
            $got = '';
            while (!str_ends_with($got, 'end')) {
                $got .= fread($client, 65536);
            }
            $log[] = $got === $large . 'end';
            $log[] = $server->close($fd);
        }
        $log[] = stream_get_contents($client);

        $client = stream_socket_client("tcp://127.0.0.1:$server->port");
        fwrite($client, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        while (!($asked = $heard->get('asked'))) {
            Swoole\Coroutine::sleep(0.001);
        }
        $response = Swoole\Http\Response::create($server, (int) $asked['text']);
        $response->status(408);
        $log[] = $response->end('from the master');
        $answer = stream_get_contents($client);
        $log[] = [strtok($answer, "\r"), substr($answer, -15)];

        $log[] = [$server->sendMessage([$large], 0), $server->sendMessage([$large], 1), @$server->sendMessage('x', 9)];
        while (count($heard) < 3) {
            Swoole\Coroutine::sleep(0.001);
        }
        // Workers that are forked now have nothing of what the master talks with.
        Swoole\Process::kill($server->getWorkerPid(0), SIGKILL);
        while (count($heard) < 4) {
            Swoole\Coroutine::sleep(0.001);
        }
        $log[] = $server->sendMessage([$large], 0);
        while (!str_contains($heard->get('to 0')['text'] ?? '', 'true,true')) {
            Swoole\Coroutine::sleep(0.001);
        }
        $server->shutdown();
    });
});
$server->on('workerstart', function (Swoole\Server $server, int $worker) use ($heard) {
    if ($heard->exist("to $worker")) {
        $heard->del("to $worker");
        $heard->set('again', ['text' => '']);
        $heard->set('once more', ['text' => '']);
    }
});
var_dump($server->start());
echo json_encode($log, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES), "\n";
?>
--EXPECT--
bool(true)
[
    [
        false,
        true,
        true
    ],
    "worker",
    [
        true,
        "127.0.0.1"
    ],
    true,
    true,
    true,
    "",
    true,
    [
        "HTTP/1.1 408 Request Timeout",
        "from the master"
    ],
    [
        true,
        true,
        false
    ],
    true
]
