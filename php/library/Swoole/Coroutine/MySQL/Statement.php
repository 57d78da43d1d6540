<?php

declare(strict_types=1);

namespace Swoole\Coroutine\MySQL;

use Swoole\Coroutine\Deferred;
use Swoole\Coroutine\MySQL;

/** A prepared statement of a Swoole\Coroutine\MySQL. */
class Statement
{
    use Failure;

    private const WRONG_COUNT = 2034;

    public $id = 0;

    private ?\mysqli_result $result = null;

    private ?Deferred $deferred = null;

    public function __construct(private readonly MySQL $client, private ?\mysqli_stmt $statement)
    {
        $this->id = $statement->id;
    }

    /** The rows of a SELECT, true for what has none; with `fetch_mode` true for both. False on failure. */
    public function execute(?array $params = null, float $timeout = -1): array|bool
    {
        $call = function () use ($params, $timeout): array|bool {
            return $this->bind(array_values($params ?? []))
                && $this->attempt($timeout, $this->statement, fn (): bool => @$this->statement->execute())
                ? $this->takeResult() : false;
        };
        if (!$this->client->getDefer()) {
            return $call();
        }
        $this->deferred = new Deferred($call);
        return true;
    }

    public function recv(float $timeout = -1): array|bool
    {
        $deferred = $this->deferred;
        $this->deferred = null;
        return $deferred === null ? false : $deferred->get($timeout);
    }

    public function fetch(float $timeout = -1): array|false|null
    {
        return $this->result === null ? false : ($this->result->fetch_assoc() ?? null);
    }

    public function fetchAll(float $timeout = -1): array|false|null
    {
        return $this->result === null ? false : $this->result->fetch_all(MYSQLI_ASSOC);
    }

    public function nextResult(float $timeout = -1): array|bool|null
    {
        if ($this->statement === null || !$this->statement->more_results()) {
            return null;
        }
        $next = $this->attempt($timeout, $this->statement, fn (): bool => @$this->statement->next_result());
        return $next ? $this->takeResult() : false;
    }

    public function close(): bool
    {
        $statement = $this->statement;
        [$this->statement, $this->result] = [null, null];
        return $statement !== null && $statement->close();
    }

    private function bind(array $values): bool
    {
        if ($this->statement === null) {
            $this->failed(2030, 'Statement not prepared');
            return false;
        }
        [$wanted, $given] = [$this->statement->param_count, count($values)];
        if ($wanted !== $given) {
            $this->failed(self::WRONG_COUNT, "Statement#{$this->id} expects {$wanted} parameter, {$given} given.");
            return false;
        }
        if ($values === []) {
            return true;
        }
        $types = '';
        foreach ($values as $at => $value) {
            $types .= match (true) {
                is_int($value), is_bool($value) => 'i',
                is_float($value) => 'd',
                default => 's',
            };
            $values[$at] = is_bool($value) ? (int) $value : $value;
        }
        return $this->statement->bind_param($types, ...$values);
    }

    private function takeResult(): array|bool
    {
        $result = $this->statement->get_result();
        $this->affected_rows = $this->client->affected_rows = $result === false ? $this->statement->affected_rows : 0;
        $this->insert_id = $this->client->insert_id = $this->statement->insert_id;
        if ($result === false) {
            return true;
        }
        if ($this->client->isFetching()) {
            $this->result = $result;
            return true;
        }
        return $result->fetch_all(MYSQLI_ASSOC);
    }
}
