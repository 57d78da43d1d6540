<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\SimpleCache\InvalidArgumentException;

/** What PSR-16 throws for a key. */
final class SimpleCacheKey extends BadKey implements InvalidArgumentException
{
}
