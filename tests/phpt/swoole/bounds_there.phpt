--TEST--
Swoole\Http\Server: buffer_output_size bounds answers in SWOOLE_PROCESS, numbers of connections begin where they are to
--INI--
apus.swoole_compat=1
--FILE--
<?php
$log = tempnam(sys_get_temp_dir(), 'apus');
$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_PROCESS);
$server->set(['worker_num' => 1, 'output_buffer_size' => 8192, 'start_session_id' => 1 << 31, 'log_file' => $log]);
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) {
    $ended = $response->end(str_repeat('x', (int) $request->get['bytes']));
    echo $request->fd, ' ';
    var_dump($ended, $ended ? 0 : swoole_last_error());
});
$server->on('workerstart', function (Swoole\Http\Server $server) use ($log) {
    go(function () use ($server, $log) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        var_dump($client->get('/?bytes=8192'), strlen($client->body));
        // Over a connection of its own: a request that a kept one loses is made again.
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        var_dump($client->get('/?bytes=8193'), $client->statusCode);
        echo preg_replace('/^.*WARNING/', 'WARNING', file_get_contents($log));
        unlink($log);
        var_dump($server->getManagerPid() === $server->getMasterPid());
        $server->shutdown();
    });
});
$server->start();
// In SWOOLE_BASE nothing bounds them, and one process needs no manager.
$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['output_buffer_size' => 8192]);
$server->on('request', fn ($request, $response) => $response->end(str_repeat('x', 10_000)));
$server->on('workerstart', function (Swoole\Http\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        var_dump($client->get('/'), strlen($client->body), $server->getManagerPid(), $server->manager_pid);
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECTF--
2147483649 bool(true)
int(0)
bool(true)
int(8192)
2147483650 bool(false)
int(1203)
bool(false)
int(-3)
WARNING	ProcessFactory::finish() (ERRNO 1203): The length of data [8193] exceeds the output buffer size[8192], %s
bool(true)
bool(true)
int(10000)
int(0)
int(0)
