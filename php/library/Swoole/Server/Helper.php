<?php

declare(strict_types=1);

namespace Swoole\Server;

class Helper
{
    /** Tells of settings that no server has, and where they were given. */
    public static function checkOptions(array $unknown): void
    {
        foreach ($unknown as $name) {
            self::tellOf($name);
        }
    }

    private static function tellOf(string $name): void
    {
        trigger_error("unsupported option [{$name}]", E_USER_WARNING);
        debug_print_backtrace();
    }
}
