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

    /** @var array<string, array{float, float}> tokens, and when they were counted, by sender */
    private array $buckets = [];

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
        $seconds = $this->peers->isHere($home)
            ? $this->take($sender, microtime(true))
            : $this->peers->ask(self::PATIENCE, $home, 'take', $sender, microtime(true));
        if ($seconds > 0) {
            throw new Refusal(429, 'too many pushes', $seconds);
        }
    }

    public function sweep(float $now): void
    {
        $full = $this->burst / max(1, $this->rate);
        $this->buckets = array_filter($this->buckets, static fn (array $bucket): bool => $now - $bucket[1] < $full);
    }

    /** @return float 0 when a token was taken, else the seconds until there is one */
    private function take(string $sender, float $now): float
    {
        [$tokens, $then] = $this->buckets[$sender] ?? [$this->burst, $now];
        // Clocks of several workers are one clock, but questions may overtake each other.
        $tokens = min($this->burst, $tokens + max(0.0, $now - $then) * $this->rate);
        $fits = $tokens >= 1;
        if (!isset($this->buckets[$sender]) && count($this->buckets) >= self::MOST) {
            array_shift($this->buckets);
        }
        $this->buckets[$sender] = [$fits ? $tokens - 1 : $tokens, max($now, $then)];
        return $fits ? 0.0 : (1 - $tokens) / $this->rate;
    }
}
