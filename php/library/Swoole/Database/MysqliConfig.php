<?php

declare(strict_types=1);

namespace Swoole\Database;

/** Where and as whom a MysqliPool connects. */
class MysqliConfig
{
    use ServerConfig;
}
