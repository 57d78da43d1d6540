<?php

declare(strict_types=1);

namespace Swoole\Curl;

/** A handle of curl as the functions swoole_curl_* have it: over the extension, whose calls wait in a coroutine. */
final class Handler implements \Stringable
{
    private ?\CurlHandle $curl;

    private ?string $content = null;

    private bool $returns = false;

    /** CURLOPT_PREREQFUNCTION, which ext/curl has from PHP 8.4 on. */
    private const PREREQFUNCTION = 20312;

    /** Asked when there is a connection, before the request is sent. */
    private ?\Closure $prereq = null;

    private ?\Closure $progress = null;

    private bool $tellsProgress = false;

    /** Whether the address is none, of which only the transfer tells. */
    private bool $malformed = false;

    private int $errno = 0;

    public function __construct(string $url = '')
    {
        $this->curl = curl_init() ?: throw new Exception('curl_init() failed');
        if ($url !== '') {
            $this->setOpt(CURLOPT_URL, $url);
        }
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
        switch ($opt) {
            case CURLOPT_RETURNTRANSFER:
                $this->returns = (bool) $value;
                break;
            case CURLOPT_URL:
                // A scheme begins with a letter (RFC 3986 section 3.1).
                $this->malformed = preg_match('~^[^a-z/?#:][^/?#:]*://~i', (string) $value) === 1;
                break;
            case CURLOPT_HTTPHEADER:
                if (!is_array($value) && !is_iterable($value)) {
                    trigger_error('swoole_curl_setopt(): You must pass either an object or an array with the CURLOPT_HTTPHEADER argument', E_USER_WARNING);
                    return false;
                }
                $value = [...$value];
                break;
            case CURLOPT_HTTP_VERSION:
                if (!in_array($value, [CURL_HTTP_VERSION_NONE, CURL_HTTP_VERSION_1_1], true)) {
                    trigger_error("swoole_curl_setopt(): CURLOPT_HTTP_VERSION[{$value}] is not supported", E_USER_WARNING);
                    return false;
                }
                break;
        }
        if ($opt === self::PREREQFUNCTION) {
            $this->prereq = $value === null ? null : \Closure::fromCallable($value);
            return true;
        }
        if (is_callable($value) && !is_string($value)) {
            // A callback gets this object, which the program knows.
            $value = fn (\CurlHandle $curl, mixed ...$more): mixed => $value($this, ...$more);
        }
        if ($opt === CURLOPT_PROGRESSFUNCTION) {
            $this->progress = $value;
        } elseif ($opt === CURLOPT_NOPROGRESS) {
            $this->tellsProgress = !$value;
        }
        return curl_setopt($this->curl, $opt, $value);
    }

    public function exec(): string|bool
    {
        if (!$this->isAvailable()) {
            return false;
        }
        $this->errno = $this->malformed ? CURLE_URL_MALFORMAT : 0;
        if ($this->errno !== 0) {
            return false;
        }
        if ($this->prereq !== null) {
            $this->askFirst();
        }
        $result = curl_exec($this->curl);
        $this->content = $this->returns && is_string($result) ? $result : null;
        return $result;
    }

    /** libcurl tells of progress at each step: after the connection is there, and before it sends. */
    private function askFirst(): void
    {
        $asked = false;
        curl_setopt($this->curl, CURLOPT_PROGRESSFUNCTION, function (\CurlHandle $curl, int ...$sizes) use (&$asked): int {
            $peer = $asked ? '' : curl_getinfo($curl, CURLINFO_PRIMARY_IP);
            if ($peer !== '') {
                $asked = true;
                [$port, $local] = [curl_getinfo($curl, CURLINFO_PRIMARY_PORT), curl_getinfo($curl, CURLINFO_LOCAL_IP)];
                $said = ($this->prereq)($this, $peer, $local, $port, curl_getinfo($curl, CURLINFO_LOCAL_PORT));
                if ($said !== 0) {
                    return 1;
                }
            }
            return $this->tellsProgress && $this->progress !== null ? ($this->progress)($curl, ...$sizes) : 0;
        });
        curl_setopt($this->curl, CURLOPT_NOPROGRESS, false);
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
        return $this->isAvailable() ? ($this->errno ?: curl_errno($this->curl)) : 0;
    }

    public function error(): string
    {
        if (!$this->isAvailable()) {
            return '';
        }
        return $this->errno === 0 ? curl_error($this->curl) : 'No URL set or URL using bad/illegal format';
    }

    public function reset(): bool
    {
        if (!$this->isAvailable()) {
            return false;
        }
        curl_reset($this->curl);
        [$this->content, $this->returns, $this->malformed, $this->errno] = [null, false, false, 0];
        [$this->prereq, $this->progress, $this->tellsProgress] = [null, null, false];
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
