<?php

declare(strict_types=1);

namespace Swoole\Coroutine\Redis;

/**
 * What Redis answers to a command that it refuses.
 * @internal
 */
final class Error
{
    public function __construct(public readonly string $message)
    {
    }
}
