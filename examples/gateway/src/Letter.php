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
}
