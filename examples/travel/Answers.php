<?php

declare(strict_types=1);

namespace Apus\Travel;

/** The answers to GET requests: JSON, or the status of a refusal. */
final class Answers
{
    public const BAD_REQUEST = 400;
    public const NOT_FOUND = 404;
    private const JSON = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;
    /** Means have five decimals. */
    private const UNIT = 100_000;

    public function __construct(private readonly Store $store)
    {
    }

    /** The record itself. */
    public function record(string $kind, int $id): string|int
    {
        $fields = $this->store->table($kind)->get($id);
        return $fields === false ? self::NOT_FOUND : json_encode(['id' => $id] + $fields, self::JSON);
    }

    /** Where a user has been, in the order of time. */
    public function visits(int $user, array $given): string|int
    {
        if (!$this->store->users->exist($user)) {
            return self::NOT_FOUND;
        }
        $query = Query::ofUser($given);
        if ($query === null) {
            return self::BAD_REQUEST;
        }
        $visits = $query->from > $query->to ? [] : $this->store->visits->select(
            'user',
            [$user, $query->from],
            [$user, $query->to],
            ['mark', 'visited_at', 'location'],
        );
        $locations = $this->store->locations->fetch(array_column($visits, 'location', 'location'), ['place', ...$query->columns]);
        $list = [];
        foreach ($visits as $visit) {
            $location = $locations[$visit['location']] ?? null;
            if ($location !== null && $query->takes($location)) {
                $list[] = ['mark' => $visit['mark'], 'visited_at' => $visit['visited_at'], 'place' => $location['place']];
            }
        }
        return json_encode(['visits' => $list], self::JSON);
    }

    /** The mean mark of a location. */
    public function average(int $location, array $given): string|int
    {
        if (!$this->store->locations->exist($location)) {
            return self::NOT_FOUND;
        }
        $query = Query::ofLocation($given, $this->store->now);
        if ($query === null) {
            return self::BAD_REQUEST;
        }
        $visits = $query->from > $query->to ? [] : $this->store->visits->select(
            'location',
            [$location, $query->from],
            [$location, $query->to],
            $query->columns === [] ? ['mark'] : ['mark', 'user'],
        );
        $marks = array_column($query->columns === [] ? $visits : $this->ofPeople($visits, $query), 'mark');
        return '{"avg":' . self::mean(array_sum($marks), count($marks)) . '}';
    }

    /** The visits of users of the age and gender that are asked for. */
    private function ofPeople(array $visits, Query $query): array
    {
        $users = $this->store->users->fetch(array_column($visits, 'user', 'user'), $query->columns);
        return array_filter($visits, static fn (array $visit): bool => isset($users[$visit['user']]) && $query->takes($users[$visit['user']]));
    }

    /** sum / count, rounded half up; integers keep it exact. */
    private static function mean(int $sum, int $count): string
    {
        if ($count === 0) {
            return '0.0';
        }
        $parts = intdiv($sum * self::UNIT * 2 + $count, 2 * $count);
        $decimals = rtrim(substr((string) (self::UNIT + $parts % self::UNIT), 1), '0');
        return intdiv($parts, self::UNIT) . '.' . ($decimals === '' ? '0' : $decimals);
    }
}
