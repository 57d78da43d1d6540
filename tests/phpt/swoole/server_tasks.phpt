--TEST--
Swoole\Server: tasks are numbered from 0, a task object is a Swoole\Server\Task
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach ([false, true] as $objects) {
    $server = new Swoole\Server('127.0.0.1', 0);
    $server->set(['worker_num' => 1, 'task_worker_num' => 1, 'task_enable_coroutine' => $objects, 'log_level' => SWOOLE_LOG_ERROR, 'blocked_loop_warn' => 0]);
    $server->on('receive', fn () => null);
    $server->on('task', $objects
        ? function (Swoole\Server $server, Swoole\Server\Task $task) {
            $task->finish([$task->id, $task->worker_id, $task->data]);
        }
        : fn (Swoole\Server $server, int $id, int $from, mixed $data) => [$id, $from, $data]);
    $server->on('finish', function (Swoole\Server $server, int $id, mixed $data) {
        echo 'finish ', json_encode([$id, $data]), "\n";
        static $ended = 0;
        if (++$ended === 2) {
            $server->shutdown();
        }
    });
    $server->on('workerstart', function (Swoole\Server $server, int $worker) {
        if (!$server->taskworker) {
            go(function () use ($server) {
                echo json_encode([
                    $server->task('a'),
                    $server->taskwait('b', 10),
                    $server->taskWaitMulti(['c', 'd'], 10),
                    $server->task('e'),
                ]), "\n";
            });
        }
    });
    $server->start();
}
?>
--EXPECT--
finish [0,[0,0,"a"]]
[0,[1,0,"b"],[[2,0,"c"],[3,0,"d"]],4]
finish [4,[4,0,"e"]]
finish [0,[0,0,"a"]]
[0,[1,0,"b"],[[2,0,"c"],[3,0,"d"]],4]
finish [4,[4,0,"e"]]
