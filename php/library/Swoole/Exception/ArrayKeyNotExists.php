<?php

declare(strict_types=1);

namespace Swoole\Exception;

class ArrayKeyNotExists extends \RuntimeException
{
}
