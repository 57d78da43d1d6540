<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Coroutine\Channel;

/** Lines that are written and synced together, and who waits for it. */
final class Group
{
    public string $lines = '';
    private readonly Channel $end;
    private bool $durable = false;

    public function __construct()
    {
        $this->end = new Channel(1);
    }

    public function finish(bool $durable): void
    {
        $this->durable = $durable;
        $this->end->close();
    }

    /** @return bool whether the lines are where nothing short of a broken disk takes them from */
    public function wait(): bool
    {
        $this->end->pop();
        return $this->durable;
    }
}
