<?php

declare(strict_types=1);

namespace Swoole\NameResolver;

/** What a lookup goes on with when it is repeated: the nodes of the service that were not tried yet. */
class Context
{
    /** @internal */
    public ?Cluster $untried = null;

    /** @internal */
    public readonly int $family;

    /** @internal */
    public readonly bool $withPort;

    public function __construct(int $family = 2, bool $withPort = false)
    {
        $this->family = $family;
        $this->withPort = $withPort;
    }
}
