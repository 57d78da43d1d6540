<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Cache;
use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;

/**
 * PSR-6 over a cache that all workers share. Deferred items belong to the pool object until it commits them.
 *
 * Parameters without types make it fit all versions of psr/cache.
 */
final class CachePool implements CacheItemPoolInterface
{
    use Stores;

    /** @var array<string, CacheItem> */
    private array $deferred = [];

    /** Stands for "there is none", as null is a value. */
    private readonly object $none;

    public function __construct(private readonly Cache $cache)
    {
        $this->none = new \stdClass();
    }

    public function __destruct()
    {
        $this->commit();
    }

    public function getItem($key): CacheItemInterface
    {
        $key = PoolKey::check($key);
        if (isset($this->deferred[$key])) {
            return $this->deferred[$key]->stored();
        }
        $value = $this->cache->get($key, $this->none);
        return $value === $this->none ? new CacheItem($key) : new CacheItem($key, $value, true);
    }

    public function getItems(array $keys = []): iterable
    {
        $items = [];
        foreach ($keys as $key) {
            $items[$key] = $this->getItem($key);
        }
        return $items;
    }

    public function hasItem($key): bool
    {
        $key = PoolKey::check($key);
        return isset($this->deferred[$key]) ? $this->deferred[$key]->stored()->isHit() : $this->cache->has($key);
    }

    public function clear(): bool
    {
        $this->deferred = [];
        $this->cache->clear();
        return true;
    }

    public function deleteItem($key): bool
    {
        $key = PoolKey::check($key);
        unset($this->deferred[$key]);
        $this->cache->delete($key);
        return true;
    }

    public function deleteItems(array $keys): bool
    {
        array_walk($keys, PoolKey::check(...));
        foreach ($keys as $key) {
            $this->deleteItem($key);
        }
        return true;
    }

    public function save(CacheItemInterface $item): bool
    {
        unset($this->deferred[$item->getKey()]);
        return $item instanceof CacheItem
            && self::store($this->cache, $item->getKey(), $item->get(), $item->left());
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        if (!$item instanceof CacheItem) {
            return false;
        }
        $this->deferred[$item->getKey()] = clone $item;
        return true;
    }

    public function commit(): bool
    {
        $all = true;
        foreach ($this->deferred as $item) {
            $all = $this->save($item) && $all;
        }
        return $all;
    }
}
