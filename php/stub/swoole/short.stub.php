<?php

/** Whether there are short names: go(), defer(), Co, Chan, Co\*. */
const SWOOLE_USE_SHORTNAME = true;

/**
 * The same as Swoole\Coroutine::create().
 * @rust crate::coroutine::create
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function go(callable $func, mixed ...$params): int|false {}

/**
 * The same as Swoole\Coroutine::defer().
 * @rust crate::coroutine::defer
 * @rust typed
 * @rust within crate::swoole::answers_false
 */
function defer(callable $callback): void {}
