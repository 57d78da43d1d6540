<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\Cache\CacheItemInterface;

/** An item of a CachePool. */
final class CacheItem implements CacheItemInterface
{
    /** When it ends, in Unix seconds; null for never. */
    private ?float $end = null;

    public function __construct(
        private readonly string $key,
        private mixed $value = null,
        private readonly bool $hit = false,
    ) {
    }

    public function getKey(): string
    {
        return $this->key;
    }

    public function get(): mixed
    {
        return $this->value;
    }

    public function isHit(): bool
    {
        return $this->hit;
    }

    public function set($value): static
    {
        $this->value = $value;
        return $this;
    }

    public function expiresAt($expiration): static
    {
        if ($expiration !== null && !$expiration instanceof \DateTimeInterface) {
            throw new PoolKey('a time is a DateTimeInterface or null');
        }
        $this->end = $expiration === null ? null : (float) $expiration->format('U.u');
        return $this;
    }

    public function expiresAfter($time): static
    {
        $seconds = PoolKey::seconds($time);
        $this->end = $seconds === null ? null : microtime(true) + $seconds;
        return $this;
    }

    /** Seconds that it has left, null for no end. */
    public function left(): ?float
    {
        return $this->end === null ? null : $this->end - microtime(true);
    }

    /** What the pool gives for it while it waits to be stored. */
    public function stored(): self
    {
        $left = $this->left();
        if ($left !== null && $left <= 0) {
            return new self($this->key);
        }
        $value = is_object($this->value) ? clone $this->value : $this->value;
        $item = new self($this->key, $value, true);
        $item->end = $this->end;
        return $item;
    }
}
