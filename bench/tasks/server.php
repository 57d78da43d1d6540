<?php

declare(strict_types=1);

// Tasks of one event worker, done by two task workers: php server.php Apus|Swoole CASE N; the last line is JSON.

namespace Bench;

require __DIR__ . '/lib.php';

[, $field, $case, $count] = $argv;
$count = (int) $count;
// Of which all are descendants. In an event worker, Swoole's $server->master_pid may be the worker.
\define('Bench\ROOT', getmypid());
$class = "$field\\Server";
$server = new $class('127.0.0.1', 0);
// 5 is errors alone in both.
$server->set(['worker_num' => 1, 'task_worker_num' => 2, 'log_level' => 5, 'log_file' => '/dev/null']);
$server->on('receive', static function (): void {});
$server->on('task', static fn ($server, int $id, int $from, mixed $data): mixed => $data);
$server->on('finish', static function (): void {});
$server->on('workerstart', static function ($server, int $id) use ($field, $case, $count): void {
    if ($id !== 0) {
        return;
    }
    ("$field\\Coroutine::create")(static fn () => $case === 'wait' ? wait($server, $count) : stream($server, $case, $count));
});
$server->start();

/** One after the other: the time from the call to its answer. */
function wait(object $server, int $count): void
{
    $data = payload('wait');
    for ($i = 0; $i < 1000; $i++) {
        $server->taskwait($data, 10.0);
    }
    [$wrong, $times, $cpu, $began] = [0, [], cpu(ROOT), hrtime(true)];
    for ($i = 0; $i < $count; $i++) {
        $start = hrtime(true);
        $wrong += $server->taskwait($data, 10.0) === $data ? 0 : 1;
        $times[] = hrtime(true) - $start;
    }
    end_with($server, figures($count, $wrong, (hrtime(true) - $began) / 1e9, cpu(ROOT) - $cpu, $times));
}

/** A window of tasks on the way, each answered by its callback. */
function stream(object $server, string $case, int $count): void
{
    $data = payload($case);
    [$sent, $done, $wrong, $cpu, $began] = [0, 0, 0, cpu(ROOT), hrtime(true)];
    $next = static function () use ($server, $data, $count, $cpu, $began, &$sent, &$done, &$wrong, &$next): void {
        $sent++;
        $server->task($data, -1, static function ($server, int $id, mixed $answer) use ($data, $count, $cpu, $began, &$sent, &$done, &$wrong, &$next): void {
            $wrong += $answer === $data ? 0 : 1;
            if (++$done === $count) {
                end_with($server, figures($count, $wrong, (hrtime(true) - $began) / 1e9, cpu(ROOT) - $cpu));
            } elseif ($sent < $count) {
                $next();
            }
        });
    };
    for ($i = 0; $i < WINDOW; $i++) {
        $next();
    }
}

function end_with(object $server, string $line): void
{
    fwrite(STDOUT, $line);
    $server->shutdown();
}
