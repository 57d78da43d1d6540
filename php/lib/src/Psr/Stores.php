<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Cache;

/** How PSR-6 and PSR-16 store. */
trait Stores
{
    /** Stores, or removes what would have ended already; false for what the cache does not take. */
    private static function store(Cache $cache, string $key, mixed $value, ?float $seconds): bool
    {
        if ($seconds !== null && $seconds <= 0) {
            $cache->delete($key);
            return true;
        }
        try {
            return $cache->set($key, $value, $seconds ?? 0.0);
        } catch (\Apus\CacheException | \Apus\PackException) {
            return false;
        }
    }
}
