<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Atomic\Long;

/**
 * Brings the spool into the database: a process of its own, beside the workers. Each transaction has a batch of events, the
 * hours that they change, and the position in the file up to which all is loaded. So a batch is there as a whole or not at
 * all, and where its end is unknown (the connection broke during COMMIT) it is done again: its rows are there already.
 */
final class Loader
{
    private const ROWS = 1000;
    /** Bytes that are read at once: lines have up to 100. */
    private const BYTES = 64 << 10;
    /** Seconds between two looks at a spool in which all is loaded. */
    private const PAUSE = 0.05;
    private const LONGEST_PAUSE = 2.0;

    private ?\PDO $pdo = null;
    /** @var array<int, \PDOStatement> INSERTs by number of rows */
    private array $inserts = [];
    /** @var array<string, int> by segment */
    private array $positions = [];

    public function __construct(private readonly Config $config, private readonly Segments $segments, private readonly Long $waiting) {}

    public function run(): never
    {
        $lock = $this->segments->alone();
        $pause = self::PAUSE;
        while (true) {
            try {
                $this->connect();
                $loaded = $this->pass();
                $pause = self::PAUSE;
                if ($loaded === 0) {
                    usleep((int) ($pause * 1e6));
                }
            } catch (\PDOException $error) {
                error_log("the loader: {$error->getMessage()}; again in $pause s");
                [$this->pdo, $this->inserts] = [null, []];
                usleep((int) ($pause * 1e6));
                $pause = min(self::LONGEST_PAUSE, $pause * 2);
            }
        }
    }

    /** @return int bytes loaded: one piece of each file, so that none waits for another one */
    private function pass(): int
    {
        [$loaded, $waiting] = [0, 0];
        foreach ($this->segments->names() as $name) {
            $left = $this->segments->isLeft($name);
            $text = $this->segments->read($name, $this->positions[$name] ?? 0, self::BYTES);
            if ($text !== '') {
                $this->load($name, $text);
                $loaded += strlen($text);
            } elseif ($left) {
                $this->finish($name);
                continue;
            }
            $waiting += $this->segments->size($name) - ($this->positions[$name] ?? 0);
        }
        // Counted anew: a worker that was killed may have written without saying so.
        $this->waiting->set($waiting);
        return $loaded;
    }

    private function connect(): void
    {
        if ($this->pdo !== null) {
            return;
        }
        $pdo = $this->config->connect();
        $this->positions = $pdo->query('SELECT segment, position FROM spool_positions')->fetchAll(\PDO::FETCH_KEY_PAIR);
        $this->pdo = $pdo;
        // Files that were removed at the moment at which this process ended.
        foreach (array_diff(array_keys($this->positions), $this->segments->names()) as $name) {
            $this->forget((string) $name);
        }
    }

    private function load(string $name, string $text): void
    {
        $position = ($this->positions[$name] ?? 0) + strlen($text);
        $rows = [];
        foreach (explode("\n", rtrim($text, "\n")) as $line) {
            $row = Event::parse($line);
            if ($row === null) {
                $this->segments->reject($line, 'its line is malformed');
            } else {
                $rows[] = $row;
            }
        }
        $this->pdo->beginTransaction();
        $this->change($rows);
        foreach (array_chunk($rows, self::ROWS) as $some) {
            $this->insert($some);
        }
        Database::execute(
            $this->pdo,
            'INSERT INTO spool_positions (segment, position) VALUES (?, ?) ON DUPLICATE KEY UPDATE position = VALUES(position)',
            [$name, $position],
        );
        $this->pdo->commit();
        $this->positions[$name] = $position;
    }

    /**
     * Marks the hours before the events are there: who adds an hour up takes its mark, and waits for this transaction.
     * @param list<array{int, string, string, int, int, int, int}> $rows
     */
    private function change(array $rows): void
    {
        $hours = array_unique(array_map(static fn (array $row): int => $row[6] - $row[6] % 3600, $rows));
        sort($hours);
        foreach ($hours as $hour) {
            Database::execute($this->pdo, 'INSERT INTO changed_hours (hour) VALUES (?) ON DUPLICATE KEY UPDATE hour = hour', [gmdate('Y-m-d H:i:s', $hour)]);
        }
    }

    /** @param list<array{int, string, string, int, int, int, int}> $rows */
    private function insert(array $rows): void
    {
        $values = [];
        foreach ($rows as [$client, $id, $kind, $campaign, $creative, $cost, $at]) {
            array_push($values, $client, hex2bin($id), $kind, $campaign, $creative, $cost, gmdate('Y-m-d H:i:s', $at));
        }
        $this->statement(count($rows))->execute($values);
    }

    /** An event that is there already stays as it is. IGNORE would hide errors, too. */
    private function statement(int $rows): \PDOStatement
    {
        if (isset($this->inserts[$rows])) {
            return $this->inserts[$rows];
        }
        $places = implode(', ', array_fill(0, $rows, '(?, ?, ?, ?, ?, ?, ?)'));
        $statement = $this->pdo->prepare(
            "INSERT INTO events (client, id, kind, campaign, creative, cost_micros, occurred_at) VALUES $places ON DUPLICATE KEY UPDATE client = events.client",
        );
        // Those of other sizes are used once; the server keeps what is prepared.
        return $rows === self::ROWS ? $this->inserts[$rows] = $statement : $statement;
    }

    /** First the file, then what is known of it: the other way round it would be loaded again. */
    private function finish(string $name): void
    {
        // Half a line, which nobody was told to be taken.
        if ($this->segments->size($name) > ($this->positions[$name] ?? 0)) {
            $this->segments->reject('', "$name ends in the middle of a line");
        }
        $this->segments->remove($name);
        $this->forget($name);
    }

    private function forget(string $name): void
    {
        Database::execute($this->pdo, 'DELETE FROM spool_positions WHERE segment = ?', [$name]);
        unset($this->positions[$name]);
    }
}
