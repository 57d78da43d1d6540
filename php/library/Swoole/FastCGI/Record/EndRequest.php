<?php

declare(strict_types=1);

namespace Swoole\FastCGI\Record;

use Swoole\FastCGI;
use Swoole\FastCGI\Record;

class EndRequest extends Record
{
    protected string $reserved1;

    public function __construct(
        protected int $protocolStatus = FastCGI::REQUEST_COMPLETE,
        protected int $appStatus = 0,
        string $reserved = '',
    ) {
        $this->type = FastCGI::END_REQUEST;
        $this->reserved1 = $reserved;
        $this->setContentData($this->packPayload());
    }

    public function getAppStatus(): int
    {
        return $this->appStatus;
    }

    public function getProtocolStatus(): int
    {
        return $this->protocolStatus;
    }

    protected static function unpackPayload(Record $self, string $binaryData): void
    {
        $fields = self::fields('Nstatus/Cprotocol/a3rest', $binaryData);
        [$self->appStatus, $self->protocolStatus, $self->reserved1] = array_values($fields);
    }

    protected function packPayload(): string
    {
        return pack('NCa3', $this->appStatus, $this->protocolStatus, $this->reserved1);
    }
}
