<?php

declare(strict_types=1);

namespace Swoole\FastCGI;

use Swoole\Http\Status;

/** An HTTP response as CGI programs write it: a head with `Status:`, an empty line, the body. */
class HttpResponse extends Response
{
    protected $statusCode;

    protected $reasonPhrase;

    protected array $headers = [];

    /** Names by themselves in lower case. */
    protected array $headersMap = [];

    protected array $setCookieHeaderLines = [];

    public function __construct(array $records = [])
    {
        parent::__construct($records);
        [$head, $body] = explode("\r\n\r\n", $this->body, 2) + [1 => null];
        if ($body === null) {
            $this->withStatusCode(Status::BAD_GATEWAY)->withReasonPhrase('Invalid FastCGI Response');
            if ($head !== '') {
                $this->withError($head);
            }
            return;
        }
        $status = (string) Status::OK;
        foreach (explode("\r\n", $head) as $line) {
            [$name, $value] = array_map(trim(...), explode(':', $line, 2)) + [1 => null];
            if ($value === null) {
                continue;
            }
            match (strtolower($name)) {
                'status' => $status = $value,
                'set-cookie' => $this->withSetCookieHeaderLine($value),
                default => $this->withHeader($name, $value),
            };
        }
        [$code, $reason] = explode(' ', $status, 2) + [1 => null];
        $this->withStatusCode((int) $code)->withReasonPhrase($reason ?? Status::getReasonPhrase((int) $code));
        $this->withBody($body);
    }

    public function getStatusCode(): int
    {
        return $this->statusCode;
    }

    public function withStatusCode(int $statusCode): self
    {
        $this->statusCode = $statusCode;
        return $this;
    }

    public function getReasonPhrase(): string
    {
        return $this->reasonPhrase;
    }

    public function withReasonPhrase(string $reasonPhrase): self
    {
        $this->reasonPhrase = $reasonPhrase;
        return $this;
    }

    public function getHeader(string $name): ?string
    {
        $known = $this->headersMap[strtolower($name)] ?? null;
        return $known === null ? null : $this->headers[$known];
    }

    public function getHeaders(): array
    {
        return $this->headers;
    }

    public function withHeader(string $name, string $value): self
    {
        $this->headers[$name] = $value;
        $this->headersMap[strtolower($name)] = $name;
        return $this;
    }

    public function withHeaders(array $headers): self
    {
        foreach ($headers as $name => $value) {
            $this->withHeader($name, $value);
        }
        return $this;
    }

    public function getSetCookieHeaderLines(): array
    {
        return $this->setCookieHeaderLines;
    }

    public function withSetCookieHeaderLine(string $value): self
    {
        $this->setCookieHeaderLines[] = $value;
        return $this;
    }
}
