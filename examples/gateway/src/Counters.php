<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** What one worker has done since it started. */
final class Counters
{
    /** Messages times connections that they reached. */
    public int $delivered = 0;
    /** Messages that had to wait for their user. */
    public int $queued = 0;
    /** Messages given up: too old, or one too many for their user. */
    public int $dropped = 0;
    /** Pushes that were not taken: malformed, not allowed, too many, no room. */
    public int $refused = 0;
    /** Handshakes that were not let in. */
    public int $turned_away = 0;
    public int $acknowledged = 0;
    /** Messages sent again to a connection that came back. */
    public int $resent = 0;
}
