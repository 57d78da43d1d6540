<?php

namespace Swoole\Coroutine;

/**
 * Apus\Coroutine\Barrier, for code written for Swoole.
 * @rust second Apus\Coroutine\Barrier
 * @rust short Co\Barrier
 */
class Barrier
{
    public function __construct() {}

    /**
     * @rust make_second
     * @rust typed
     */
    public static function make(): self {}

    public static function wait(\Swoole\Coroutine\Barrier &$barrier, float $timeout = -1): void {}
}
