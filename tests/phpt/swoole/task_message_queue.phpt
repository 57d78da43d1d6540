--TEST--
task_ipc_mode 2 and 3: tasks that another program puts into a System V message queue, large ones by way of a file
--EXTENSIONS--
sysvmsg
pcntl
posix
--INI--
apus.swoole_compat=1
swoole.display_errors=Off
--FILE--
<?php
use Swoole\Server\Task;

$key = 0x61700000 | getmypid() & 0xffff;
$file = tempnam(sys_get_temp_dir(), 'log');
foreach ([2, 3] as $mode) {
    $server = new Swoole\Server('127.0.0.1', 0, SWOOLE_BASE);
    $server->set(['worker_num' => 1, 'task_worker_num' => 2, 'log_file' => $file]);
    $server->set(['task_ipc_mode' => $mode, 'message_queue_key' => $key]);
    $server->on('receive', fn () => null);
    $seen = new Swoole\Atomic();
    $server->on('task', function ($server, $id, $from, $data) use ($seen, $mode) {
        // Only where messages are for one worker is their order certain, and who runs them.
        $who = $mode === 2 ? $server->worker_id - $server->setting['worker_num'] : 'any';
        if ($mode === 2 || is_array($data)) {
            echo json_encode([$who, is_array($data) ? strlen($data['data']) : $data]), "\n";
        }
        if ($seen->add() === 3) {
            $server->shutdown();
        }
    });
    $child = pcntl_fork();
    if ($child === 0) {
        $queue = msg_get_queue($key, 0600);
        msg_send($queue, 2, 'no task', false);
        msg_send($queue, 2, Task::pack(['data' => str_repeat('A', 50_000)]), false);
        msg_send($queue, 2, Task::pack('text'), false);
        msg_send($queue, 2, Task::pack(7), false);
        posix_kill(getmypid(), SIGKILL);
    }
    $server->start();
    pcntl_waitpid($child, $status);
}
msg_remove_queue(msg_get_queue($key));
var_dump(substr_count(file_get_contents($file), 'bad task packet'));
unlink($file);
$large = str_repeat('B', 9000);
var_dump(Task::unpack(Task::pack([1, 'a'])), Task::unpack('no task'), Task::unpack(Task::pack($large)) === $large);
var_dump(glob(sys_get_temp_dir() . '/apus-task-' . getmypid() . '-*'));
?>
--EXPECT--
[1,50000]
[1,"text"]
[1,7]
["any",50000]
int(2)
array(2) {
  [0]=>
  int(1)
  [1]=>
  string(1) "a"
}
bool(false)
bool(true)
array(0) {
}
