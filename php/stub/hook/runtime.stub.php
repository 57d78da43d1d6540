<?php

namespace Apus;

/**
 * Which blocking calls let other coroutines run. Inside coroutines all except those on regular files are hooked from
 * the start, in servers and in run() alike; outside coroutines nothing changes.
 * @rust plain
 */
final class Runtime
{
    /**
     * Sets the kinds of calls that are hooked from now on, in all coroutines of this process.
     * @param bool|int $flags Apus\HOOK_* bits, 0 for none; or true for $more, false for none
     * @return bool true
     * @throws \ValueError when $flags is negative
     * Does not wait.
     * @rust set
     */
    public static function enableCoroutine(bool|int $flags = 2147483647, int $more = 2147483647): bool {}

    /**
     * The same as enableCoroutine().
     * @rust set
     */
    public static function setHookFlags(int $flags): bool {}

    /**
     * The kinds of calls that are hooked, as Apus\HOOK_* bits.
     * @rust get
     */
    public static function getHookFlags(): int {}
}
