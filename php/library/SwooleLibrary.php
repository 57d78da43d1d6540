<?php

declare(strict_types=1);

/** What swoole_library_set_options() sets. */
class SwooleLibrary
{
    /** @var array<string, mixed> */
    public static array $options = [];
}
