<?php

/** What differs between the contenders: where connections are kept, and where cached values are. */

declare(strict_types=1);

namespace Bench\Db;

interface Pool
{
    /** A connection that nobody else uses until `put()`: a PDO, or an object that stands for one. */
    public function get(): object;

    public function put(object $connection): void;
}

interface Cache
{
    /** null where the key is unknown. */
    public function get(string $key): ?string;

    public function set(string $key, string $value): void;
}
