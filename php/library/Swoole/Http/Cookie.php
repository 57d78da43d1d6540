<?php

declare(strict_types=1);

namespace Swoole\Http;

/** A cookie to set, put together step by step. */
class Cookie
{
    /** What a name, a raw value, a path or a domain must not hold. */
    private const FORBIDDEN = ",; \t\r\n\013\014";
    /** The first second of the year 10000. */
    private const END = 253402300800;

    private string $name = '';
    private string $value = '';
    private int $expires = 0;
    private string $path = '';
    private string $domain = '';
    private bool $secure = false;
    private bool $httpOnly = false;
    private string $sameSite = '';
    private string $priority = '';
    private bool $partitioned = false;
    private ?bool $encode = null;

    public function __construct(bool $encode = true)
    {
        $this->encode = $encode;
    }

    /** Descendants may leave the constructor out. */
    private function made(): self
    {
        return $this->encode === null ? throw new \Error(self::class . ' is not initialized') : $this;
    }

    public function withName(string $name): self
    {
        $this->made()->name = $name;
        return $this;
    }

    public function withValue(string $value = ''): self
    {
        $this->made()->value = $value;
        return $this;
    }

    public function withExpires(int $expires = 0): self
    {
        $this->made()->expires = $expires;
        return $this;
    }

    public function withPath(string $path = '/'): self
    {
        $this->made()->path = $path;
        return $this;
    }

    public function withDomain(string $domain = ''): self
    {
        $this->made()->domain = $domain;
        return $this;
    }

    public function withSecure(bool $secure = false): self
    {
        $this->made()->secure = $secure;
        return $this;
    }

    public function withHttpOnly(bool $httpOnly = false): self
    {
        $this->made()->httpOnly = $httpOnly;
        return $this;
    }

    public function withSameSite(string $sameSite = ''): self
    {
        $this->made()->sameSite = $sameSite;
        return $this;
    }

    public function withPriority(string $priority = ''): self
    {
        $this->made()->priority = $priority;
        return $this;
    }

    public function withPartitioned(bool $partitioned = false): self
    {
        $this->made()->partitioned = $partitioned;
        return $this;
    }

    /** @return array<string, string|int|bool> */
    public function toArray(): array
    {
        return [
            'name' => $this->name,
            'value' => $this->value,
            'path' => $this->path,
            'domain' => $this->domain,
            'sameSite' => $this->sameSite,
            'priority' => $this->priority,
            'encode' => $this->encode,
            'expires' => $this->expires,
            'secure' => $this->secure,
            'httpOnly' => $this->httpOnly,
            'partitioned' => $this->partitioned,
        ];
    }

    /** The value of a Set-Cookie field; false and a warning for one that cannot be. */
    public function toString(): string|false
    {
        if ($this->encode === null) {
            swoole_set_last_error(SWOOLE_ERROR_HTTP_COOKIE_UNAVAILABLE);
            return false;
        }
        $wrong = $this->mistake();
        if ($wrong !== null) {
            trigger_error($wrong, E_USER_WARNING);
            return false;
        }
        $parts = [$this->pair(), ...$this->expiry()];
        foreach (['path' => $this->path, 'domain' => $this->domain] as $name => $value) {
            if ($value !== '') {
                $parts[] = "$name=$value";
            }
        }
        if ($this->secure) {
            $parts[] = 'secure';
        }
        if ($this->httpOnly) {
            $parts[] = 'HttpOnly';
        }
        foreach (['SameSite' => $this->sameSite, 'Priority' => $this->priority] as $name => $value) {
            if ($value !== '') {
                $parts[] = "$name=$value";
            }
        }
        if ($this->partitioned) {
            $parts[] = 'Partitioned';
        }
        return implode('; ', $parts);
    }

    public function reset(): void
    {
        if ($this->encode === null) {
            return;
        }
        $this->name = $this->value = $this->path = $this->domain = $this->sameSite = $this->priority = '';
        $this->expires = 0;
        $this->secure = $this->httpOnly = $this->partitioned = false;
        $this->encode = true;
    }

    public function __clone()
    {
        throw new \Error('Trying to clone an uncloneable object of class ' . self::class);
    }

    public function __serialize(): array
    {
        throw new \Exception("Serialization of '" . self::class . "' is not allowed");
    }

    private function mistake(): ?string
    {
        $holds = fn (string $text, string $more = ''): bool => strpbrk($text, self::FORBIDDEN . $more) !== false;
        return match (true) {
            $this->name === '' => 'The name cannot be empty',
            $holds($this->name, '=') => 'The name cannot contain "=", ",", ";", " " or control characters',
            !$this->encode && $holds($this->value) => 'The value cannot contain ",", ";", " " or control characters',
            $this->value !== '' && $this->expires >= self::END => 'The expires cannot have a year greater than 9999',
            $holds($this->path) => 'The path option cannot contain ",", ";", " " or control characters',
            $holds($this->domain) => 'The domain option cannot contain ",", ";", " " or control characters',
            $holds($this->sameSite) || $holds($this->priority) =>
                'The SameSite and Priority options cannot contain ",", ";", " " or control characters',
            default => null,
        };
    }

    private function pair(): string
    {
        $value = $this->encode ? urlencode($this->value) : $this->value;
        return $this->name . '=' . ($this->value === '' ? 'deleted' : $value);
    }

    /** @return list<string> */
    private function expiry(): array
    {
        $expires = $this->value === '' ? 1 : $this->expires;
        if ($expires <= 0) {
            return [];
        }
        return ['expires=' . gmdate('D, d-M-Y H:i:s \G\M\T', $expires), 'Max-Age=' . max(0, $expires - time())];
    }
}
