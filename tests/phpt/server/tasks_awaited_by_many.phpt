--TEST--
Server: two coroutines await task after task, each gets its own answers, and a third has its turns meanwhile
--FILE--
<?php
use Apus\{Coroutine, Server};
use function Apus\go;

$server = new Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'task_worker_num' => 2, 'log_level' => 'error']);
$server->on('receive', fn () => null);
$server->on('task', fn (Server $server, int $id, int $from, mixed $data) => $data);
$server->on('workerstart', function (Server $server, int $id) {
    if ($id !== 0) {
        return;
    }
    $right = $turns = 0;
    $await = function (string $name, int $count) use ($server, &$right) {
        for ($i = 0; $i < $count; $i++) {
            $right += $server->taskwait("$name $i", 10) === "$name $i" ? 1 : 0;
        }
    };
    // One alone first: there who awaits looks before it sleeps.
    $await('alone', 500);
    $both = [go(fn () => $await('a', 500)), go(fn () => $await('b', 500))];
    $third = go(function () use (&$turns) {
        for (; ; $turns++) {
            Coroutine::sleep(0.001);
        }
    });
    Coroutine::join($both);
    Coroutine::cancel($third);
    echo "$right of 1500, ", $turns > 0 ? 'turns' : 'no turn', "\n";
    $server->shutdown();
});
$server->start();
?>
--EXPECT--
1500 of 1500, turns
