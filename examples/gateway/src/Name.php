<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** Names that peers give. */
final class Name
{
    /** Bytes. */
    private const LONGEST = 128;

    /** @throws Refusal 400 */
    public static function user(mixed $name): string
    {
        $name = is_int($name) ? (string) $name : $name;
        if (!is_string($name) || !self::isPlain($name)) {
            throw new Refusal(400, 'user must be 1 to 128 bytes of UTF-8 without control characters');
        }
        return $name;
    }

    /** @throws Refusal 400 */
    public static function topic(mixed $name): string
    {
        if (!is_string($name) || preg_match('~^[A-Za-z0-9._:-]{1,64}$~D', $name) !== 1) {
            throw new Refusal(400, 'a topic is 1 to 64 letters, digits and . _ : -');
        }
        return $name;
    }

    private static function isPlain(string $name): bool
    {
        return $name !== '' && strlen($name) <= self::LONGEST && preg_match('~^[^\p{Cc}]+$~uD', $name) === 1;
    }
}
