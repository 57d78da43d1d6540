<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Exception;
use Apus\Http\Request;

/** A JSON body, field by field. What is wrong is collected, so that one answer names all of it. */
final class Input
{
    /** @var array<string, string> what is wrong, by field */
    private array $wrong = [];
    /** @var array<string, true> */
    private array $known = [];

    /**
     * @param array<mixed> $values
     * @param bool $whole whether fields without a default must be there; otherwise those that are not stay as they are
     */
    public function __construct(private readonly array $values, private readonly bool $whole = true) {}

    /**
     * @return array<mixed>
     * @throws Refusal 400, 415
     */
    public static function object(Request $request): array
    {
        $type = strtolower(trim(explode(';', $request->header['content-type'] ?? '')[0]));
        if ($type !== 'application/json') {
            throw new Refusal(415, 'send JSON with Content-Type: application/json');
        }
        try {
            $body = $request->json(true, 32);
        } catch (Exception $error) {
            throw $error->getCode() === Exception::JSON ? new Refusal(400, $error->getMessage()) : $error;
        }
        if (!is_array($body) || ($body !== [] && array_is_list($body))) {
            throw new Refusal(400, 'send a JSON object');
        }
        return $body;
    }

    public function text(string $field, int $most, ?string $pattern = null, string $what = 'has another form'): ?string
    {
        $value = $this->take($field);
        if ($value === null) {
            return null;
        }
        if (!is_string($value) || trim($value) === '') {
            return $this->wrong($field, 'must be text that is not empty');
        }
        if (preg_match('/^.{1,' . $most . '}$/Dus', $value) !== 1) {
            return $this->wrong($field, "must have at most $most characters");
        }
        return $pattern === null || preg_match($pattern, $value) === 1 ? $value : $this->wrong($field, $what);
    }

    public function number(string $field, int $least, int $most): ?int
    {
        $value = $this->take($field);
        if ($value === null || (is_int($value) && $value >= $least && $value <= $most)) {
            return $value;
        }
        return $this->wrong($field, "must be an integer from $least to $most");
    }

    /** @param list<string> $choices */
    public function choice(string $field, array $choices, string $default): ?string
    {
        $value = $this->take($field, $default);
        if ($value === null || in_array($value, $choices, true)) {
            return $value;
        }
        return $this->wrong($field, 'must be one of ' . implode(', ', $choices));
    }

    public function date(string $field, bool $optional = false): ?string
    {
        $value = $this->take($field, optional: $optional);
        if ($value === null) {
            return null;
        }
        $date = is_string($value) ? \DateTimeImmutable::createFromFormat('!Y-m-d', $value) : false;
        return $date !== false && $date->format('Y-m-d') === $value ? $value : $this->wrong($field, 'must be a date as 2026-01-31');
    }

    /** One address, with its scheme. */
    public function url(string $field): ?string
    {
        $value = $this->text($field, 2000, '~^https?://[^\s/?#]+~i', 'must be an address with http:// or https://');
        return $value === null || filter_var($value, FILTER_VALIDATE_URL) !== false ? $value : $this->wrong($field, 'is no address');
    }

    public function email(string $field): ?string
    {
        $value = $this->text($field, 200);
        return $value === null || filter_var($value, FILTER_VALIDATE_EMAIL) !== false ? $value : $this->wrong($field, 'is no e-mail address');
    }

    public function wrong(string $field, string $what): null
    {
        $this->wrong[$field] ??= $what;
        return null;
    }

    /** @throws Refusal 422 with the fields, those that nothing asked for among them */
    public function check(): void
    {
        // At most 20 of them, and cut: an answer is not as long as whatever was sent.
        foreach (array_slice(array_diff_key($this->values, $this->known), 0, 20, true) as $field => $value) {
            $this->wrong[preg_replace('/[^ -~]/', '?', substr((string) $field, 0, 50))] = 'is not known';
        }
        if ($this->wrong !== []) {
            throw new Refusal(422, 'the request is not valid', $this->wrong);
        }
    }

    private function take(string $field, mixed $default = null, bool $optional = false): mixed
    {
        $this->known[$field] = true;
        if (array_key_exists($field, $this->values)) {
            return $this->values[$field] ?? ($optional ? null : $this->wrong($field, 'must not be null'));
        }
        return !$this->whole || $optional ? null : ($default ?? $this->wrong($field, 'is missing'));
    }
}
