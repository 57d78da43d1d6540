<?php

declare(strict_types=1);

namespace Apus\Gateway;

/**
 * Letters to one user that are not done with: not delivered yet, or not acknowledged yet. All of a user's deliveries go through its
 * mailbox, one after the other, in the worker that is the user's home: so they keep their order, and none falls between "nobody is
 * connected" and "somebody has just connected".
 */
final class Mailbox
{
    /** @var array<string, Letter> by id, the oldest first; a delivered one stays while it waits to be acknowledged */
    private array $letters = [];
    /** @var list<\Closure(): void> */
    private array $jobs = [];
    private bool $busy = false;

    public function __construct(public readonly string $user, private readonly PostOffice $office)
    {
    }

    public function isDone(): bool
    {
        return $this->letters === [] && !$this->busy;
    }

    /** Whether a coroutine is at work for it. */
    public function isBusy(): bool
    {
        return $this->busy;
    }

    public function count(): int
    {
        return count($this->letters);
    }

    /** Delivers a letter, or keeps it; answers to whom it says. */
    public function take(Letter $letter): void
    {
        $this->enqueue(fn () => $this->deliver($letter));
    }

    /**
     * A connection of the user has opened: it gets what was not acknowledged, and then what was not delivered.
     * @param \Closure(): void $bind makes it one of those that whatever is sent from then on reaches
     */
    public function welcome(int $fd, \Closure $bind): void
    {
        $this->enqueue(function () use ($fd, $bind): void {
            foreach ($this->letters as $letter) {
                if ($letter->delivered > 0 && !$this->isExpired($letter) && $this->office->pushTo($fd, $letter)) {
                    $this->office->counters->resent++;
                }
            }
            $bind();
            $this->flush();
        });
    }

    /** Delivers what waits. */
    public function retry(): void
    {
        $this->enqueue($this->flush(...));
    }

    /**
     * Letters of the worker that was the user's home before: they are older than all that are here.
     * @param array<string, Letter> $letters by id
     */
    public function inherit(array $letters): void
    {
        $this->enqueue(function () use ($letters): void {
            $kept = array_filter($letters, fn (Letter $letter): bool => $this->office->reserve($letter->bytes));
            $this->office->counters->dropped += count($letters) - count($kept);
            $this->letters = $kept + $this->letters;
            $this->flush();
        });
    }

    /** @param \Closure(list<Letter>): void $heir takes all letters, the oldest first */
    public function handOver(\Closure $heir): void
    {
        $this->enqueue(function () use ($heir): void {
            $letters = array_values($this->letters);
            array_map($this->remove(...), $letters);
            $heir($letters);
        });
    }

    /** @return bool whether such a letter was waited for */
    public function acknowledge(string $id): bool
    {
        $letter = $this->letters[$id] ?? null;
        if ($letter === null || !$letter->wantsAck) {
            return false;
        }
        $letter->acknowledged = true;
        $this->remove($letter);
        $this->office->counters->acknowledged++;
        // Until the first answer has left, whoever sends it gives both.
        if ($letter->answered) {
            $this->office->answerSeen($letter);
        }
        return true;
    }

    public function dropExpired(): void
    {
        foreach ($this->letters as $letter) {
            if ($this->isExpired($letter)) {
                $this->drop($letter);
            }
        }
    }

    private function deliver(Letter $letter): void
    {
        $this->flush();
        $offline = $this->oldestUndelivered() !== null;
        if ($offline && !$letter->mayWait) {
            $this->office->answerDelivered($letter, false);
            return;
        }
        // Kept before it is sent: the acknowledgement may be here before the sending has returned.
        if (($offline || $letter->wantsAck) && !$this->keep($letter)) {
            $this->office->answerFull($letter);
            return;
        }
        if (!$offline) {
            $this->send($letter);
        }
        if ($letter->delivered > 0) {
            $this->office->answerDelivered($letter, false);
            $letter->acknowledged && $this->office->answerSeen($letter);
        } elseif (!$letter->mayWait) {
            $this->remove($letter);
            $this->office->answerDelivered($letter, false);
        } elseif ($this->keep($letter)) {
            $this->office->counters->queued++;
            $this->office->answerDelivered($letter, true);
        } else {
            $this->office->answerFull($letter);
        }
    }

    /** Sends what waits, the oldest first, until one reaches nobody. */
    private function flush(): void
    {
        while (($letter = $this->oldestUndelivered()) !== null) {
            if ($this->isExpired($letter)) {
                $this->drop($letter);
                continue;
            }
            $this->send($letter);
            if ($letter->delivered === 0) {
                return;
            }
            if (!$letter->wantsAck) {
                $this->remove($letter);
            }
        }
    }

    private function send(Letter $letter): void
    {
        $reached = $this->office->sendTo($this->user, $letter);
        // What was acknowledged has arrived, whatever became of the count.
        $letter->delivered = max($reached, (int) $letter->acknowledged);
    }

    private function oldestUndelivered(): ?Letter
    {
        foreach ($this->letters as $letter) {
            if ($letter->delivered === 0) {
                return $letter;
            }
        }
        return null;
    }

    /** Makes room for it, at the cost of the user's oldest; false when the whole gateway keeps too much. */
    private function keep(Letter $letter): bool
    {
        if (isset($this->letters[$letter->id])) {
            return true;
        }
        while (count($this->letters) >= $this->office->perUser) {
            $this->drop($this->letters[array_key_first($this->letters)]);
        }
        if (!$this->office->reserve($letter->bytes)) {
            return false;
        }
        $this->letters[$letter->id] = $letter;
        return true;
    }

    private function drop(Letter $letter): void
    {
        $this->office->counters->dropped++;
        $this->remove($letter);
    }

    private function remove(Letter $letter): void
    {
        if (isset($this->letters[$letter->id])) {
            unset($this->letters[$letter->id]);
            $this->office->release($letter->bytes);
        }
    }

    private function isExpired(Letter $letter): bool
    {
        return $letter->expires <= microtime(true);
    }

    /** Jobs of a mailbox never overlap, though each may wait: whoever comes while one runs leaves the job to it. */
    private function enqueue(\Closure $job): void
    {
        $this->jobs[] = $job;
        if ($this->busy) {
            return;
        }
        $this->busy = true;
        try {
            while ($this->jobs !== []) {
                (array_shift($this->jobs))();
            }
        } finally {
            $this->busy = false;
            $this->office->done($this);
        }
    }
}
