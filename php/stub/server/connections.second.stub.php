<?php

namespace Swoole\Connection;

/**
 * Apus\Server\Connections, for code written for Swoole.
 * @rust second Apus\Server\Connections
 * @rust also swoole_connection_iterator
 */
class Iterator implements \Iterator, \ArrayAccess, \Countable
{
    // @rust typed

    /** @rust rewind */
    public function rewind(): void {}

    /** @rust next */
    public function next(): void {}

    /** @rust current */
    public function current(): mixed {}

    /** @rust key */
    public function key(): mixed {}

    /** @rust valid */
    public function valid(): bool {}

    public function count(): int {}

    /** @rust offset_exists */
    public function offsetExists(mixed $fd): bool {}

    /** @rust offset_get */
    public function offsetGet(mixed $fd): mixed {}

    /** @rust offset_set */
    public function offsetSet(mixed $fd, mixed $value): void {}

    /** @rust offset_unset */
    public function offsetUnset(mixed $fd): void {}
}
