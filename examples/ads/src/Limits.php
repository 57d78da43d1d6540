<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\RateLimiter;

/** Requests and events a minute, for each client its own number of them, counted over all workers. */
final readonly class Limits
{
    /** Units a minute that everybody has: what one thing costs is what differs. */
    private const UNITS = 1_000_000_000;

    private RateLimiter $limiter;

    public function __construct(int $clients)
    {
        $this->limiter = new RateLimiter($clients, self::UNITS, 60.0);
    }

    /** @throws Refusal 429; 422 for more than the client may send in a minute */
    public function take(Client $client, int $things): void
    {
        if ($client->perMinute === 0 || $things === 0) {
            return;
        }
        $cost = $things * intdiv(self::UNITS + $client->perMinute - 1, $client->perMinute);
        if ($things > $client->perMinute) {
            throw new Refusal(422, "this key has $client->perMinute events a minute, and this request $things");
        }
        $cost = min($cost, self::UNITS);
        $key = (string) $client->id;
        if (!$this->limiter->allow($key, $cost)) {
            $wait = $this->limiter->check($key, $cost)['retry_after'];
            throw new Refusal(429, "this key has $client->perMinute requests and events a minute", retryAfter: $wait);
        }
    }
}
