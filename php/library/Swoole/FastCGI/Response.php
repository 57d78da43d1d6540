<?php

declare(strict_types=1);

namespace Swoole\FastCGI;

use Swoole\FastCGI\Record\EndRequest;
use Swoole\FastCGI\Record\Stderr;
use Swoole\FastCGI\Record\Stdout;

/** An answer from the records that were received. */
class Response extends Message
{
    public function __construct(array $records)
    {
        if (!static::verify($records)) {
            throw new \InvalidArgumentException('Bad records');
        }
        foreach ($records as $record) {
            if ($record instanceof Stdout) {
                $this->body .= $record->getContentData();
            } elseif ($record instanceof Stderr) {
                $this->error .= $record->getContentData();
            }
        }
    }

    protected static function verify(array $records): bool
    {
        return end($records) instanceof EndRequest;
    }
}
