<?php

declare(strict_types=1);

namespace Swoole\Coroutine;

function run(callable $fn, mixed ...$args): bool
{
    // What nobody has said otherwise of is hooked, functions of ext/sockets too.
    if (\Swoole\Runtime::getHookFlags() === SWOOLE_HOOK_ALL) {
        \Swoole\Runtime::enableCoroutine(SWOOLE_HOOK_ALL);
    }
    $scheduler = new Scheduler();
    $scheduler->add($fn, ...$args);
    return $scheduler->start();
}

function go(callable $fn, mixed ...$args): int|false
{
    return \Apus\go($fn, ...$args);
}

function defer(callable $fn): void
{
    \Apus\defer($fn);
}

function batch(array $tasks, float $timeout = -1): array
{
    return map($tasks, static fn (callable $task): mixed => $task(), $timeout);
}

function parallel(int $n, callable $fn): void
{
    \Apus\Coroutine\parallel($n, $fn);
}

/** Calls $fn($value, $key) for each in a coroutine of its own; what is not done in time is null. */
function map(array $list, callable $fn, float $timeout = -1): array
{
    $group = new \Apus\Coroutine\WaitGroup(count($list));
    $results = array_fill_keys(array_keys($list), null);
    foreach ($list as $key => $value) {
        \Apus\go(static function () use ($group, $fn, $key, $value, &$results): void {
            \Apus\defer($group->done(...));
            $results[$key] = $fn($value, $key);
        });
    }
    $group->wait($timeout);
    return $results;
}

/** Writes where each coroutine stands. */
function deadlock_check(): void
{
    $options = \Swoole\Coroutine::getOptions() ?? [];
    if (!($options['enable_deadlock_check'] ?? true)) {
        return;
    }
    $count = \Apus\Coroutine::stats()['coroutine_num'];
    $double = str_repeat('=', 64 + strlen((string) $count));
    $single = str_repeat('-', strlen($double));
    echo "\n {$double}\n  [FATAL ERROR]: all coroutines (count: {$count}) are asleep - deadlock!\n {$double}\n";
    if (empty($options['deadlock_check_disable_trace'])) {
        $limit = (int) ($options['deadlock_check_limit'] ?? 0) ?: 32;
        $depth = (int) ($options['deadlock_check_depth'] ?? 0) ?: 32;
        foreach (new \LimitIterator(\Swoole\Coroutine::list(), 0, $limit) as $cid) {
            echo "\n  [Coroutine-{$cid}]\n {$single}\n";
            foreach (\Apus\Coroutine::getBackTrace($cid, DEBUG_BACKTRACE_IGNORE_ARGS, $depth) ?: [] as $at => $frame) {
                $place = isset($frame['file']) ? "{$frame['file']}({$frame['line']})" : '[internal function]';
                echo "#{$at} {$place}: ", $frame['class'] ?? '', $frame['type'] ?? '', $frame['function'], "()\n";
            }
        }
    }
    echo "\n {$double}\n";
}
