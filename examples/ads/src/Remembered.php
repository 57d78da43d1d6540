<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Cache;

/** Rows that all workers share in memory. While the database is away the last known one goes on being used. */
final readonly class Remembered
{
    /** Seconds for which a row is kept for the case that the database goes away. */
    private const KEPT = 86_400;

    public function __construct(private Cache $cache, private float $fresh) {}

    /**
     * @param \Closure(): ?array<string, mixed> $load
     * @return ?array<string, mixed>
     * @throws Refusal 503
     */
    public function get(string $key, \Closure $load): ?array
    {
        [$row, $until] = $this->cache->get($key) ?? [null, 0.0];
        if ($until > microtime(true)) {
            return $row;
        }
        try {
            $fresh = $load();
        } catch (Refusal $away) {
            return $row ?? throw $away;
        }
        if ($fresh === null) {
            $this->cache->delete($key);
        } else {
            $this->cache->set($key, [$fresh, microtime(true) + $this->fresh], self::KEPT);
        }
        return $fresh;
    }
}
