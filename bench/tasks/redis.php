<?php

declare(strict_types=1);

// The same through Redis: two PHP workers take from one list and answer on another. php redis.php CASE N; the last line is JSON.

namespace Bench;

require __DIR__ . '/lib.php';

[, $case, $count] = $argv;
$count = (int) $count;
$socket = sys_get_temp_dir() . '/apus-bench-tasks-' . getmypid() . '.sock';
$null = ['file', '/dev/null', 'w'];
$server = proc_open(['redis-server', '--port', '0', '--unixsocket', $socket, '--save', '', '--appendonly', 'no'], [1 => $null, 2 => $null], $pipes);
$children = [proc_get_status($server)['pid']];
$parent = getmypid();
// However this ends; a server that is killed leaves its socket.
register_shutdown_function(static function () use (&$children, $parent, $socket): void {
    if (getmypid() === $parent) {
        array_walk($children, static fn (int $pid) => posix_kill($pid, SIGKILL));
        @unlink($socket);
    }
});

function connect(string $socket): \Redis
{
    for ($redis = new \Redis(), $tries = 500; ; $tries--) {
        try {
            $redis->connect($socket) && $redis->ping();
            $redis->setOption(\Redis::OPT_READ_TIMEOUT, -1);
            $redis->setOption(\Redis::OPT_SERIALIZER, \Redis::SERIALIZER_PHP);
            return $redis;
        } catch (\RedisException $error) {
            $tries > 0 ? usleep(10_000) : throw $error;
        }
    }
}

$redis = connect($socket);
for ($i = 0; $i < 2; $i++) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        $redis = connect($socket);
        while (true) {
            [, $data] = $redis->brPop(['tasks'], 0);
            $redis->lPush('answers', $data);
        }
    }
    $children[] = $pid;
}
$data = payload($case);
[$wrong, $times, $cpu, $began] = [0, [], cpu(getmypid()), hrtime(true)];
$window = $case === 'wait' ? 1 : WINDOW;
for ($sent = $done = 0; $done < $count; $done++) {
    $start = hrtime(true);
    while ($sent < $count && $sent - $done < $window) {
        $redis->lPush('tasks', $data);
        $sent++;
    }
    $wrong += $redis->brPop(['answers'], 10)[1] === $data ? 0 : 1;
    $times[] = hrtime(true) - $start;
}
echo figures($count, $wrong, (hrtime(true) - $began) / 1e9, cpu(getmypid()) - $cpu, $case === 'wait' ? $times : []);
