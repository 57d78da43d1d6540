<?php

declare(strict_types=1);

namespace Swoole\FastCGI\Record;

use Swoole\FastCGI;

class GetValues extends Params
{
    public function __construct(array $keys)
    {
        parent::__construct(array_fill_keys($keys, ''));
        $this->type = FastCGI::GET_VALUES;
    }
}
