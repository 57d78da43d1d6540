<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\Cache\InvalidArgumentException;

/** What PSR-6 throws for a key. */
final class PoolKey extends BadKey implements InvalidArgumentException
{
}
