<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Http\Request;
use Psr\Http\Message\StreamInterface;

/**
 * The body of a request as it comes: read once, from front to back. Reading waits for the client.
 *
 * Parameters without types make it fit both versions of psr/http-message.
 */
final class RequestBody implements StreamInterface
{
    private const MOST = 1 << 24;

    private ?int $size;

    private int $read = 0;

    private bool $ended = false;

    public function __construct(private ?Request $request)
    {
        $length = $request->header['content-length'] ?? null;
        $this->size = $length === null ? null : (int) $length;
    }

    public function __toString(): string
    {
        return $this->request === null ? '' : $this->getContents();
    }

    public function close(): void
    {
        $this->request = null;
    }

    public function detach()
    {
        $this->close();
        return null;
    }

    public function getSize(): ?int
    {
        return $this->request === null ? null : $this->size;
    }

    public function tell(): int
    {
        $this->open();
        return $this->read;
    }

    public function eof(): bool
    {
        return $this->request === null || $this->ended || $this->read === $this->size;
    }

    public function isSeekable(): bool
    {
        return false;
    }

    public function seek($offset, $whence = SEEK_SET): void
    {
        throw new \RuntimeException('the body of a request that is read as it comes cannot be read again');
    }

    public function rewind(): void
    {
        $this->read === 0 || $this->seek(0);
    }

    public function isWritable(): bool
    {
        return false;
    }

    public function write($string): int
    {
        throw new \RuntimeException('the body of a request cannot be written');
    }

    public function isReadable(): bool
    {
        return $this->request !== null;
    }

    public function read($length): string
    {
        if ($length < 0) {
            throw new \RuntimeException('a length cannot be negative');
        }
        if ($length === 0) {
            return '';
        }
        try {
            $part = $this->open()->read(min($length, self::MOST));
        } catch (\Apus\Http\Exception $why) {
            throw new \RuntimeException($why->getMessage(), 0, $why);
        }
        $this->read += strlen($part);
        $this->ended = $part === '';
        return $part;
    }

    public function getContents(): string
    {
        $all = '';
        while (($part = $this->read(1 << 18)) !== '') {
            $all .= $part;
        }
        return $all;
    }

    public function getMetadata($key = null)
    {
        return $key === null ? [] : null;
    }

    private function open(): Request
    {
        return $this->request ?? throw new \RuntimeException('the body is closed');
    }
}
