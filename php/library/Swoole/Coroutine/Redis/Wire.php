<?php

declare(strict_types=1);

namespace Swoole\Coroutine\Redis;

/**
 * Redis' protocol (RESP 2) on a stream.
 * @internal
 */
final class Wire
{
    /** The longest line of an answer, in bytes: an error, a number. */
    private const LINE = 65536;

    /** Answers may hold answers to this depth. */
    private const DEPTH = 16;

    /** @var resource */
    private readonly mixed $stream;

    /** @throws \RuntimeException with the system's code */
    public function __construct(string $host, int $port, float $timeout)
    {
        $isPath = str_starts_with($host, 'unix:/') || str_starts_with($host, '/');
        $address = match (true) {
            $isPath => 'unix:///' . ltrim(preg_replace('~^unix:~', '', $host), '/'),
            str_contains($host, ':') => "tcp://[{$host}]:{$port}",
            default => "tcp://{$host}:{$port}",
        };
        $limit = $timeout > 0 ? $timeout : null;
        $stream = @stream_socket_client($address, $code, $message, $limit);
        if ($stream === false) {
            throw new \RuntimeException($message, $code);
        }
        $this->stream = $stream;
    }

    public function limit(float $timeout): void
    {
        // Negative seconds mean no limit.
        $seconds = $timeout > 0 ? (int) $timeout : -1;
        stream_set_timeout($this->stream, $seconds, $timeout > 0 ? (int) (fmod($timeout, 1) * 1_000_000) : 0);
    }

    public function send(array $words): void
    {
        $text = '*' . count($words) . "\r\n";
        foreach ($words as $word) {
            $word = match (true) {
                is_bool($word) => $word ? '1' : '0',
                default => (string) $word,
            };
            $text .= '$' . strlen($word) . "\r\n{$word}\r\n";
        }
        if (@fwrite($this->stream, $text) !== strlen($text)) {
            throw $this->lost();
        }
    }

    /** An answer: a text, a number, null, an array, true for OK, an Error. */
    public function read(int $depth = 0): mixed
    {
        $line = @fgets($this->stream, self::LINE);
        if ($line === false || !str_ends_with($line, "\r\n")) {
            throw $this->lost();
        }
        $value = substr($line, 1, -2);
        return match ($line[0]) {
            '+' => $value === 'OK' ? true : $value,
            '-' => new Error($value),
            ':' => (int) $value,
            '$' => (int) $value < 0 ? null : $this->bytes((int) $value),
            '*' => (int) $value < 0 ? null : $this->list((int) $value, $depth),
            default => throw new \RuntimeException('Protocol error', SOCKET_EPROTO),
        };
    }

    public function close(): void
    {
        fclose($this->stream);
    }

    private function list(int $count, int $depth): array
    {
        if ($depth === self::DEPTH) {
            throw new \RuntimeException('Protocol error: nested too deeply', SOCKET_EPROTO);
        }
        $list = [];
        while ($count-- > 0) {
            $list[] = $this->read($depth + 1);
        }
        return $list;
    }

    private function bytes(int $count): string
    {
        $text = @stream_get_contents($this->stream, $count + 2);
        if ($text === false || strlen($text) !== $count + 2) {
            throw $this->lost();
        }
        return substr($text, 0, -2);
    }

    private function lost(): \RuntimeException
    {
        return stream_get_meta_data($this->stream)['timed_out']
            ? new \RuntimeException('Connection timed out', SOCKET_ETIMEDOUT)
            : new \RuntimeException('Server closed the connection', SOCKET_ECONNRESET);
    }
}
