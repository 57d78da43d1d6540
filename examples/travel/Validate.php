<?php

declare(strict_types=1);

namespace Apus\Travel;

/** Bodies of POST requests: a JSON object whose known fields have the right types. Unknown fields are left alone. */
final class Validate
{
    private const UINT32 = [0, 0xFFFF_FFFF];
    private const INT32 = [-0x8000_0000, 0x7FFF_FFFF];

    /** Field => longest text in characters, or least and greatest number, or the texts there are. */
    private const RULES = [
        'users' => [
            'email' => 100,
            'first_name' => 50,
            'last_name' => 50,
            'gender' => ['m', 'f'],
            'birth_date' => self::INT32,
        ],
        'locations' => [
            'place' => Store::LONGEST_PLACE,
            'country' => 50,
            'city' => 50,
            'distance' => self::UINT32,
        ],
        'visits' => [
            'location' => self::UINT32,
            'user' => self::UINT32,
            'visited_at' => self::INT32,
            'mark' => [0, 5],
        ],
    ];

    /** The fields to change, or null where the body is wrong. */
    public static function change(string $kind, string $body): ?array
    {
        $given = self::object($body);
        // The id of a record never changes.
        return $given === null || array_key_exists('id', $given) ? null : self::fields($kind, $given);
    }

    /** The id and all fields of a new record, or null where one is missing or wrong. */
    public static function record(string $kind, string $body, int $maxId): ?array
    {
        $given = self::object($body);
        if ($given === null || !self::fits($given['id'] ?? null, [0, $maxId])) {
            return null;
        }
        $fields = self::fields($kind, $given);
        return $fields !== null && count($fields) === count(self::RULES[$kind]) ? [$given['id'], $fields] : null;
    }

    private static function object(string $body): ?array
    {
        $given = json_decode($body, true);
        // Decoded, {} and [] are the same.
        return is_array($given) && ltrim($body, " \t\r\n")[0] === '{' ? $given : null;
    }

    private static function fields(string $kind, array $given): ?array
    {
        $fields = array_intersect_key($given, self::RULES[$kind]);
        foreach ($fields as $name => $value) {
            if (!self::fits($value, self::RULES[$kind][$name])) {
                return null;
            }
        }
        return $fields;
    }

    private static function fits(mixed $value, int|array $rule): bool
    {
        if (is_int($rule)) {
            return is_string($value) && strlen($value) <= Store::LONGEST_PLACE && self::length($value, $rule) <= $rule;
        }
        return is_int($rule[0])
            ? is_int($value) && $value >= $rule[0] && $value <= $rule[1]
            : in_array($value, $rule, true);
    }

    /** Characters of a text in UTF-8; bytes where even those are few enough. */
    private static function length(string $text, int $enough): int
    {
        $bytes = strlen($text);
        return $bytes <= $enough ? $bytes : $bytes - preg_match_all('/[\x80-\xBF]/', $text);
    }
}
