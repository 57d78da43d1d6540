<?php

declare(strict_types=1);

namespace Swoole\Coroutine;

/**
 * What setDefer() does: a call is begun in a coroutine of its own, and recv() waits for what it gave.
 * @internal
 */
final class Deferred
{
    private readonly \Apus\Coroutine\Channel $done;

    /** @param callable(): mixed $call */
    public function __construct(callable $call)
    {
        $done = $this->done = new \Apus\Coroutine\Channel(1);
        \Apus\go(static function () use ($call, $done): void {
            $done->push($call());
        });
    }

    /** False when there was nothing in time. */
    public function get(float $timeout = -1): mixed
    {
        return $this->done->pop($timeout);
    }

    /**
     * Calls, and gives up after so many seconds; 0 and below mean never.
     * @param callable(): mixed $call
     * @throws \Apus\Coroutine\TimeoutException
     */
    public static function within(float $timeout, callable $call): mixed
    {
        return $timeout > 0 && \Apus\Coroutine::getCid() > 0 ? \Apus\Coroutine\timeout($timeout, $call) : $call();
    }
}
