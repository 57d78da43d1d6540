<?php

declare(strict_types=1);

namespace Co;

function run(callable $fn, mixed ...$args): bool
{
    return \Swoole\Coroutine\run($fn, ...$args);
}

function go(callable $fn, mixed ...$args): int|false
{
    return \Swoole\Coroutine\go($fn, ...$args);
}

function defer(callable $fn): void
{
    \Swoole\Coroutine\defer($fn);
}
