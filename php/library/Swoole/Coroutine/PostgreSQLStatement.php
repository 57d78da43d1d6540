<?php

declare(strict_types=1);

namespace Swoole\Coroutine;

/** A result, or a prepared statement and its last result. */
class PostgreSQLStatement
{
    public $error = '';

    public $resultStatus = 0;

    public $resultDiag = null;

    public function __construct(
        private readonly PostgreSQL $client,
        private ?\PgSql\Result $result,
        private readonly ?string $name = null,
    ) {
    }

    public function execute(array $params = []): bool
    {
        if ($this->name === null) {
            return false;
        }
        $this->result = $this->client->run($this->name, $params);
        $this->error = $this->client->error;
        $this->resultStatus = $this->client->resultStatus;
        $this->resultDiag = $this->client->resultDiag;
        return $this->result !== null;
    }

    public function fetchAll(int $resultType = PGSQL_ASSOC): array|false
    {
        return $this->result === null ? false : pg_fetch_all($this->result, $resultType);
    }

    public function fetchAssoc(?int $row = null): array|false
    {
        return $this->result === null ? false : @pg_fetch_assoc($this->result, $row);
    }

    public function fetchArray(?int $row = null, int $resultType = PGSQL_BOTH): array|false
    {
        return $this->result === null ? false : @pg_fetch_array($this->result, $row, $resultType);
    }

    public function fetchRow(?int $row = null, int $resultType = PGSQL_NUM): array|false
    {
        return $this->fetchArray($row, $resultType);
    }

    public function fetchObject(?int $row = null, ?string $className = null, array $arguments = []): object|false
    {
        return $this->result === null ? false
            : @pg_fetch_object($this->result, $row, $className ?? \stdClass::class, $arguments);
    }

    public function affectedRows(): int
    {
        return $this->result === null ? 0 : pg_affected_rows($this->result);
    }

    public function numRows(): int
    {
        return $this->result === null ? 0 : pg_num_rows($this->result);
    }

    public function fieldCount(): int
    {
        return $this->result === null ? 0 : pg_num_fields($this->result);
    }

    /** @internal */
    public function result(): ?\PgSql\Result
    {
        return $this->result;
    }
}
