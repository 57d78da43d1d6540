<?php

declare(strict_types=1);

namespace Swoole\Curl;

class Exception extends \Swoole\Exception
{
}
