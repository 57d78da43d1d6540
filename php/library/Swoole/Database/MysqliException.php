<?php

declare(strict_types=1);

namespace Swoole\Database;

class MysqliException extends \Exception
{
}
