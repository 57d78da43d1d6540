--TEST--
Server: tasks outside a running server, and the class Apus\Server\Task
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\Server\Task;

$server = new Apus\Http\Server('127.0.0.1', 0);
foreach (['task', 'taskwait', 'finish'] as $method) {
    attempt(fn () => $server->$method('data'));
}
attempt(fn () => $server->taskWaitMulti(['data']));
attempt(fn () => $server->taskCo(['data']));
attempt(fn () => $server->taskAfter(1, 'data'));
attempt(fn () => $server->taskEvery(1, 'data'));
attempt(fn () => $server->taskCron('* * * * *', 'data'));
attempt(fn () => $server->taskCancel(1));
attempt(fn () => $server->compute('strlen', ['data']));
attempt(fn () => Apus\progress(1));
attempt(fn () => $server->addProcess(new stdClass()));
var_dump($server->taskworker, $server->stats(...) instanceof Closure);

var_dump(Task::unpack(Task::pack(['a' => 1, 'b' => [2.5, null]])));
attempt(fn () => Task::unpack('nonsense'));
attempt(fn () => (new Task())->finish(1));
var_dump(new Task());
var_dump((new ReflectionClass(Task::class))->isFinal(), Apus\TASK_HIGH, Apus\TASK_NORMAL, Apus\TASK_LOW);
?>
--EXPECTF--
Apus\Server\Exception 104: task() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: taskwait() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: finish() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: Server::taskWaitMulti() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: Server::taskCo() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: taskAfter() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: taskEvery() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: taskCron() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: taskCancel() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: compute() works in a process of a server with task workers: set task_worker_num, and call it after start()
Apus\Server\Exception 104: Apus\progress() works inside what Server::compute() runs
TypeError: Apus\Server::addProcess(): Argument #1 ($process) must be of type Apus\Process, stdClass given
bool(false)
bool(true)
array(2) {
  ["a"]=>
  int(1)
  ["b"]=>
  array(2) {
    [0]=>
    float(2.5)
    [1]=>
    NULL
  }
}
Apus\PackException %d: %s
Error: Apus\Server\Task was not constructed: call parent::__construct() first
object(Apus\Server\Task)#%d (5) {
  ["data"]=>
  NULL
  ["dispatch_time"]=>
  NULL
  ["id"]=>
  int(-1)
  ["worker_id"]=>
  int(-1)
  ["flags"]=>
  int(0)
}
bool(true)
int(0)
int(1)
int(2)
