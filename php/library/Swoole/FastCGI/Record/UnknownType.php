<?php

declare(strict_types=1);

namespace Swoole\FastCGI\Record;

use Swoole\FastCGI;
use Swoole\FastCGI\Record;

class UnknownType extends Record
{
    protected int $type1;

    protected string $reserved1;

    public function __construct(int $type, string $reserved = '')
    {
        $this->type = FastCGI::UNKNOWN_TYPE;
        [$this->type1, $this->reserved1] = [$type, $reserved];
        $this->setContentData($this->packPayload());
    }

    public function getUnrecognizedType(): int
    {
        return $this->type1;
    }

    public static function unpackPayload(Record $self, string $binaryData): void
    {
        [$self->type1, $self->reserved1] = array_values(self::fields('Ctype/a7rest', $binaryData));
    }

    protected function packPayload(): string
    {
        return pack('Ca7', $this->type1, $this->reserved1);
    }
}
