<?php

declare(strict_types=1);

// Memory that processes share, and values as bytes.
// usage: apus run memory.php SCRATCH

use Apus\Table;

[, $scratch] = $argv;

/** The same by rows with keys and by columns with ids. */
function rows(Table|Apus\ColumnTable $table, callable $key, int $rows, string $scratch): void
{
    $table->column('name', Table::TYPE_STRING, 32);
    $table->column('score', Table::TYPE_INT);
    $table->column('share', Table::TYPE_FLOAT);
    $table->index('score', 'score');
    $table->create();
    for ($row = 1; $row <= $rows; $row++) {
        $table->set($key($row), ['name' => "row $row", 'score' => $row * 7919 % 1000, 'share' => $row / 3]);
    }
    for ($row = 1; $row <= $rows; $row++) {
        $table->get($key($row));
        $table->get($key($row), 'score');
        $table->incr($key($row), 'score');
        $table->exists($key($row));
    }
    for ($score = 0; $score < 1000; $score++) {
        $table->find('score', $score, 10);
        $table->countRange('score', $score, $score + 10);
    }
    $table->select('score', 100, 200, ['name', 'score'], 100);
    foreach ($table as $row) {
        $row['score'] > 0 || throw new LogicException('a table lost a score');
    }
    $table->save("$scratch/table");
    for ($row = 1; $row <= $rows; $row += 2) {
        $table->del($key($row));
    }
    $table->restore("$scratch/table");
    count($table) === $rows || throw new LogicException('a table lost a row');
}

rows(new Table(40_000), fn (int $row): string => "key:$row", 20_000, $scratch);
rows(new Apus\ColumnTable(40_000), fn (int $row): int => $row, 20_000, $scratch);

$plain = new Table(1024);
$plain->column('count', Table::TYPE_INT);
$plain->create();
for ($round = 0; $round < 200_000; $round++) {
    $key = 'key' . $round % 1000;
    $plain->set($key, ['count' => $round]);
    $plain->get($key);
    $plain->incr($key, 'count');
}

$cache = new Apus\Cache(8 << 20);
$queue = new Apus\Queue(1 << 20);
$limiter = new Apus\RateLimiter(1024, 1e6);
$value = ['id' => 7, 'name' => 'Ann', 'list' => [1, 2.5, true, null, 'five'], 'more' => ['deep' => ['deeper' => 'x']]];
for ($round = 0; $round < 50_000; $round++) {
    $cache->set('key' . $round % 3000, $value, 60);
    $cache->get('key' . $round % 5000);
    $cache->increment('count');
    $queue->tryPush($value);
    $queue->tryPop();
    $limiter->allow('client' . $round % 100);
    Apus\unpack(Apus\pack($value)) === $value || throw new LogicException('pack() lost a value');
}
$large = array_map(fn (int $id): array => ['id' => $id, 'name' => "item $id"], range(1, 1000));
for ($round = 0; $round < 100; $round++) {
    Apus\unpack(Apus\pack($large));
    $cache->set('large', $large);
    $cache->get('large');
}
