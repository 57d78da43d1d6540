<?php

declare(strict_types=1);

namespace Swoole\FastCGI\Record;

use Swoole\FastCGI;

class GetValuesResult extends Params
{
    public function __construct(array $values)
    {
        parent::__construct($values);
        $this->type = FastCGI::GET_VALUES_RESULT;
    }
}
