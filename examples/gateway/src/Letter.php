<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** A message to one user, while the worker that keeps the user's mailbox has it. */
final class Letter
{
    public readonly int $bytes;
    /** Connections that it reached. */
    public int $delivered = 0;
    public bool $acknowledged = false;
    /** Whether its sender knows what became of it. */
    public bool $answered = false;

    /** @param array{int, int} $answerTo see Peers::answer() */
    public function __construct(
        public readonly string $id,
        public readonly string $frame,
        public readonly bool $wantsAck,
        public readonly bool $mayWait,
        public readonly float $expires,
        public readonly array $answerTo,
    ) {
        // What PHP itself needs for a letter is counted, too.
        $this->bytes = strlen($frame) + 512;
    }

    /** @return list<mixed> for import() */
    public function export(): array
    {
        return [$this->id, $this->frame, $this->wantsAck, $this->mayWait, $this->expires, $this->answerTo];
    }

    /**
     * It counts as not delivered: the connections that it went to, and did not answer, may be gone.
     * @param list<mixed> $letter of export()
     */
    public static function import(array $letter): self
    {
        $new = new self(...$letter);
        $new->answered = true;
        return $new;
    }
}
