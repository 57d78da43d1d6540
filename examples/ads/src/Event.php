<?php

declare(strict_types=1);

namespace Apus\Ads;

/**
 * An impression or a click, as a line of the spool: client, id, kind, campaign, creative, cost in millionths, seconds. None
 * of these can hold a tab or a line break.
 */
final class Event
{
    public const KINDS = ['impression' => 'i', 'click' => 'c'];
    private const FIELDS = ['id' => 1, 'kind' => 1, 'campaign' => 1, 'creative' => 1, 'cost_micros' => 1, 'at' => 1];
    private const UUID = '/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/Di';
    private const LINE = '/^\d{1,10}\t[0-9a-f]{32}\t[ic]\t\d{1,10}\t\d{1,10}\t\d{1,10}\t\d{9,11}$/D';
    /** Seconds: how old an event may be, and how far ahead the clock of who sends it. */
    private const OLDEST = 7 * 86_400;
    private const AHEAD = 300;
    private const MOST_ID = 4_294_967_295;
    private const MOST_COST = 1_000_000_000;

    /**
     * @param ?string $batch id of the batch, which gives each of its events an id
     * @param int $number of the event within it
     * @param array<string, string> $wrong gets what is wrong, by field
     */
    public static function line(int $client, mixed $event, ?string $batch, int $number, int $now, array &$wrong): string
    {
        if (!is_array($event)) {
            $wrong["events[$number]"] = 'must be an object';
            return '';
        }
        $id = isset($event['id']) || $batch === null ? self::id($event['id'] ?? null) : self::numbered($batch, $number);
        $kind = self::KINDS[is_string($event['kind'] ?? null) ? $event['kind'] : ''] ?? null;
        [$campaign, $creative] = [$event['campaign'] ?? null, $event['creative'] ?? null];
        [$cost, $at] = [$event['cost_micros'] ?? 0, $event['at'] ?? $now];
        $faults = array_filter([
            'id' => $id === null ? 'must be a UUID (or send a batch with an id)' : null,
            'kind' => $kind === null ? 'must be one of impression, click' : null,
            'campaign' => self::isWithin($campaign, 1, self::MOST_ID) ? null : 'must be the number of a campaign',
            'creative' => self::isWithin($creative, 1, self::MOST_ID) ? null : 'must be the number of a creative',
            'cost_micros' => self::isWithin($cost, 0, self::MOST_COST) ? null : 'must be an integer from 0 to ' . self::MOST_COST,
            'at' => self::isWithin($at, $now - self::OLDEST, $now + self::AHEAD) ? null : 'must be seconds since 1970, of the last seven days',
        ]);
        foreach (array_diff_key($event, self::FIELDS) as $field => $value) {
            $faults[preg_replace('/[^ -~]/', '?', substr((string) $field, 0, 50))] = 'is not known';
        }
        if ($faults !== []) {
            foreach ($faults as $field => $what) {
                $wrong["events[$number].$field"] = $what;
            }
            return '';
        }
        return "$client\t$id\t$kind\t$campaign\t$creative\t$cost\t$at\n";
    }

    /** 32 digits, or null where the text is no UUID. */
    public static function id(mixed $text): ?string
    {
        return is_string($text) && preg_match(self::UUID, $text) === 1 ? strtolower(str_replace('-', '', $text)) : null;
    }

    /** The id that an event has by its place in a batch: the same whenever the batch is sent. */
    public static function numbered(string $batch, int $number): string
    {
        return substr(hash('sha256', "$batch/$number"), 0, 32);
    }

    /** @return ?array{int, string, string, int, int, int, int} null for what is no whole line: the end of a file that lost its power */
    public static function parse(string $line): ?array
    {
        if (preg_match(self::LINE, $line) !== 1) {
            return null;
        }
        [$client, $id, $kind, $campaign, $creative, $cost, $at] = explode("\t", $line);
        return [(int) $client, $id, $kind === 'i' ? 'impression' : 'click', (int) $campaign, (int) $creative, (int) $cost, (int) $at];
    }

    private static function isWithin(mixed $value, int $least, int $most): bool
    {
        return is_int($value) && $value >= $least && $value <= $most;
    }
}
