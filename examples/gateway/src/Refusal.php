<?php

declare(strict_types=1);

namespace Apus\Gateway;

/** No, and why: the code is the HTTP status. */
final class Refusal extends \RuntimeException
{
    /** @param float $retryAfter seconds after which it may be tried again; 0 when that would not help */
    public function __construct(int $status, string $message, public readonly float $retryAfter = 0.0)
    {
        parent::__construct($message, $status);
    }

    /** @return array<string, mixed> as the pushing side reads it */
    public function answer(): array
    {
        $answer = ['ok' => false, 'error' => $this->getMessage(), 'status' => $this->getCode()];
        return $this->retryAfter > 0 ? $answer + ['retry_after' => round($this->retryAfter, 3)] : $answer;
    }
}
