<?php

declare(strict_types=1);

namespace Bench;

require_once __DIR__ . '/php-columns.php';

final class SplColumns extends PhpColumns
{
    protected function column(int $size): \SplFixedArray
    {
        return new \SplFixedArray($size);
    }
}
