<?php

declare(strict_types=1);

namespace Swoole\Redis;

use Swoole\Exception;

/**
 * A server that clients of Redis talk to: each command has a handler, which answers by what it returns or by send().
 */
class Server extends \Swoole\Server
{
    public const ERROR = 0;
    public const NIL = 1;
    public const STATUS = 2;
    public const INT = 3;
    public const STRING = 4;
    public const SET = 5;
    public const MAP = 6;

    /** Names of commands are shorter, in bytes. */
    private const LONGEST = 64;

    /** @var array<string, callable> by the names of commands, in lower case */
    private array $handlers = [];

    public function __construct(string $host = '0.0.0.0', int $port = 0, int $mode = SWOOLE_BASE, int $sock_type = SWOOLE_TCP)
    {
        parent::__construct($host, $port, $mode, $sock_type);
        $this->set(['open_redis_protocol' => true]);
        $this->on('receive', fn ($server, $fd, $reactor, $request) => $this->handle($fd, $request));
    }

    public function setHandler(string $command, callable $callback): bool
    {
        if ($command === '' || strlen($command) >= self::LONGEST) {
            trigger_error('the name of a command has 1 to ' . (self::LONGEST - 1) . ' bytes', E_USER_WARNING);
            return false;
        }
        $this->handlers[strtolower($command)] = $callback;
        return true;
    }

    public function getHandler(string $command): ?callable
    {
        return $this->handlers[strtolower($command)] ?? null;
    }

    /** A value as Redis sends it. */
    public static function format(int $type, mixed $value = null): false|string
    {
        if ($value === null && func_num_args() < 2 && $type >= self::INT && $type <= self::MAP) {
            throw new Exception('format() needs a value for this type', SWOOLE_ERROR_INVALID_PARAMS);
        }
        return match ($type) {
            self::NIL => "$-1\r\n",
            self::ERROR => '-' . self::line($value ?? 'ERR'),
            self::STATUS => '+' . self::line($value ?? 'OK'),
            self::INT => ':' . (int) $value . "\r\n",
            self::STRING => self::bulk((string) $value),
            self::SET => self::all(self::expectArray($value)),
            self::MAP => self::pairs(self::expectArray($value)),
            default => throw new Exception("$type is no type of an answer", SWOOLE_ERROR_INVALID_PARAMS),
        };
    }

    /** A text that is one line: what would begin another is left out. */
    private static function line(mixed $text): string
    {
        return strtr((string) $text, "\r\n", '  ') . "\r\n";
    }

    private static function bulk(string $bytes): string
    {
        return '$' . strlen($bytes) . "\r\n$bytes\r\n";
    }

    private static function expectArray(mixed $value): array
    {
        return is_array($value) ? $value
            : throw new Exception('a set or a map is formatted of an array', SWOOLE_ERROR_INVALID_PARAMS);
    }

    private static function all(array $values): string
    {
        return '*' . count($values) . "\r\n" . implode('', array_map(self::item(...), $values));
    }

    private static function pairs(array $values): string
    {
        $text = '*' . 2 * count($values) . "\r\n";
        foreach ($values as $key => $value) {
            $text .= self::bulk((string) $key) . self::item($value);
        }
        return $text;
    }

    private static function item(mixed $value): string
    {
        return match (true) {
            $value === null => self::format(self::NIL),
            is_int($value), is_bool($value) => self::format(self::INT, $value),
            is_array($value) => array_is_list($value) ? self::all($value) : self::pairs($value),
            default => self::bulk((string) $value),
        };
    }

    private function handle(int $fd, string $request): void
    {
        $arguments = self::arguments($request);
        $command = array_shift($arguments);
        if ($command === null) {
            return;
        }
        if (strlen($command) >= self::LONGEST) {
            $begin = substr($command, 0, 8);
            swoole_error_log(SWOOLE_LOG_WARNING, "command [$begin...](length=" . strlen($command) . ') is too long');
            $this->close($fd);
            return;
        }
        $handler = $this->handlers[strtolower($command)] ?? null;
        $answer = $handler === null
            ? self::format(self::ERROR, "ERR unknown command '$command'")
            : $handler($fd, $arguments);
        if (is_string($answer) && $answer !== '') {
            $this->send($fd, $answer);
        }
    }

    /**
     * The parts of a request. It is whole and sound: that is how its end was found.
     *
     * @return list<string>
     */
    private static function arguments(string $request): array
    {
        if ($request[0] !== '*') {
            return preg_split('/\s+/', $request, -1, PREG_SPLIT_NO_EMPTY);
        }
        $arguments = [];
        $at = strpos($request, "\n") + 1;
        while ($at < strlen($request)) {
            $end = strpos($request, "\n", $at);
            $length = (int) substr($request, $at + 1, $end - $at - 1);
            $arguments[] = substr($request, $end + 1, $length);
            $at = $end + 1 + $length + 2;
        }
        return $arguments;
    }
}
