<?php

declare(strict_types=1);

namespace Bench\Db;

final class Greeter
{
    public function __construct(private readonly Punctuation $punctuation)
    {
    }

    public function greet(string $whom): string
    {
        return 'Hello' . $this->punctuation->comma() . $whom . $this->punctuation->end();
    }
}
