<?php

namespace Swoole\Coroutine;

/**
 * Apus\Coroutine\System, for code written for Swoole: a call that cannot be made gives false and a warning.
 * @rust second Apus\Coroutine\System
 * @rust short Co\System
 * @rust within crate::swoole::answers_false
 */
class System
{
    public static function gethostbyname(string $domain_name, int $type = 2, float $timeout = -1): false|string {}

    /**
     * @rust super::lookup::dns_lookup_there
     * @rust typed
     */
    public static function dnsLookup(string $domain_name, float $timeout = 60, int $type = 2): string|false {}

    public static function exec(string $command, bool $get_error_stream = false): array|false {}

    /**
     * @rust crate::wait::sleep_noted
     * @rust typed
     */
    public static function sleep(float $seconds): bool {}

    /**
     * @rust super::lookup::getaddrinfo_there
     * @rust typed
     */
    public static function getaddrinfo(string $domain, int $family = 2, int $socktype = 1, int $protocol = 6, ?string $service = null, float $timeout = -1): array|bool {}

    public static function statvfs(string $path): array|false {}

    public static function readFile(string $filename, int $flag = 0): false|string {}

    public static function writeFile(string $filename, string $fileContent, int $flags = 0): false|int {}

    public static function fread(mixed $handle, int $length = 0): string|false {}

    public static function fwrite(mixed $handle, string $data, int $length = 0): int|false {}

    public static function fgets(mixed $handle): string|false {}

    public static function wait(float $timeout = -1): array|false {}

    public static function waitPid(int $pid, float $timeout = -1): array|false {}

    public static function waitSignal(array|int $signals, float $timeout = -1): int|false {}

    public static function waitEvent(mixed $socket, int $events = 512, float $timeout = -1): int|false {}
}
