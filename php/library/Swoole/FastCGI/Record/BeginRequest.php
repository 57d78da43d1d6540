<?php

declare(strict_types=1);

namespace Swoole\FastCGI\Record;

use Swoole\FastCGI;
use Swoole\FastCGI\Record;

class BeginRequest extends Record
{
    protected string $reserved1;

    public function __construct(
        protected int $role = FastCGI::UNKNOWN_ROLE,
        protected int $flags = 0,
        string $reserved = '',
    ) {
        $this->type = FastCGI::BEGIN_REQUEST;
        $this->reserved1 = $reserved;
        $this->setContentData($this->packPayload());
    }

    public function getRole(): int
    {
        return $this->role;
    }

    public function getFlags(): int
    {
        return $this->flags;
    }

    protected static function unpackPayload(Record $self, string $binaryData): void
    {
        [$self->role, $self->flags, $self->reserved1] = array_values(self::fields('nrole/Cflags/a5rest', $binaryData));
    }

    protected function packPayload(): string
    {
        return pack('nCa5', $this->role, $this->flags, $this->reserved1);
    }
}
