<?php

namespace Swoole;

/**
 * Apus\Runtime, for code written for Swoole.
 * @rust second Apus\Runtime
 * @rust within apus_runtime::swoole::answers_false
 */
class Runtime
{
    /**
     * @rust enable
     * @rust typed
     */
    public static function enableCoroutine(int $flags = 2143287295): bool {}

    /**
     * @rust get_named
     * @rust typed
     */
    public static function getHookFlags(): int {}

    /**
     * @rust enable
     * @rust typed
     */
    public static function setHookFlags(int $flags): bool {}
}
