--TEST--
Swoole\Server::sendto() in task workers and processes of addProcess()
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0, SWOOLE_PROCESS, SWOOLE_SOCK_UDP);
$port = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP);
$port->on('receive', fn () => null);
$server->set(['worker_num' => 1, 'task_worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$process = new Swoole\Process(function (Swoole\Process $process) use ($server) {
    $to = (int) $process->exportSocket()->recv();
    $server->sendto('127.0.0.1', $to, 'from the process');
    Swoole\Coroutine::sleep(100);
}, false, SOCK_STREAM, true);
$server->addProcess($process);
$server->on('packet', function (Swoole\Server $server, string $data, array $from) use ($process) {
    $server->task([$from['address'], $from['port'], 'from the task', $from['server_socket']]);
    $process->exportSocket()->send((string) $from['port']);
});
$server->on('task', function (Swoole\Server $server, int $id, int $source, array $data) {
    $server->sendto(...$data);
});
$server->on('workerstart', function (Swoole\Server $server, int $id) {
    if ($id !== 0) {
        return;
    }
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Client(SWOOLE_SOCK_UDP);
        $client->connect('127.0.0.1', $server->port, 10);
        $client->send('hello');
        $got = [$client->recv(10), $client->recv(10)];
        sort($got);
        echo implode("\n", $got), "\n";
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
from the process
from the task
