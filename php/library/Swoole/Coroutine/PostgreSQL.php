<?php

declare(strict_types=1);

namespace Swoole\Coroutine;

/** A connection to PostgreSQL as older versions of Swoole had it; over pgsql. */
class PostgreSQL
{
    public $error = '';

    public $errCode = 0;

    public $resultStatus = 0;

    public $resultDiag = null;

    public $notices = null;

    private ?\PgSql\Connection $link = null;

    /** How many statements were prepared without a name. */
    private int $prepared = 0;

    public function connect(string $conninfo, float $timeout = 2): bool
    {
        if ($timeout > 0 && !str_contains($conninfo, 'connect_timeout')) {
            // The library's smallest is 2 s.
            $conninfo .= ' connect_timeout=' . max(2, (int) ceil($timeout));
        }
        error_clear_last();
        $link = @pg_connect($conninfo, PGSQL_CONNECT_FORCE_NEW);
        if ($link === false) {
            $this->error = (string) preg_replace('/^pg_connect\(\): /', '', error_get_last()['message'] ?? 'no connection');
            $this->errCode = 1;
            return false;
        }
        $this->link = $link;
        [$this->error, $this->errCode] = ['', 0];
        return true;
    }

    public function query(string $query): PostgreSQLStatement|false
    {
        return $this->statement(static fn (\PgSql\Connection $link): bool => pg_send_query($link, $query));
    }

    /** A statement to execute; with a name, as it was before Swoole 5, whether it was prepared: for execute(). */
    public function prepare(string $name, ?string $query = null): PostgreSQLStatement|bool
    {
        $isNamed = $query !== null;
        [$name, $query] = $isNamed ? [$name, $query] : ['apus_' . ++$this->prepared, $name];
        $done = $this->statement(
            static fn (\PgSql\Connection $link): bool => pg_send_prepare($link, $name, $query),
            fn (\PgSql\Result $result): PostgreSQLStatement => new PostgreSQLStatement($this, null, $name),
        );
        return $isNamed ? $done !== false : $done;
    }

    public function execute(string $name, array $params = []): PostgreSQLStatement|false
    {
        return $this->statement(
            static fn (\PgSql\Connection $link): bool => pg_send_execute($link, $name, array_values($params)),
        );
    }

    public function escape(string $string): string|false
    {
        return $this->link === null ? $this->gone() : pg_escape_string($this->link, $string);
    }

    public function escapeLiteral(string $string): string|false
    {
        return $this->link === null ? $this->gone() : pg_escape_literal($this->link, $string);
    }

    public function escapeIdentifier(string $string): string|false
    {
        return $this->link === null ? $this->gone() : pg_escape_identifier($this->link, $string);
    }

    public function metaData(string $table_name): array|false
    {
        return $this->link === null ? $this->gone() : @pg_meta_data($this->link, $table_name);
    }

    public function createLOB(): int|string|false
    {
        return $this->link === null ? $this->gone() : @pg_lo_create($this->link);
    }

    /** @return resource|\PgSql\Lob|false */
    public function openLOB(int $oid, string $mode = 'rb'): mixed
    {
        return $this->link === null ? $this->gone() : @pg_lo_open($this->link, $oid, strtr($mode, ['b' => '', '+' => 'w']));
    }

    public function fetchAll(PostgreSQLStatement $result, int $resultType = PGSQL_ASSOC): array|false
    {
        return $result->fetchAll($resultType);
    }

    public function fetchAssoc(PostgreSQLStatement $result, ?int $row = null): array|false
    {
        return $result->fetchAssoc($row);
    }

    public function fetchArray(PostgreSQLStatement $result, ?int $row = null, int $resultType = PGSQL_BOTH): array|false
    {
        return $result->fetchArray($row, $resultType);
    }

    public function fetchRow(PostgreSQLStatement $result, ?int $row = null, int $resultType = PGSQL_NUM): array|false
    {
        return $result->fetchRow($row, $resultType);
    }

    public function fetchObject(PostgreSQLStatement $result, ?int $row = null, ?string $className = null): object|false
    {
        return $result->fetchObject($row, $className);
    }

    public function affectedRows(PostgreSQLStatement $result): int
    {
        return $result->affectedRows();
    }

    public function numRows(PostgreSQLStatement $result): int
    {
        return $result->numRows();
    }

    public function fieldCount(PostgreSQLStatement $result): int
    {
        return $result->fieldCount();
    }

    public function close(): bool
    {
        $link = $this->link;
        $this->link = null;
        return $link !== null && pg_close($link);
    }

    /** @internal the result of a prepared statement; null when it failed */
    public function run(string $name, array $params): ?\PgSql\Result
    {
        $done = $this->execute($name, $params);
        return $done === false ? null : $done->result();
    }

    /** Sends, and makes a statement of the last result; false when one of them is an error. */
    private function statement(\Closure $send, ?\Closure $made = null): PostgreSQLStatement|false
    {
        $link = $this->link;
        if ($link === null) {
            return $this->gone();
        }
        [$this->error, $this->errCode, $this->resultDiag] = ['', 0, null];
        if (!@$send($link)) {
            $this->failed(pg_last_error($link));
            return false;
        }
        $last = null;
        while (($result = @pg_get_result($link)) !== false) {
            $last = $result;
            $this->resultStatus = pg_result_status($result);
            $message = pg_result_error($result);
            if ($message !== '' && $message !== false) {
                $this->failed($message);
                $this->resultDiag = [
                    'sqlstate' => pg_result_error_field($result, PGSQL_DIAG_SQLSTATE),
                    'severity' => pg_result_error_field($result, PGSQL_DIAG_SEVERITY),
                    'message_primary' => pg_result_error_field($result, PGSQL_DIAG_MESSAGE_PRIMARY),
                    'message_detail' => pg_result_error_field($result, PGSQL_DIAG_MESSAGE_DETAIL),
                ];
            }
        }
        $this->notices = @pg_last_notice($link, PGSQL_NOTICE_ALL) ?: null;
        if ($this->error !== '') {
            return false;
        }
        if ($last === null) {
            $this->failed(pg_last_error($link) ?: 'the connection is lost');
            return false;
        }
        return $made === null ? new PostgreSQLStatement($this, $last) : $made($last);
    }

    private function failed(string $message): void
    {
        [$this->error, $this->errCode] = [rtrim($message), 1];
    }

    private function gone(): false
    {
        $this->failed('there is no connection');
        return false;
    }
}
