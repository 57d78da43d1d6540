<?php

declare(strict_types=1);

/** What functions of the library set. */
class SwooleLibrary
{
    /** @var array<string, mixed> */
    public static array $options = [];

    /** @var list<Swoole\NameResolver> those of swoole_name_resolver_add() */
    public static array $resolvers = [];
}
