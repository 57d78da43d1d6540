<?php

declare(strict_types=1);

namespace Swoole\Coroutine;

use Swoole\Coroutine\MySQL\Failure;
use Swoole\Coroutine\MySQL\Statement;

/** A connection to MySQL or MariaDB as older versions of Swoole had it; over mysqli. */
class MySQL
{
    use Failure;

    /** The errors after which a connection is none any more. */
    private const LOST = [2002, 2006, 2013, SOCKET_ETIMEDOUT];

    private const GONE = 2006;

    public $serverInfo = null;

    public $sock = -1;

    public $connected = false;

    public $connect_errno = 0;

    public $connect_error = '';

    private ?\mysqli $mysqli = null;

    /** The rows of a result that fetch() and fetchAll() give. */
    private ?\mysqli_result $result = null;

    private bool $defer = false;

    private ?Deferred $deferred = null;

    public function connect(?array $serverInfo = null): bool
    {
        if ($serverInfo === null) {
            $this->connectFailed(SOCKET_EINVAL, 'Invalid argument');
            return false;
        }
        $this->close();
        $this->serverInfo = $serverInfo;
        $timeout = (float) ($serverInfo['timeout'] ?? 0);
        $mysqli = new \mysqli();
        if ($timeout > 0) {
            $mysqli->options(MYSQLI_OPT_CONNECT_TIMEOUT, (int) ceil($timeout));
        }
        $mysqli->options(MYSQLI_OPT_INT_AND_FLOAT_NATIVE, !empty($serverInfo['strict_type']));
        $host = (string) ($serverInfo['host'] ?? '');
        $isPath = str_starts_with($host, 'unix:/') || str_starts_with($host, '/');
        $done = $this->attempt($timeout, $mysqli, static fn (): bool => @$mysqli->real_connect(
            $isPath ? 'localhost' : $host,
            $serverInfo['user'] ?? null,
            $serverInfo['password'] ?? null,
            $serverInfo['database'] ?? null,
            (int) ($serverInfo['port'] ?? 3306),
            $isPath ? '/' . ltrim(preg_replace('~^unix:~', '', $host), '/') : null,
        ));
        if (!$done) {
            [$this->connect_errno, $this->connect_error] = [$this->errno, $this->error];
            if ($this->errno === 0) {
                $this->connectFailed($mysqli->connect_errno, (string) $mysqli->connect_error);
            }
            return false;
        }
        if (isset($serverInfo['charset'])) {
            $mysqli->set_charset($serverInfo['charset']);
        }
        $this->mysqli = $mysqli;
        $this->connected = true;
        [$this->connect_errno, $this->connect_error] = [0, ''];
        return true;
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

    /** The rows of a SELECT, true for what has none; with `fetch_mode` true for both. False on failure. */
    public function query(string $sql, float $timeout = 0): array|bool
    {
        return $this->perform(function () use ($sql, $timeout): array|bool {
            $done = $this->ask($timeout, fn (\mysqli $mysqli): bool => $mysqli->real_query($sql));
            return $done ? $this->takeResult() : false;
        });
    }

    public function prepare(string $query, float $timeout = 0): Statement|bool
    {
        return $this->perform(function () use ($query, $timeout): Statement|bool {
            $statement = $this->ask($timeout, fn (\mysqli $mysqli): \mysqli_stmt|false => $mysqli->prepare($query));
            return $statement ? new Statement($this, $statement) : false;
        });
    }

    public function fetch(): array|false|null
    {
        return $this->result === null ? false : ($this->result->fetch_assoc() ?? null);
    }

    public function fetchAll(): array|false|null
    {
        return $this->result === null ? false : $this->result->fetch_all(MYSQLI_ASSOC);
    }

    /** What query() gives, of the next result of a procedure; null after the last one. */
    public function nextResult(): array|bool|null
    {
        if ($this->mysqli === null || !$this->mysqli->more_results()) {
            return null;
        }
        return $this->ask(0, fn (\mysqli $mysqli): bool => $mysqli->next_result()) ? $this->takeResult() : false;
    }

    /** What a call that setDefer() deferred gives. */
    public function recv(float $timeout = -1): Statement|array|bool
    {
        if ($this->deferred === null) {
            return false;
        }
        $deferred = $this->deferred;
        $this->deferred = null;
        return $deferred->get($timeout);
    }

    public function begin(float $timeout = 0): bool
    {
        return $this->command('START TRANSACTION', $timeout);
    }

    public function commit(float $timeout = 0): bool
    {
        return $this->command('COMMIT', $timeout);
    }

    public function rollback(float $timeout = 0): bool
    {
        return $this->command('ROLLBACK', $timeout);
    }

    public function escape(string $string, int $flags = 0): string|false
    {
        return $this->mysqli === null ? false : $this->mysqli->real_escape_string($string);
    }

    public function close(): bool
    {
        $was = $this->connected;
        $this->connected = false;
        $this->result = null;
        if ($this->mysqli !== null) {
            $mysqli = $this->mysqli;
            $this->mysqli = null;
            @$mysqli->close();
        }
        return $was;
    }

    /** @internal */
    public function isFetching(): bool
    {
        return !empty($this->serverInfo['fetch_mode']);
    }

    /** Now, or in a coroutine of its own for recv(). */
    private function perform(\Closure $call): mixed
    {
        if (!$this->defer) {
            return $call();
        }
        if ($this->deferred !== null) {
            $this->failed(SOCKET_EINPROGRESS, 'MySQL client is busy: call recv() first');
            return false;
        }
        $this->deferred = new Deferred($call);
        return true;
    }

    private function command(string $sql, float $timeout): bool
    {
        if ($this->defer) {
            throw new MySQL\Exception('a transaction cannot be deferred: call setDefer(false) first');
        }
        return $this->query($sql, $timeout) !== false;
    }

    /** Calls mysqli; notices when the connection is lost. */
    private function ask(float $timeout, \Closure $call): mixed
    {
        $mysqli = $this->mysqli;
        if ($mysqli === null) {
            $this->failed(self::GONE, 'MySQL server has gone away');
            return false;
        }
        $this->result = null;
        $answer = $this->attempt($timeout, $mysqli, static fn (): mixed => @$call($mysqli));
        if (in_array($this->errno, self::LOST, true)) {
            $this->close();
        }
        return $answer;
    }

    private function takeResult(): array|bool
    {
        $result = $this->mysqli->store_result();
        $this->affected_rows = $result === false ? $this->mysqli->affected_rows : 0;
        $this->insert_id = $this->mysqli->insert_id;
        if ($result === false) {
            return true;
        }
        if ($this->isFetching()) {
            $this->result = $result;
            return true;
        }
        return $result->fetch_all(MYSQLI_ASSOC);
    }

    private function connectFailed(int $code, string $message): void
    {
        $this->failed($code, $message);
        [$this->connect_errno, $this->connect_error] = [$this->errno, $this->error];
    }
}
