<?php

declare(strict_types=1);

namespace Swoole\Database;

/** Stands for a connection or statement, which cannot be cloned. */
class ObjectProxy extends \Swoole\ObjectProxy
{
    final public function __clone(): void
    {
        throw new \Error('Trying to clone an uncloneable database proxy object');
    }
}
