<?php

declare(strict_types=1);

namespace Apus\Travel;

/** Conditions from the query of a request. */
final class Query
{
    private const DAY = 86_400;
    /** More years than any time of 64 bits is away. */
    private const MOST_YEARS = 100_000;

    /** What visited_at may be, both ends included; bounds of the column when the request says nothing. */
    public int $from = -0x8000_0000;
    public int $to = 0x7FFF_FFFF;
    /** @var string[] columns of a visit's location, or of its user, that the conditions are about: only these are fetched */
    public array $columns = [];
    private ?string $country = null;
    private ?int $toDistance = null;
    private ?int $bornBefore = null;
    private ?int $bornAfter = null;
    private ?string $gender = null;

    /** For /users/ID/visits; null where a parameter is wrong. */
    public static function ofUser(array $given): ?self
    {
        $query = new self();
        $valid = $query->dates($given);
        if (isset($given['country'])) {
            $query->columns[] = 'country';
            $query->country = is_string($given['country']) ? $given['country'] : '';
            $valid = $valid && $query->country !== '';
        }
        if (isset($given['toDistance'])) {
            $query->columns[] = 'distance';
            $valid = self::number($given['toDistance'], $query->toDistance) && $valid;
        }
        return $valid ? $query : null;
    }

    /** For /locations/ID/avg; null where a parameter is wrong. */
    public static function ofLocation(array $given, int $now): ?self
    {
        $query = new self();
        $valid = $query->dates($given);
        if (isset($given['fromAge'])) {
            $valid = self::number($given['fromAge'], $years) && $valid;
            $query->bornBefore = self::yearsBefore($now, $years ?? 0);
        }
        if (isset($given['toAge'])) {
            $valid = self::number($given['toAge'], $years) && $valid;
            $query->bornAfter = self::yearsBefore($now, $years ?? 0);
        }
        if (isset($given['fromAge']) || isset($given['toAge'])) {
            $query->columns[] = 'birth_date';
        }
        if (isset($given['gender'])) {
            $query->columns[] = 'gender';
            $valid = $valid && in_array($given['gender'], ['m', 'f'], true);
            $query->gender = $valid ? $given['gender'] : null;
        }
        return $valid ? $query : null;
    }

    /** Whether a visit counts whose location or user has these values in $columns. */
    public function takes(array $joined): bool
    {
        return ($this->country === null || $joined['country'] === $this->country)
            && ($this->toDistance === null || $joined['distance'] < $this->toDistance)
            && ($this->bornBefore === null || $joined['birth_date'] < $this->bornBefore)
            && ($this->bornAfter === null || $joined['birth_date'] > $this->bornAfter)
            && ($this->gender === null || $joined['gender'] === $this->gender);
    }

    /** The dates given stand outside of what is asked for. */
    private function dates(array $given): bool
    {
        $valid = true;
        if (isset($given['fromDate'])) {
            $valid = self::number($given['fromDate'], $date);
            $this->from = max($this->from, $valid ? self::next($date) : 0);
        }
        if (isset($given['toDate'])) {
            $valid = self::number($given['toDate'], $date) && $valid;
            $this->to = min($this->to, $valid ? self::previous($date) : 0);
        }
        return $valid;
    }

    private static function next(int $number): int
    {
        return $number === PHP_INT_MAX ? $number : $number + 1;
    }

    private static function previous(int $number): int
    {
        return $number === PHP_INT_MIN ? $number : $number - 1;
    }

    /** Digits with an optional minus; what 64 bits do not hold becomes their end. */
    private static function number(mixed $text, ?int &$number): bool
    {
        if (!is_string($text) || preg_match('/^-?\d+$/D', $text) !== 1) {
            return false;
        }
        $number = (int) $text;
        return true;
    }

    /** The same day and time of day so many years before; the 29th of February becomes the 1st of March where there is none. */
    public static function yearsBefore(int $now, int $years): int
    {
        $years = max(-self::MOST_YEARS, min(self::MOST_YEARS, $years));
        [$month, $day, $year] = array_map(intval(...), explode(' ', gmdate('n j Y', $now)));
        $time = $now - intdiv($now, self::DAY) * self::DAY;
        return self::days($year - $years, $month, $day) * self::DAY + ($time < 0 ? $time + self::DAY : $time);
    }

    /** Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that a leap day is their last. */
    private static function days(int $year, int $month, int $day): int
    {
        $year -= $month < 3 ? 1 : 0;
        $era = (int) floor($year / 400);
        $yearOfEra = $year - $era * 400;
        $dayOfYear = intdiv(153 * ($month + ($month > 2 ? -3 : 9)) + 2, 5) + $day - 1;
        return $era * 146_097 + $yearOfEra * 365 + intdiv($yearOfEra, 4) - intdiv($yearOfEra, 100) + $dayOfYear - 719_468;
    }
}
