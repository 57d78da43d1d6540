<?php

declare(strict_types=1);

// What the API does, for all servers of PHP alike: (status, JSON) of a request. `$query` runs a statement and gives its rows; `$append`
// writes a line to the file of events.

namespace Bench;

const SELECT = 'SELECT id, advertiser, name, state, budget_cents FROM campaign WHERE ';
const FIELDS = ['id' => 1, 'kind' => 1, 'campaign' => 1, 'creative' => 1];
const OPTIONS = [
    \PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION,
    \PDO::ATTR_DEFAULT_FETCH_MODE => \PDO::FETCH_ASSOC,
    // One round trip for each query: where no statement stays prepared, the text is sent with its values.
    \PDO::ATTR_EMULATE_PREPARES => true,
];
// Where statements stay prepared: the server keeps them.
const KEPT = [\PDO::ATTR_EMULATE_PREPARES => false] + OPTIONS;

/** @return array{int, string} */
function event(string $body, \Closure $append): array
{
    $event = json_decode($body, true);
    if (!is_array($event) || ($event !== [] && array_is_list($event))) {
        return refusal(400, 'send a JSON object');
    }
    $number = static fn (mixed $value): bool => is_int($value) && $value >= 1 && $value <= 4_294_967_295;
    $wrong = array_filter([
        'id' => is_string($event['id'] ?? null) && preg_match('/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/D', $event['id']) ? null : 'must be a UUID',
        'kind' => in_array($event['kind'] ?? null, ['impression', 'click'], true) ? null : 'must be one of impression, click',
        'campaign' => $number($event['campaign'] ?? null) ? null : 'must be a number above 0',
        'creative' => $number($event['creative'] ?? null) ? null : 'must be a number above 0',
    ]) + array_map(static fn (mixed $value): string => 'is not known', array_diff_key($event, FIELDS));
    if ($wrong !== []) {
        return [422, json_encode(['error' => 'the request is not valid', 'fields' => $wrong])];
    }
    $append("{$event['id']}\t{$event['kind']}\t{$event['campaign']}\t{$event['creative']}\n");
    return [202, '{"accepted":1}'];
}

/** @return array{int, string} */
function campaign(string $id, ?string $authorization, \Closure $query): array
{
    if ($refusal = unknown($authorization, $query)) {
        return $refusal;
    }
    $row = strlen($id) < 10 ? $query(SELECT . 'id = ?', [(int) $id])[0] ?? null : null;
    return $row === null ? refusal(404, 'there is no such campaign') : [200, json_encode($row)];
}

/** @return array{int, string} */
function campaigns(?string $after, ?string $authorization, \Closure $query): array
{
    if ($refusal = unknown($authorization, $query)) {
        return $refusal;
    }
    if ($after === null || preg_match('/^\d{1,9}$/D', $after) !== 1) {
        return [422, json_encode(['error' => 'the request is not valid', 'fields' => ['after' => 'must be a number']])];
    }
    return [200, json_encode(['campaigns' => $query(SELECT . 'id > ? ORDER BY id LIMIT 50', [(int) $after])])];
}

/** @return array{int, string} */
function refusal(int $status, string $text): array
{
    return [$status, json_encode(['error' => $text])];
}

/** @return ?array{int, string} null for a key that there is */
function unknown(?string $authorization, \Closure $query): ?array
{
    $found = str_starts_with($authorization ?? '', 'Bearer ')
        && $query('SELECT client FROM api_key WHERE hash = ?', [hash('sha256', substr($authorization, 7), true)]) !== [];
    return $found ? null : refusal(401, 'there is no such key');
}

/** @param list<mixed> $values */
function rows(\PDO $pdo, string $statement, array $values): array
{
    $prepared = $pdo->prepare($statement);
    $prepared->execute($values);
    return $prepared->fetchAll();
}

/**
 * The same by statements that stay prepared as long as their connection.
 *
 * @param list<mixed> $values
 */
function kept(object $pdo, string $statement, array $values): array
{
    static $all = [];
    $prepared = $all[spl_object_id($pdo)][$statement] ??= $pdo->prepare($statement);
    $prepared->execute($values);
    return $prepared->fetchAll();
}

/** One write for each event: the file is opened for appending. */
function appender(string $file): \Closure
{
    $open = fopen($file, 'ab');
    stream_set_write_buffer($open, 0);
    return static fn (string $line): bool => fwrite($open, $line) === strlen($line);
}
