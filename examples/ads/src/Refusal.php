<?php

declare(strict_types=1);

namespace Apus\Ads;

/** A request that is answered with an error. The code is the status. */
final class Refusal extends \Exception
{
    /**
     * @param array<string, string> $fields what is wrong, by field
     * @param ?float $retryAfter seconds
     */
    public function __construct(int $status, string $message, public readonly array $fields = [], public readonly ?float $retryAfter = null)
    {
        parent::__construct($message, $status);
    }

    public function answer(): Answer
    {
        $headers = $this->retryAfter === null ? [] : ['Retry-After' => (string) max(1, (int) ceil($this->retryAfter))];
        if ($this->code === 401) {
            $headers['WWW-Authenticate'] = 'Bearer';
        }
        return new Answer($this->code, ['error' => $this->message] + ($this->fields === [] ? [] : ['fields' => $this->fields]), $headers);
    }
}
