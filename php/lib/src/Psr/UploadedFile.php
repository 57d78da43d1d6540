<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Http\Request;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\StreamInterface;
use Psr\Http\Message\UploadedFileInterface;

/** A file that came with a form. It is opened when it is asked for, and moved without being copied. */
final class UploadedFile implements UploadedFileInterface
{
    private ?StreamInterface $stream = null;

    private bool $moved = false;

    /**
     * @param Request|null $request removes the file when it is freed; PHP does where there is none
     * @param array{name: string, type: string, tmp_name: string, error: int, size: int} $file
     */
    public function __construct(
        private readonly ?Request $request,
        private readonly array $file,
        private readonly StreamFactoryInterface $streams,
    ) {
    }

    public function getStream(): StreamInterface
    {
        $this->check();
        return $this->stream ??= $this->streams->createStreamFromFile($this->file['tmp_name']);
    }

    public function moveTo($targetPath): void
    {
        if (!is_string($targetPath) || $targetPath === '') {
            throw new \InvalidArgumentException('the place to move a file to is a path');
        }
        $this->check();
        $from = $this->file['tmp_name'];
        // Where the target is no path but of a stream wrapper, the file is copied.
        $done = str_contains($targetPath, '://') ? @copy($from, $targetPath) : @move_uploaded_file($from, $targetPath);
        if (!$done) {
            throw new \RuntimeException("the file cannot be moved to $targetPath");
        }
        $this->moved = true;
        $this->stream?->close();
    }

    public function getSize(): ?int
    {
        return $this->file['size'];
    }

    public function getError(): int
    {
        return $this->file['error'];
    }

    public function getClientFilename(): ?string
    {
        return $this->file['name'];
    }

    public function getClientMediaType(): ?string
    {
        return $this->file['type'];
    }

    private function check(): void
    {
        if ($this->file['error'] !== UPLOAD_ERR_OK) {
            throw new \RuntimeException("the file was not stored: error {$this->file['error']}");
        }
        if ($this->moved) {
            throw new \RuntimeException('the file was moved');
        }
    }
}
