<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Cache;
use Psr\SimpleCache\CacheInterface;

/**
 * PSR-16 over a cache that all workers share. What the cache does not take (too large, not to be packed) is false.
 *
 * Parameters without types make it fit all versions of psr/simple-cache.
 */
final class SimpleCache implements CacheInterface
{
    use Stores;

    public function __construct(private readonly Cache $cache)
    {
    }

    public function get($key, $default = null): mixed
    {
        return $this->cache->get(SimpleCacheKey::check($key), $default);
    }

    public function set($key, $value, $ttl = null): bool
    {
        return self::store($this->cache, SimpleCacheKey::check($key), $value, SimpleCacheKey::seconds($ttl));
    }

    public function delete($key): bool
    {
        $this->cache->delete(SimpleCacheKey::check($key));
        return true;
    }

    public function clear(): bool
    {
        $this->cache->clear();
        return true;
    }

    public function getMultiple($keys, $default = null): iterable
    {
        $values = [];
        foreach (self::all($keys) as $key) {
            $values[$key] = $this->get($key, $default);
        }
        return $values;
    }

    public function setMultiple($values, $ttl = null): bool
    {
        if (!is_iterable($values)) {
            throw new SimpleCacheKey('values are an array or Traversable');
        }
        $seconds = SimpleCacheKey::seconds($ttl);
        $pairs = [];
        foreach ($values as $key => $value) {
            // The keys of arrays that are digits are integers.
            $pairs[] = [SimpleCacheKey::check(is_int($key) ? (string) $key : $key), $value];
        }
        $all = true;
        foreach ($pairs as [$key, $value]) {
            $all = self::store($this->cache, $key, $value, $seconds) && $all;
        }
        return $all;
    }

    public function deleteMultiple($keys): bool
    {
        foreach (self::all($keys) as $key) {
            $this->cache->delete($key);
        }
        return true;
    }

    public function has($key): bool
    {
        return $this->cache->has(SimpleCacheKey::check($key));
    }

    /** @return string[] all keys, checked before the first one is used */
    private static function all(mixed $keys): array
    {
        if (!is_iterable($keys)) {
            throw new SimpleCacheKey('keys are an array or Traversable');
        }
        $all = [];
        foreach ($keys as $key) {
            $all[] = SimpleCacheKey::check($key);
        }
        return $all;
    }
}
