<?php

declare(strict_types=1);

namespace Swoole\Database;

/** What every configuration of a pool has: where to connect, and options. Each class has a $port of its own. */
trait Endpoint
{
    protected string $host = '127.0.0.1';

    protected array $options = [];

    public function getHost(): string
    {
        return $this->host;
    }

    public function withHost(string $host): self
    {
        $this->host = $host;
        return $this;
    }

    public function getPort(): int
    {
        return $this->port;
    }

    public function withPort(int $port): self
    {
        $this->port = $port;
        return $this;
    }

    public function getOptions(): array
    {
        return $this->options;
    }
}
