<?php

declare(strict_types=1);

namespace Swoole\Curl;

/** A handle of curl as the functions swoole_curl_* have it: over the extension, whose calls wait in a coroutine. */
final class Handler implements \Stringable
{
    private ?\CurlHandle $curl;

    private ?string $content = null;

    private bool $returns = false;

    public function __construct(string $url = '')
    {
        $this->curl = curl_init($url === '' ? null : $url) ?: throw new Exception('curl_init() failed');
    }

    public function __toString(): string
    {
        return 'Object(' . spl_object_id($this) . ') of type (curl)';
    }

    public function isAvailable(): bool
    {
        if ($this->curl === null) {
            trigger_error('supplied resource is not a valid cURL handle resource', E_USER_WARNING);
            return false;
        }
        return true;
    }

    public function setOpt(int $opt, mixed $value): bool
    {
        if (!$this->isAvailable()) {
            return false;
        }
        if ($opt === CURLOPT_RETURNTRANSFER) {
            $this->returns = (bool) $value;
        }
        if (is_callable($value) && !is_string($value)) {
            // A callback gets this object, which the program knows.
            $value = fn (\CurlHandle $curl, mixed ...$more): mixed => $value($this, ...$more);
        }
        return curl_setopt($this->curl, $opt, $value);
    }

    public function exec(): string|bool
    {
        if (!$this->isAvailable()) {
            return false;
        }
        $result = curl_exec($this->curl);
        $this->content = $this->returns && is_string($result) ? $result : null;
        return $result;
    }

    public function getInfo(int $opt = 0): mixed
    {
        if (!$this->isAvailable()) {
            return false;
        }
        return $opt === 0 ? curl_getinfo($this->curl) : curl_getinfo($this->curl, $opt);
    }

    public function errno(): int
    {
        return $this->isAvailable() ? curl_errno($this->curl) : 0;
    }

    public function error(): string
    {
        return $this->isAvailable() ? curl_error($this->curl) : '';
    }

    public function reset(): bool
    {
        if (!$this->isAvailable()) {
            return false;
        }
        curl_reset($this->curl);
        [$this->content, $this->returns] = [null, false];
        return true;
    }

    /** What the last transfer returned. */
    public function getContent(): ?string
    {
        return $this->isAvailable() ? $this->content : null;
    }

    public function close(): void
    {
        if ($this->isAvailable()) {
            [$this->curl, $this->content] = [null, null];
        }
    }
}
