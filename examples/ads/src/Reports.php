<?php

declare(strict_types=1);

namespace Apus\Ads;

/** Sums by hour, campaign and creative. */
final readonly class Reports
{
    private const HOURS = 'SELECT hour, creative, impressions, clicks, cost_micros FROM hourly WHERE campaign = ? AND hour >= ? AND hour < ? ORDER BY hour, creative LIMIT 10000';

    public function __construct(private Database $database) {}

    /**
     * Adds up the hours that got events since the last time, each in a transaction: early or late, in whatever order and
     * however often it runs, a sum is that of all events that are there.
     * @return int how many hours
     */
    public function refresh(): int
    {
        $hours = array_column($this->database->rows('SELECT hour FROM changed_hours ORDER BY hour'), 'hour');
        foreach ($hours as $hour) {
            $this->database->transaction(static function (\PDO $pdo) use ($hour): void {
                // Waits for whoever loads events of this hour; who comes later marks it again.
                Database::execute($pdo, 'DELETE FROM changed_hours WHERE hour = ?', [$hour]);
                Database::execute($pdo, 'DELETE FROM hourly WHERE hour = ?', [$hour]);
                Database::execute($pdo, <<<'SQL'
                    INSERT INTO hourly (hour, campaign, creative, impressions, clicks, cost_micros)
                    SELECT ?, campaign, creative, SUM(kind = 'impression'), SUM(kind = 'click'), SUM(cost_micros)
                    FROM events WHERE occurred_at >= ? AND occurred_at < ? + INTERVAL 1 HOUR GROUP BY campaign, creative
                    SQL, [$hour, $hour, $hour]);
            });
        }
        return count($hours);
    }

    /** @return array<string, mixed> */
    public function campaign(int $campaign, string $from, string $to): array
    {
        $rows = $this->database->rows(self::HOURS, [$campaign, $from, $to]);
        $hours = array_map(static fn (array $row): array => ['hour' => str_replace(' ', 'T', $row['hour']) . 'Z'] + array_map(intval(...), $row), $rows);
        $total = static fn (string $column): int => (int) array_sum(array_column($rows, $column));
        return [
            'campaign' => $campaign,
            'impressions' => $total('impressions'),
            'clicks' => $total('clicks'),
            'cost_micros' => $total('cost_micros'),
            'hours' => $hours,
        ];
    }
}
