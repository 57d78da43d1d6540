<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Atomic\Long;
use Apus\Cache;
use Apus\RateLimiter;

/** What all processes share: made before they are. */
final readonly class Shared
{
    private const CLIENTS = 65_536;
    private const ADDRESSES = 262_144;

    public Cache $cache;
    public Limits $limits;
    /** Wrong keys of one address. */
    public RateLimiter $failures;
    /** Counted clicks and impressions of one address. */
    public RateLimiter $visitors;
    /** Bytes of the spool that are not in the database. */
    public Long $waiting;

    public function __construct()
    {
        $this->cache = new Cache(64 << 20);
        $this->limits = new Limits(self::CLIENTS);
        $this->failures = new RateLimiter(self::ADDRESSES, 30, 60.0);
        $this->visitors = new RateLimiter(self::ADDRESSES, 600, 60.0);
        $this->waiting = new Long;
    }
}
