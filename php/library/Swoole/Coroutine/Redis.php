<?php

declare(strict_types=1);

namespace Swoole\Coroutine;

use Swoole\Coroutine\Redis\Error;
use Swoole\Coroutine\Redis\Wire;

/**
 * A connection to Redis as older versions of Swoole had it: any command is a method. Numbers are numbers, what is not
 * there is null, and what fails is false, with $errCode and $errMsg.
 */
class Redis
{
    private const ERR_IO = 1;
    private const ERR_OTHER = 2;
    private const ERR_CLOSED = 3;

    /** Names of methods that are not those of commands. */
    private const NAMES = [
        'delete' => 'DEL', 'getkeys' => 'KEYS', 'settimeout' => 'EXPIRE', 'renamekey' => 'RENAME', 'substr' => 'GETRANGE',
        'getmultiple' => 'MGET', 'lsize' => 'LLEN', 'lget' => 'LINDEX', 'lgetrange' => 'LRANGE', 'lremove' => 'LREM',
        'listtrim' => 'LTRIM', 'sremove' => 'SREM', 'scontains' => 'SISMEMBER', 'sgetmembers' => 'SMEMBERS',
        'ssize' => 'SCARD', 'zdelete' => 'ZREM', 'zremove' => 'ZREM', 'zsize' => 'ZCARD',
        'zdeleterangebyscore' => 'ZREMRANGEBYSCORE', 'zdeleterangebyrank' => 'ZREMRANGEBYRANK',
        'zinter' => 'ZINTERSTORE', 'zunion' => 'ZUNIONSTORE',
    ];

    /** Commands whose array is name => value. */
    private const PAIRS = ['MSET', 'MSETNX', 'HMSET', 'HSET', 'XADD'];

    /** What TYPE answers, in the numbers of the field. */
    private const TYPES = ['none' => 0, 'string' => 1, 'set' => 2, 'list' => 3, 'zset' => 4, 'hash' => 5, 'stream' => 6];

    public $host = '';

    public $port = 0;

    public $setting = null;

    public $sock = -1;

    public $connected = false;

    public $errType = 0;

    public $errCode = 0;

    public $errMsg = '';

    private ?Wire $wire = null;

    private bool $defer = false;

    /** Answers of deferred commands that recv() has to read. */
    private int $owed = 0;

    private bool $subscribed = false;

    private string|array $password = '';

    private int $database = 0;

    private array $options = [
        'connect_timeout' => 2.0, 'timeout' => -1.0, 'serialize' => false, 'reconnect' => 1, 'compatibility_mode' => false,
    ];

    public function __construct(?array $config = null)
    {
        $this->setOptions($config ?? []);
        $this->password = $config['password'] ?? '';
        $this->database = $config['database'] ?? 0;
    }

    public function setOptions(array $options): bool
    {
        $this->setting = $this->options = array_intersect_key($options, $this->options) + $this->options;
        $this->wire?->limit((float) $this->options['timeout']);
        return true;
    }

    public function getOptions(): array
    {
        return $this->options;
    }

    public function connect(string $host, int $port = 6379, bool $serialize = false): bool
    {
        $this->close();
        [$this->host, $this->port] = [$host, $port];
        $this->options['serialize'] = $serialize || $this->options['serialize'];
        return $this->open();
    }

    public function getAuth(): string|array|false
    {
        return $this->password === '' ? false : $this->password;
    }

    public function getDBNum(): int
    {
        return $this->database;
    }

    public function auth(string|array $password): bool
    {
        $done = $this->ask(['AUTH', ...array_values((array) $password)]) === true;
        if ($done) {
            $this->password = $password;
        }
        return $done;
    }

    public function select(int $database): bool
    {
        $done = $this->ask(['SELECT', $database]) === true;
        if ($done) {
            $this->database = $database;
        }
        return $done;
    }

    public function getDefer(): bool
    {
        return $this->defer;
    }

    public function setDefer(?bool $defer = true): bool
    {
        $this->defer = (bool) $defer;
        return true;
    }

    /** The answer to a deferred command, or the next message of a subscription. */
    public function recv(float $timeout = 0): mixed
    {
        if ($this->wire === null || (!$this->subscribed && $this->owed === 0)) {
            $this->failed(self::ERR_OTHER, SOCKET_EINVAL, 'there is nothing to receive');
            return false;
        }
        $this->owed = max(0, $this->owed - 1);
        return $this->guarded(fn (): mixed => $this->answer(), $timeout);
    }

    /** A command by its words. */
    public function request(array $params): mixed
    {
        return $this->ask($params);
    }

    public function close(): bool
    {
        $was = $this->connected;
        $this->wire?->close();
        $this->wire = null;
        $this->connected = $this->subscribed = false;
        $this->owed = 0;
        return $was;
    }

    public function subscribe(array $channels): bool
    {
        return $this->listen('SUBSCRIBE', $channels);
    }

    public function pSubscribe(array $patterns): bool
    {
        return $this->listen('PSUBSCRIBE', $patterns);
    }

    public function unsubscribe(array $channels): bool
    {
        return $this->listen('UNSUBSCRIBE', $channels);
    }

    public function pUnSubscribe(array $patterns): bool
    {
        return $this->listen('PUNSUBSCRIBE', $patterns);
    }

    /** SET; $timeout is seconds, or an array such as ['nx', 'ex' => 10]. */
    public function set(string $key, mixed $value, int|array|null $timeout = null): mixed
    {
        $words = ['SET', $key, $this->packed($value)];
        if (is_array($timeout)) {
            foreach ($timeout as $name => $option) {
                array_push($words, ...(is_int($name) ? [$option] : [$name, $option]));
            }
        } elseif ($timeout > 0) {
            array_push($words, 'EX', $timeout);
        }
        return $this->ask($words);
    }

    public function eval(string $script, array $args = [], int $keys = 0): mixed
    {
        return $this->ask(['EVAL', $script, $keys, ...$args]);
    }

    public function evalSha(string $sha, array $args = [], int $keys = 0): mixed
    {
        return $this->ask(['EVALSHA', $sha, $keys, ...$args]);
    }

    public function hMGet(string $key, array $fields): mixed
    {
        $values = $this->ask(['HMGET', $key, ...array_values($fields)]);
        return is_array($values) && $this->options['compatibility_mode'] ? array_combine($fields, $values) : $values;
    }

    public function hGetAll(string $key): mixed
    {
        return $this->pairs($this->ask(['HGETALL', $key]));
    }

    public function zRange(string $key, int|string $start, int|string $end, bool $withScores = false): mixed
    {
        return $this->range('ZRANGE', $key, $start, $end, ['withscores' => $withScores]);
    }

    public function zRevRange(string $key, int|string $start, int|string $end, bool $withScores = false): mixed
    {
        return $this->range('ZREVRANGE', $key, $start, $end, ['withscores' => $withScores]);
    }

    public function zRangeByScore(string $key, mixed $start, mixed $end, array $options = []): mixed
    {
        return $this->range('ZRANGEBYSCORE', $key, $start, $end, $options);
    }

    public function zRevRangeByScore(string $key, mixed $start, mixed $end, array $options = []): mixed
    {
        return $this->range('ZREVRANGEBYSCORE', $key, $start, $end, $options);
    }

    public function __call(string $name, array $arguments): mixed
    {
        $command = self::NAMES[strtolower($name)] ?? strtoupper($name);
        $words = [$command];
        $named = in_array($command, self::PAIRS, true);
        foreach ($arguments as $argument) {
            if (!is_array($argument)) {
                $words[] = $argument;
                continue;
            }
            foreach ($argument as $key => $value) {
                array_push($words, ...($named || is_string($key) ? [$key, $this->packed($value)] : [$value]));
            }
        }
        $answer = $this->ask($words);
        return $command === 'TYPE' && is_string($answer) ? self::TYPES[$answer] ?? $answer : $answer;
    }

    private function range(string $command, string $key, mixed $start, mixed $end, array $options): mixed
    {
        $words = [$command, $key, $start, $end];
        if (!empty($options['withscores'])) {
            $words[] = 'WITHSCORES';
        }
        if (isset($options['limit'])) {
            array_push($words, 'LIMIT', ...array_values($options['limit']));
        }
        $answer = $this->ask($words);
        return empty($options['withscores']) ? $answer : $this->pairs($answer, floatval(...));
    }

    /** A list of names and values as it is, or with `compatibility_mode` as name => value. */
    private function pairs(mixed $list, ?callable $of = null): mixed
    {
        if (!is_array($list) || !$this->options['compatibility_mode']) {
            return $list;
        }
        $pairs = [];
        foreach (array_chunk($list, 2) as [$name, $value]) {
            $pairs[$name] = $of === null ? $value : $of($value);
        }
        return $pairs;
    }

    private function listen(string $command, array $channels): bool
    {
        $done = $this->guarded(function () use ($command, $channels): bool {
            $this->wire->send([$command, ...array_values($channels)]);
            return true;
        });
        $this->subscribed = $this->subscribed || $done === true;
        return $done === true;
    }

    /** Sends the words, and reads the answer unless that is deferred. */
    private function ask(array $words): mixed
    {
        return $this->guarded(function () use ($words): mixed {
            $this->wire->send($words);
            if ($this->defer) {
                $this->owed++;
                return true;
            }
            return $this->answer();
        });
    }

    private function answer(): mixed
    {
        $answer = $this->wire->read();
        if ($answer instanceof Error) {
            $this->failed(self::ERR_OTHER, SOCKET_EINVAL, $answer->message);
            return false;
        }
        return $this->options['serialize'] ? $this->unpacked($answer) : $answer;
    }

    /** Does something with the connection, which is opened again if it was lost; its failure is false. */
    private function guarded(\Closure $what, float $timeout = 0): mixed
    {
        [$this->errType, $this->errCode, $this->errMsg] = [0, 0, ''];
        if ($this->wire === null) {
            $mayOpen = $this->host !== '' && $this->options['reconnect'] > 0;
            if (!$mayOpen || !$this->open()) {
                $this->failed(self::ERR_CLOSED, $this->errCode ?: SOCKET_ENOTCONN, $this->errMsg ?: 'not connected');
                return false;
            }
        }
        $limit = (float) $this->options['timeout'];
        $this->wire->limit($timeout !== 0.0 ? $timeout : $limit);
        try {
            return $what();
        } catch (\RuntimeException $e) {
            $this->failed(self::ERR_IO, $e->getCode(), $e->getMessage());
            // What arrives late would be the answer to another command; a subscription goes on.
            if (!$this->subscribed || $e->getCode() !== SOCKET_ETIMEDOUT) {
                $this->close();
            }
            return false;
        }
    }

    private function open(): bool
    {
        try {
            $this->wire = new Wire($this->host, $this->port, (float) $this->options['connect_timeout']);
        } catch (\RuntimeException $e) {
            $this->failed(self::ERR_IO, $e->getCode(), $e->getMessage());
            return false;
        }
        $this->wire->limit((float) $this->options['timeout']);
        $this->connected = true;
        $first = [];
        if ($this->password !== '' && $this->password !== []) {
            $first[] = ['AUTH', ...(array) $this->password];
        }
        if ($this->database !== 0) {
            $first[] = ['SELECT', $this->database];
        }
        foreach ($first as $words) {
            $answer = $this->guarded(function () use ($words): mixed {
                $this->wire->send($words);
                return $this->answer();
            });
            if ($answer !== true) {
                $this->close();
                return false;
            }
        }
        return true;
    }

    private function packed(mixed $value): mixed
    {
        return $this->options['serialize'] ? serialize($value) : $value;
    }

    private function unpacked(mixed $answer): mixed
    {
        if (is_array($answer)) {
            return array_map($this->unpacked(...), $answer);
        }
        if (!is_string($answer)) {
            return $answer;
        }
        $value = @unserialize($answer);
        return $value === false && $answer !== serialize(false) ? $answer : $value;
    }

    private function failed(int $type, int $code, string $message): void
    {
        [$this->errType, $this->errCode, $this->errMsg] = [$type, $code, $message];
    }
}
