<?php

declare(strict_types=1);

namespace Swoole\Coroutine\Http;

/** The answer to a request that a function of this namespace made. */
class ClientProxy
{
    private readonly array $headers;

    private readonly array $cookies;

    public function __construct(
        private readonly string $body,
        private readonly int $statusCode,
        ?array $headers,
        ?array $cookies,
    ) {
        $this->headers = $headers ?? [];
        $this->cookies = $cookies ?? [];
    }

    public function getBody(): string
    {
        return $this->body;
    }

    public function getStatusCode(): int
    {
        return $this->statusCode;
    }

    public function getHeaders(): array
    {
        return $this->headers;
    }

    public function getCookies(): array
    {
        return $this->cookies;
    }
}
