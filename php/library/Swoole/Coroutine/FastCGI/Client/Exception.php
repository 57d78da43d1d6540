<?php

declare(strict_types=1);

namespace Swoole\Coroutine\FastCGI\Client;

class Exception extends \Swoole\Exception
{
}
