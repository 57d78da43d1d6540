<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** Somebody whom the door has let in. */
final class Visitor
{
    /** @param list<string> $topics that the token names */
    public function __construct(public readonly string $user, public readonly array $topics = [])
    {
    }
}
