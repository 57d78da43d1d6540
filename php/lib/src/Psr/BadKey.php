<?php

declare(strict_types=1);

namespace Apus\Psr;

/** A key or time that PSR-6 and PSR-16 do not allow, or that is too long. Each of them has an exception of its own. */
abstract class BadKey extends \InvalidArgumentException
{
    final public function __construct(string $message)
    {
        parent::__construct($message);
    }

    /** @throws static unless it is a key of both */
    public static function check(mixed $key): string
    {
        if (!is_string($key) || $key === '' || strlen($key) > 1024 || strpbrk($key, '{}()/\@:') !== false) {
            throw new static('a key is a string of 1 to 1024 bytes without any of {}()/\@:');
        }
        return $key;
    }

    /**
     * Seconds from now, null for no end.
     * @throws static
     */
    public static function seconds(mixed $ttl): ?float
    {
        if ($ttl instanceof \DateInterval) {
            $now = new \DateTimeImmutable();
            return (float) $now->add($ttl)->format('U.u') - (float) $now->format('U.u');
        }
        if ($ttl !== null && !is_int($ttl)) {
            throw new static('a time to live is a number of seconds, a DateInterval or null');
        }
        return $ttl === null ? null : (float) $ttl;
    }
}
