<?php

declare(strict_types=1);

namespace Swoole\FastCGI;

use Swoole\FastCGI;

/** A record: eight bytes of head, contents, and padding to a multiple of eight. */
class Record implements \Stringable
{
    protected int $version = FastCGI::VERSION_1;

    protected int $type = FastCGI::UNKNOWN_TYPE;

    protected int $requestId = FastCGI::DEFAULT_REQUEST_ID;

    protected int $reserved = 0;

    private string $contentData = '';

    private int $paddingLength = 0;

    final public function __toString(): string
    {
        $content = $this->contentData;
        $head = [$this->version, $this->type, $this->requestId, strlen($content), $this->paddingLength, $this->reserved];
        return pack('CCnnCC', ...$head) . $content . str_repeat("\0", $this->paddingLength);
    }

    final public static function unpack(string $binaryData): static
    {
        $head = strlen($binaryData) < FastCGI::HEADER_LEN ? false : unpack(FastCGI::HEADER_FORMAT, $binaryData);
        if ($head === false || strlen($binaryData) < FastCGI::HEADER_LEN + $head['contentLength']) {
            throw new \RuntimeException('Can not unpack data from the binary buffer');
        }
        $record = (new \ReflectionClass(static::class))->newInstanceWithoutConstructor();
        $record->version = $head['version'];
        $record->type = $head['type'];
        $record->requestId = $head['requestId'];
        $record->reserved = $head['reserved'];
        $record->contentData = substr($binaryData, FastCGI::HEADER_LEN, $head['contentLength']);
        $record->paddingLength = $head['paddingLength'];
        if ($record->contentData !== '') {
            static::unpackPayload($record, $record->contentData);
        }
        return $record;
    }

    /** What is longer than a record can be is cut off. */
    public function setContentData(string $data): self
    {
        $this->contentData = substr($data, 0, FastCGI::MAX_CONTENT_LENGTH);
        $this->paddingLength = -strlen($this->contentData) & 7;
        return $this;
    }

    public function getContentData(): string
    {
        return $this->contentData;
    }

    public function getVersion(): int
    {
        return $this->version;
    }

    public function getType(): int
    {
        return $this->type;
    }

    public function getRequestId(): int
    {
        return $this->requestId;
    }

    public function setRequestId(int $requestId): self
    {
        $this->requestId = $requestId;
        return $this;
    }

    final public function getContentLength(): int
    {
        return strlen($this->contentData);
    }

    final public function getPaddingLength(): int
    {
        return $this->paddingLength;
    }

    /** Sets the properties of a kind of record from its contents. */
    protected static function unpackPayload(self $self, string $binaryData): void
    {
    }

    protected function packPayload(): string
    {
        return $this->contentData;
    }

    /** @return array of what unpack() finds */
    final protected static function fields(string $format, string $data): array
    {
        return @unpack($format, $data) ?: throw new \RuntimeException('Can not unpack data from the binary buffer');
    }
}
