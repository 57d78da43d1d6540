<?php

namespace Apus;

/**
 * The same as Apus\Coroutine::create().
 * @rust coroutine::create
 * @rust typed
 */
function go(callable $callback, mixed ...$args): int {}

/**
 * The same as Apus\Coroutine::defer().
 * @rust coroutine::defer
 * @rust typed
 */
function defer(callable $callback): void {}

namespace Apus\Coroutine;

/**
 * Runs $callback(...$args) in a coroutine, and returns when it, every coroutine that it started, directly or
 * indirectly, and every timer have ended. For what it throws, and when, see Apus\Coroutine\Scheduler::start().
 * @return bool true
 * @rust coroutine::run
 * @rust typed
 */
function run(callable $callback, mixed ...$args): bool {}

/**
 * Runs callables at once, each in a coroutine, and waits for all.
 * @param callable[] $tasks
 * @param float $timeout seconds; negative for no limit. Tasks that have not finished by then go on, and give null
 * @return array what each returned, under its key in $tasks
 * @throws \Throwable the first exception that a task did not catch, when all have ended
 * Waits; cancelled, it cancels its tasks.
 * @rust coroutine::batch
 * @rust typed
 */
function batch(array $tasks, float $timeout = -1): array {}

/**
 * Runs $callback() in $n coroutines at once and waits for all.
 * @throws \ValueError when $n is below 1
 * @throws \Throwable the first exception that one did not catch, when all have ended
 * Waits; cancelled, it cancels them.
 * @rust coroutine::parallel
 * @rust typed
 */
function parallel(int $n, callable $callback): void {}

/** Runs the remaining coroutines to their end. PHP calls it at the end of a script that created some. */
function finish(): void {}

namespace Apus;

/** The version of Apus. */
function version(): string {}

/**
 * PHP stubs of everything that this module declares, for editors and static analysis.
 * @param bool $swoole those of the names that code written for Swoole uses: see the ini entry apus.swoole_compat
 */
function stubs(bool $swoole = false): string {}

/**
 * Writes a line to the log of the server (the settings log_file, log_level), or to standard error where there is none.
 * @param string $level debug, trace, info, notice, warning or error
 * @throws \ValueError for another level
 * Does not wait.
 * @rust typed
 */
function write_log(string $level, string $message): void {}

/**
 * The id of the trace of the request that this coroutine handles, or that the coroutine handles which started it; null
 * elsewhere, and with the setting request_ids off.
 * Does not wait.
 * @rust typed
 */
function trace_id(): ?string {}

/** The table of all settings, in Markdown. */
function options_markdown(): string {}
