<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Response;

final readonly class Answer
{
    /**
     * @param array<mixed> $data
     * @param array<string, string> $headers
     */
    public function __construct(public int $status, public array $data, public array $headers = []) {}

    public function send(Response $response): void
    {
        $response->status($this->status);
        $response->header('Content-Type', 'application/json');
        foreach ($this->headers as $name => $value) {
            $response->header($name, $value);
        }
        $response->end(json_encode($this->data, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES) . "\n");
    }
}
