<?php

declare(strict_types=1);

namespace Swoole;

use Swoole\Exception\ArrayKeyNotExists;

/** An array with its functions as methods. */
class ArrayObject implements \ArrayAccess, \Serializable, \Countable, \Iterator
{
    /** @var array */
    protected $array;

    public function __construct(array $array = [])
    {
        $this->array = $array;
    }

    public static function from(array $array = []): static
    {
        return new static($array);
    }

    public function __toArray(): array
    {
        return $this->array;
    }

    public function toArray(): array
    {
        return $this->array;
    }

    public function __serialize(): array
    {
        return $this->array;
    }

    public function __unserialize(array $data): void
    {
        $this->array = $data;
    }

    public function serialize(): string
    {
        return serialize($this->array);
    }

    public function unserialize(string|\Stringable|StringObject $string): self
    {
        $this->array = (array) unserialize((string) $string);
        return $this;
    }

    public function isEmpty(): bool
    {
        return $this->array === [];
    }

    public function count(): int
    {
        return count($this->array);
    }

    #[\ReturnTypeWillChange]
    public function current()
    {
        return current($this->array);
    }

    #[\ReturnTypeWillChange]
    public function key()
    {
        return key($this->array);
    }

    public function valid(): bool
    {
        return key($this->array) !== null;
    }

    #[\ReturnTypeWillChange]
    public function rewind()
    {
        return reset($this->array);
    }

    #[\ReturnTypeWillChange]
    public function next()
    {
        return next($this->array);
    }

    public function get(mixed $key)
    {
        if (!$this->exists($key)) {
            throw new ArrayKeyNotExists((string) $key);
        }
        return static::detectType($this->array[$key]);
    }

    public function getOr(mixed $key, mixed $default = null)
    {
        return $this->exists($key) ? static::detectType($this->array[$key]) : $default;
    }

    public function first()
    {
        return $this->getOr(array_key_first($this->array));
    }

    public function last()
    {
        return $this->getOr(array_key_last($this->array));
    }

    public function firstKey()
    {
        return array_key_first($this->array);
    }

    public function lastKey()
    {
        return array_key_last($this->array);
    }

    public function randomGet()
    {
        return static::detectType($this->array[array_rand($this->array)]);
    }

    public function set(mixed $key, mixed $value): self
    {
        $this->array[$key] = $value;
        return $this;
    }

    public function delete(mixed $key): self
    {
        unset($this->array[$key]);
        return $this;
    }

    /** Takes the first place with this value away, with $loop every one. */
    public function remove(mixed $value, bool $strict = true, bool $loop = false): self
    {
        $keys = array_keys($this->array, $value, $strict);
        foreach ($loop ? $keys : array_slice($keys, 0, 1) as $key) {
            unset($this->array[$key]);
        }
        return $this;
    }

    public function clear(): self
    {
        $this->array = [];
        return $this;
    }

    #[\ReturnTypeWillChange]
    public function offsetGet(mixed $key)
    {
        return $this->array[$key] ?? null;
    }

    public function offsetSet(mixed $key, mixed $value): void
    {
        if ($key === null) {
            $this->array[] = $value;
        } else {
            $this->array[$key] = $value;
        }
    }

    public function offsetUnset(mixed $key): void
    {
        unset($this->array[$key]);
    }

    #[\ReturnTypeWillChange]
    public function offsetExists(mixed $key)
    {
        return isset($this->array[$key]);
    }

    public function exists(mixed $key): bool
    {
        return $key !== null && array_key_exists($key, $this->array);
    }

    public function contains(mixed $value, bool $strict = true): bool
    {
        return in_array($value, $this->array, $strict);
    }

    public function search(mixed $needle, bool $strict = true)
    {
        return array_search($needle, $this->array, $strict);
    }

    public function indexOf(mixed $value, bool $strict = true)
    {
        return $this->search($value, $strict);
    }

    /** The key of the last place with this value; null if there is none. */
    public function lastIndexOf(mixed $value, bool $strict = true)
    {
        $keys = array_keys($this->array, $value, $strict);
        return $keys === [] ? null : end($keys);
    }

    public function join(string $glue = ''): StringObject
    {
        return static::detectStringType(implode($glue, $this->array));
    }

    public function sum()
    {
        return array_sum($this->array);
    }

    public function product()
    {
        return array_product($this->array);
    }

    public function push(mixed $value)
    {
        return array_push($this->array, $value);
    }

    public function pushBack(mixed $value)
    {
        return array_push($this->array, $value);
    }

    public function pushFront(mixed $value)
    {
        return array_unshift($this->array, $value);
    }

    public function append(mixed ...$values): ArrayObject
    {
        array_push($this->array, ...$values);
        return $this;
    }

    public function insert(int $offset, mixed $value): self
    {
        // A value that is no scalar is one element, not a list of them.
        array_splice($this->array, $offset, 0, is_scalar($value) ? $value : [$value]);
        return $this;
    }

    public function pop()
    {
        return array_pop($this->array);
    }

    public function popBack()
    {
        return array_pop($this->array);
    }

    public function popFront()
    {
        return array_shift($this->array);
    }

    public function slice(int $offset, ?int $length = null, bool $preserve_keys = false): static
    {
        return new static(array_slice($this->array, $offset, $length, $preserve_keys));
    }

    public function each(callable $fn): self
    {
        array_walk($this->array, $fn);
        return $this;
    }

    public function map(callable $fn, array ...$args): static
    {
        return new static(array_map($fn, $this->array, ...$args));
    }

    public function reduce(callable $fn, mixed $initial = null)
    {
        return array_reduce($this->array, $fn, $initial);
    }

    public function filter(callable $fn, int $flag = 0): static
    {
        return new static(array_filter($this->array, $fn, $flag));
    }

    public function keys(mixed ...$args): static
    {
        return new static(array_keys($this->array, ...$args));
    }

    public function values(): static
    {
        return new static(array_values($this->array));
    }

    public function column(mixed $column_key, mixed $index = null): static
    {
        return new static(array_column($this->array, $column_key, $index));
    }

    public function unique(int $sort_flags = SORT_STRING): static
    {
        return new static(array_unique($this->array, $sort_flags));
    }

    public function reverse(bool $preserve_keys = false): static
    {
        return new static(array_reverse($this->array, $preserve_keys));
    }

    public function chunk(int $size, bool $preserve_keys = false): static
    {
        return new static(array_chunk($this->array, $size, $preserve_keys));
    }

    public function flip(): static
    {
        return new static(array_flip($this->array));
    }

    public function asort(int $sort_flags = SORT_REGULAR): self
    {
        asort($this->array, $sort_flags);
        return $this;
    }

    public function arsort(int $sort_flags = SORT_REGULAR): self
    {
        arsort($this->array, $sort_flags);
        return $this;
    }

    public function krsort(int $sort_flags = SORT_REGULAR): self
    {
        krsort($this->array, $sort_flags);
        return $this;
    }

    public function ksort(int $sort_flags = SORT_REGULAR): self
    {
        ksort($this->array, $sort_flags);
        return $this;
    }

    public function natcasesort(): self
    {
        natcasesort($this->array);
        return $this;
    }

    public function natsort(): self
    {
        natsort($this->array);
        return $this;
    }

    public function rsort(int $sort_flags = SORT_REGULAR): self
    {
        rsort($this->array, $sort_flags);
        return $this;
    }

    public function sort(int $sort_flags = SORT_REGULAR): self
    {
        sort($this->array, $sort_flags);
        return $this;
    }

    public function shuffle(): self
    {
        shuffle($this->array);
        return $this;
    }

    public function uasort(callable $value_compare_func): self
    {
        uasort($this->array, $value_compare_func);
        return $this;
    }

    public function uksort(callable $value_compare_func): self
    {
        uksort($this->array, $value_compare_func);
        return $this;
    }

    public function usort(callable $value_compare_func): self
    {
        usort($this->array, $value_compare_func);
        return $this;
    }

    /** A text or array as an object, anything else as it is. */
    protected static function detectType(mixed $value)
    {
        return match (true) {
            is_string($value) => static::detectStringType($value),
            is_array($value) => static::detectArrayType($value),
            default => $value,
        };
    }

    protected static function detectStringType(string $value): StringObject
    {
        return new StringObject($value);
    }

    protected static function detectArrayType(array $value): static
    {
        return new static($value);
    }
}
