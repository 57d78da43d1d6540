--TEST--
Swoole\Server: addCommand() and command() run functions in the master, in workers and in task workers
--INI--
apus.swoole_compat=1
swoole.display_errors=1
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 2, 'task_worker_num' => 1, 'log_level' => SWOOLE_LOG_NONE]);
$server->on('receive', fn () => null);
$server->on('task', fn () => null);
$where = SWOOLE_SERVER_COMMAND_MASTER | SWOOLE_SERVER_COMMAND_EVENT_WORKER | SWOOLE_SERVER_COMMAND_TASK_WORKER;
var_dump($server->addCommand('who', $where, function (Swoole\Server $server, string $data) {
    return json_encode(['pid' => getmypid(), 'given' => json_decode($data, true), 'long' => str_repeat('x', 100_000)]);
}));
var_dump($server->addCommand('who', $where, fn () => ''));
var_dump($server->addCommand('workers', SWOOLE_SERVER_COMMAND_EVENT_WORKER, fn () => 7));
var_dump($server->addCommand('throws', $where, fn () => throw new Exception('no')));
var_dump($server->addCommand('threads', SWOOLE_SERVER_COMMAND_REACTOR_THREAD, fn () => ''));
var_dump($server->command('who', 0, SWOOLE_SERVER_COMMAND_MASTER, []));
$server->on('start', function (Swoole\Server $server) {
    $kinds = ['MASTER' => 0, 'EVENT_WORKER' => 1, 'TASK_WORKER' => 0];
    foreach ($kinds as $kind => $id) {
        $answer = $server->command('who', $id, constant("SWOOLE_SERVER_COMMAND_$kind"), ['kind' => $kind]);
        $pid = $kind === 'MASTER' ? $server->master_pid : $server->getWorkerPid($kind === 'EVENT_WORKER' ? 1 : 2);
        echo json_encode([$answer['pid'] === $pid, $answer['given'], strlen($answer['long'])]), "\n";
    }
    $asked = fn (string $name, int $id, int $kind, bool $decode = true)
        => $server->command($name, $id, $kind, null, $decode);
    echo json_encode($asked('workers', 0, SWOOLE_SERVER_COMMAND_EVENT_WORKER)), "\n";
    echo $asked('throws', 1, SWOOLE_SERVER_COMMAND_EVENT_WORKER, false), "\n";
    var_dump($asked('workers', 0, SWOOLE_SERVER_COMMAND_TASK_WORKER));
    var_dump($asked('nothing', 0, SWOOLE_SERVER_COMMAND_MASTER));
    var_dump($asked('who', 2, SWOOLE_SERVER_COMMAND_EVENT_WORKER));
    var_dump($asked('who', -1, SWOOLE_SERVER_COMMAND_EVENT_WORKER));
    $server->shutdown();
});
$server->start();
?>
--EXPECTF--
bool(true)
bool(false)
bool(true)
bool(true)

Warning: Swoole\Server::addCommand(): only support worker/task_worker process in %s on line %d
bool(false)

Warning: Swoole\Server::command(): server is not running in %s on line %d
bool(false)
[true,{"kind":"MASTER"},100000]
[true,{"kind":"EVENT_WORKER"},100000]
[true,{"kind":"TASK_WORKER"},100000]
{"data":"wrong return type","code":-2}

Fatal error: Uncaught Exception: no in %s:%d
Stack trace:
#0 %A
  thrown in %s on line %d
{"data": "failed to call function", "code": -1}
bool(false)
bool(false)
bool(false)

Warning: Swoole\Server::command(): invalid process_id[-1] in %s on line %d
bool(false)
