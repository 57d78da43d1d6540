<?php

namespace Swoole;

/**
 * Apus\Table, for code written for Swoole: values are converted and cut, a call that cannot be made gives false and a
 * warning.
 * @rust second Apus\Table
 * @rust also swoole_table
 * @rust within crate::swoole::answers_false
 * @rust made crate::swoole::throws
 */
class Table implements \Iterator, \Countable
{
    // @rust typed

    public const TYPE_INT = 1;

    public const TYPE_STRING = 3;

    public const TYPE_FLOAT = 2;

    public $size = null;

    public $memorySize = null;

    /** @rust table_second::construct_rows */
    public function __construct(int $table_size, float $conflict_proportion = 0.2) {}

    /** @rust table_second::column */
    public function column(string $name, int $type, int $size = 0): bool {}

    public function create(): bool {}

    /** @rust table_second::set */
    public function set(string $key, array $value): bool {}

    /**
     * Adds a row that is not there.
     * @return bool false when it is
     * @rust table_second::add
     */
    public function add(string $key, array $values): bool {}

    /** @rust table_second::update */
    public function update(string $key, array $values): bool {}

    /**
     * Changes a row that has the values expected, in one step.
     * @rust table_second::cmpset
     */
    public function cmpset(string $key, array $expected, array $values): bool {}

    /** @rust table_second::get */
    public function get(string $key, ?string $field = null): array|false|string|float|int {}

    /** @rust table_second::getdel */
    public function getdel(string $key, ?string $field = null): array|false|string|float|int {}

    /** @rust table_second::del */
    public function del(string $key): bool {}

    /** @rust table_second::del */
    public function delete(string $key): bool {}

    /**
     * Removes a row that has the values expected, in one step.
     * @rust table_second::cmpdel
     */
    public function cmpdel(string $key, array $expected): bool {}

    /** @rust table_second::exists */
    public function exists(string $key): bool {}

    /** @rust table_second::exists */
    public function exist(string $key): bool {}

    /** @rust table_second::incr */
    public function incr(string $key, string $column, int|float $incrby = 1): false|float|int {}

    /** @rust table_second::decr */
    public function decr(string $key, string $column, int|float $incrby = 1): false|float|int {}

    /** @rust table_second::count */
    public function count(int $mode = 0): int {}

    /** @rust destroy_for_all */
    public function destroy(): bool {}

    public function getSize(): int {}

    public function getMemorySize(): int {}

    /** @rust table_second::stats */
    public function stats(): false|array {}

    public function rewind(): void {}

    public function next(): void {}

    public function current(): mixed {}

    public function key(): mixed {}

    public function valid(): bool {}
}
