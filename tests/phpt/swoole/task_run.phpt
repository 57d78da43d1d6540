--TEST--
Swoole\Coroutine\run() in the callbacks of task workers, and in a coroutine
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'task_worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('receive', fn () => null);
$server->on('task', function (Swoole\Server $server, int $id, int $source, string $data) {
    $order = [];
    $ran = Coroutine\run(function () use (&$order, $data) {
        go(function () use (&$order) {
            Coroutine::sleep(0.01);
            go(function () use (&$order) {
                Coroutine::sleep(0.01);
                $order[] = 'last';
            });
            $order[] = 'inner';
        });
        $order[] = $data;
    });
    $scheduler = new Coroutine\Scheduler();
    $scheduler->parallel(2, function () use (&$order) {
        Coroutine::sleep(0.001);
        $order[] = 'parallel';
    });
    return [$ran, $scheduler->start(), $order];
});
$server->on('workerstart', function (Swoole\Server $server, int $id) {
    if ($id === 0) {
        go(function () use ($server) {
            echo json_encode($server->taskwait('first', 10)), "\n";
            var_dump(@Coroutine\run(fn () => print("never\n")), error_get_last()['message']);
            $server->shutdown();
        });
    }
});
$server->start();
?>
--EXPECT--
[true,true,["first","inner","last","parallel","parallel"]]
bool(false)
string(115) "Swoole\Coroutine\Scheduler::start(): eventLoop has already been created. unable to start Swoole\Coroutine\Scheduler"
