--TEST--
Swoole\Server::task(): a line of the log tells that no task worker is idle, unless the program ignores that
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach ([false, true] as $ignored) {
    $log = tempnam(sys_get_temp_dir(), 'apus');
    $server = new Swoole\Server('127.0.0.1', 0, SWOOLE_PROCESS, SWOOLE_SOCK_UDP);
    $server->set(['worker_num' => 1, 'task_worker_num' => 1, 'log_file' => $log, 'log_level' => SWOOLE_LOG_NOTICE]);
    $go = new Swoole\Atomic(0);
    $running = new Swoole\Atomic(0);
    $server->on('packet', fn () => null);
    $server->on('task', function (Swoole\Server $server, int $id, int $worker, string $data) use ($go, $running) {
        $running->set(1);
        while ($go->get() === 0) {
            usleep(1000);
        }
        return $data;
    });
    $server->on('finish', function (Swoole\Server $server, int $id) {
        $id === 1 and $server->shutdown();
    });
    $server->on('workerstart', function (Swoole\Server $server) use ($go, $running, $ignored) {
        if ($server->taskworker) {
            return;
        }
        $ignored and swoole_ignore_error(SWOOLE_ERROR_SERVER_NO_IDLE_WORKER);
        $server->task('first');
        while ($running->get() === 0) {
            Co::sleep(0.001);
        }
        $server->task('second');
        $go->set(1);
    });
    $server->start();
    echo $ignored ? 'ignored: ' : '', preg_replace('/^\[.*?\]/m', '[]', file_get_contents($log)), "\n";
    unlink($log);
}
?>
--EXPECT--
[]	WARNING	Server::timer_callback() (ERRNO 9007): No idle task worker is available

ignored: 
