<?php

declare(strict_types=1);

namespace Bench;

/** A hash a visit, over a Unix socket, nothing written to disk. */
final class Redis extends Local
{
    private \Redis $redis;
    private string $socket;
    private int $pid;
    /** @var resource kept: PHP waits for a process whose resource is freed */
    private $server;

    public function __construct()
    {
        $this->socket = sys_get_temp_dir() . '/apus-bench-redis-' . getmypid() . '.sock';
        $null = ['file', '/dev/null', 'w'];
        $command = ['redis-server', '--port', '0', '--unixsocket', $this->socket, '--save', '', '--appendonly', 'no', '--daemonize', 'no'];
        $this->server = proc_open($command, [1 => $null, 2 => $null], $pipes);
        $this->pid = proc_get_status($this->server)['pid'];
        register_shutdown_function(fn () => posix_kill($this->pid, SIGKILL));
        $this->connect();
    }

    private function connect(): void
    {
        $this->redis = new \Redis();
        for ($tries = 500; ; $tries--) {
            try {
                $this->redis->connect($this->socket) && $this->redis->ping();
                return;
            } catch (\RedisException $error) {
                if ($tries === 0) {
                    throw $error;
                }
                usleep(10_000);
            }
        }
    }

    public function load(string $file, int $count): void
    {
        $pipe = $this->redis->pipeline();
        foreach ($this->lines($file) as $at => [$id, $location, $user, $visited, $mark]) {
            $pipe->hMSet("v:$id", ['location' => $location, 'user' => $user, 'visited_at' => $visited, 'mark' => (int) $mark]);
            if ($at % 1000 === 999) {
                $pipe->exec();
                $pipe = $this->redis->pipeline();
            }
        }
        $pipe->exec();
    }

    public function read(int $id): int
    {
        ['location' => $location, 'user' => $user, 'visited_at' => $at, 'mark' => $mark] = $this->redis->hGetAll("v:$id");
        return (int) $mark;
    }

    public function update(int $id, int $mark): void
    {
        $this->redis->hSet("v:$id", 'mark', (string) $mark);
    }

    public function forked(): void
    {
        $this->connect();
    }

    public function pids(): array
    {
        return [$this->pid];
    }

    public function shared(): bool
    {
        return true;
    }
}
