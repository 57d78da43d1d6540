<?php

declare(strict_types=1);

namespace Bench;

require_once __DIR__ . '/apus-rows.php';

final class SwooleTable extends ApusRows
{
    protected const TABLE = 'Swoole\Table';
}
