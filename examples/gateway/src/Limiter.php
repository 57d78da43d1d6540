<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** A token bucket for each sender whose home this worker is, so that all workers together count each sender once. */
final class Limiter
{
    /** Senders remembered; the one that came first is forgotten for one more, which gives it a full bucket again. */
    private const MOST = 100_000;
    /** Seconds in which another worker answers. One that does not, because it is just being replaced, stops nobody. */
    private const PATIENCE = 1.0;
    /** Seconds of a sender's rate that another worker takes at once, and for which it may spend them, so that it need not ask for each push. */
    private const LEASE = 0.01;

    /** @var array<string, array{float, float}> tokens, and when they were counted, by sender */
    private array $buckets = [];
    /** @var array<string, array{int, float}> tokens of other workers' buckets, and until when they count, by sender */
    private array $leases = [];

    /** @param int $rate tokens a second; 0 = no limit */
    public function __construct(private readonly Peers $peers, private readonly int $rate, private readonly int $burst)
    {
        $peers->on('take', fn (array $arguments, array $answerTo) => $peers->answer($answerTo, $this->take(...$arguments)));
    }

    /** @throws Refusal 429 */
    public function check(string $sender): void
    {
        if ($this->rate === 0) {
            return;
        }
        $home = $this->peers->home($sender);
        $taken = $this->peers->isHere($home) ? $this->take($sender, 1) : $this->lease($sender, $home);
        if ($taken < 0) {
            throw new Refusal(429, 'too many pushes', -$taken);
        }
    }

    public function sweep(float $now): void
    {
        $full = $this->burst / max(1, $this->rate);
        $this->buckets = array_filter($this->buckets, static fn (array $bucket): bool => $now - $bucket[1] < $full);
        $this->leases = array_filter($this->leases, static fn (array $lease): bool => $now < $lease[1]);
    }

    private function lease(string $sender, int $home): float
    {
        [$tokens, $until] = $this->leases[$sender] ?? [0, 0.0];
        $now = microtime(true);
        if ($tokens === 0 || $now >= $until) {
            $taken = $this->peers->ask(self::PATIENCE, $home, 'take', $sender, max(1, (int) ($this->rate * self::LEASE)));
            if ($taken === null || $taken < 0) {
                return $taken ?? 0.0;
            }
            // Another push of this sender may have asked meanwhile.
            [$tokens, $until] = $this->leases[$sender] ?? [0, 0.0];
            [$tokens, $until] = [($now < $until ? $tokens : 0) + (int) $taken, $now + self::LEASE];
        }
        $this->leases[$sender] = [$tokens - 1, $until];
        return 1.0;
    }

    /** @return float the tokens that were taken, at most $wanted; or less than 0: minus the seconds until there is one */
    private function take(string $sender, int $wanted): float
    {
        $now = microtime(true);
        [$tokens, $then] = $this->buckets[$sender] ?? [(float) $this->burst, $now];
        $tokens = min($this->burst, $tokens + max(0.0, $now - $then) * $this->rate);
        $taken = min($wanted, (int) $tokens);
        if (!isset($this->buckets[$sender]) && count($this->buckets) >= self::MOST) {
            array_shift($this->buckets);
        }
        $this->buckets[$sender] = [$tokens - $taken, $now];
        return $taken > 0 ? (float) $taken : ($tokens - 1) / $this->rate;
    }
}
