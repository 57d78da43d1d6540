<?php

declare(strict_types=1);

namespace Bench\Db;

final class Punctuation
{
    public function comma(): string
    {
        return ', ';
    }

    public function end(): string
    {
        return '!';
    }
}
