--TEST--
Swoole\Server: task() in a task worker and finish() of what a user process sent are refused; nobody hears of tasks of the master
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'task_worker_num' => 1, 'task_use_object' => true, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('receive', fn () => null);
$step = new Swoole\Atomic();
$server->on('finish', fn () => $step->set(1));
$server->on('task', function (Swoole\Server $server, Swoole\Server\Task $task) {
    if ($task->data === 'of the worker') {
        var_dump($server->task('of a task worker'), $server->finish('once'));
        return;
    }
    echo "$task->data: ", ($task->flags & SWOOLE_TASK_NOREPLY) !== 0 ? 'nobody hears' : 'heard', ' ';
    var_dump($server->finish('result'));
    if ($task->data === 'of the master') {
        $server->shutdown();
    }
});
$server->addProcess(new Swoole\Process(function (Swoole\Process $process) use ($server, $step) {
    while ($step->get() === 0) {
        Co::sleep(0.005);
    }
    $server->task('of a process');
    Swoole\Process::signal(SIGTERM, fn () => Swoole\Event::exit());
    $server->sendMessage('next', 0);
    Co::sleep(30);
}, false, 0, true));
$server->on('workerstart', function (Swoole\Server $server, int $id) {
    if ($id === 0) {
        $server->task('of the worker');
    }
});
$server->on('pipemessage', fn () => $step->set(2));
$server->on('managerstart', function (Swoole\Server $server) use ($step) {
    Swoole\Timer::tick(5, function (int $timer) use ($server, $step) {
        if ($step->get() === 2) {
            Swoole\Timer::clear($timer);
            $server->task('of the master');
        }
    });
});
$server->start();
?>
--EXPECTF--
Warning: Swoole\Server::task(): Server->task() cannot use in the task-worker in %s on line %d
bool(false)
bool(true)
of a process: heard bool(false)
of the master: nobody hears bool(false)
