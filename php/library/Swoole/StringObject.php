<?php

declare(strict_types=1);

namespace Swoole;

/** A text with its functions as methods; what changes a text gives a new object. */
class StringObject implements \Stringable
{
    public function __construct(protected string $string = '')
    {
    }

    public function __toString(): string
    {
        return $this->string;
    }

    public static function from(string $string = ''): static
    {
        return new static($string);
    }

    public function toString(): string
    {
        return $this->string;
    }

    public function length(): int
    {
        return strlen($this->string);
    }

    public function indexOf(string $needle, int $offset = 0): false|int
    {
        return $this->pos($needle, $offset);
    }

    public function lastIndexOf(string $needle, int $offset = 0): false|int
    {
        return $this->rpos($needle, $offset);
    }

    public function pos(string $needle, int $offset = 0): false|int
    {
        return strpos($this->string, $needle, $offset);
    }

    public function rpos(string $needle, int $offset = 0): false|int
    {
        return strrpos($this->string, $needle, $offset);
    }

    /** @return false|int */
    public function ipos(string $needle)
    {
        return stripos($this->string, $needle);
    }

    public function contains(string $subString): bool
    {
        return str_contains($this->string, $subString);
    }

    public function startsWith(string $needle): bool
    {
        return str_starts_with($this->string, $needle);
    }

    public function endsWith(string $needle): bool
    {
        return str_ends_with($this->string, $needle);
    }

    public function equals(mixed $str, bool $strict = false): bool
    {
        $other = $str instanceof self ? $str->string : $str;
        return $strict ? $this->string === $other : $this->string == $other;
    }

    public function char(int $index): string
    {
        return $this->string[$index] ?? '';
    }

    public function reverse(): static
    {
        return new static(strrev($this->string));
    }

    public function lower(): static
    {
        return new static(strtolower($this->string));
    }

    public function upper(): static
    {
        return new static(strtoupper($this->string));
    }

    public function trim(string $characters = ''): static
    {
        return new static($characters === '' ? trim($this->string) : trim($this->string, $characters));
    }

    /** @return static */
    public function ltrim(): self
    {
        return new static(ltrim($this->string));
    }

    /** @return static */
    public function rtrim(): self
    {
        return new static(rtrim($this->string));
    }

    /** @return static */
    public function substr(int $offset, ?int $length = null)
    {
        return new static(substr($this->string, $offset, $length));
    }

    public function repeat(int $times): static
    {
        return new static(str_repeat($this->string, $times));
    }

    /** Appends to this object, too. */
    public function append(mixed $str): static
    {
        $this->string .= $str;
        return new static($this->string);
    }

    public function replace(string $search, string $replace, mixed &$count = null): static
    {
        return new static(str_replace($search, $replace, $this->string, $count));
    }

    public function chunkSplit(int $length = 76, string $separator = "\r\n"): static
    {
        return new static(chunk_split($this->string, $length, $separator));
    }

    public function split(string $delimiter, int $limit = PHP_INT_MAX): ArrayObject
    {
        return static::detectArrayType(explode($delimiter, $this->string, $limit));
    }

    public function chunk(int $length = 1): ArrayObject
    {
        return static::detectArrayType(str_split($this->string, $length));
    }

    protected static function detectArrayType(array $value): ArrayObject
    {
        return new ArrayObject($value);
    }
}
