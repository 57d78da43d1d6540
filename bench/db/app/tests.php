<?php

/**
 * The eleven tests of W5 and one that only sleeps in the database, each a function that returns what its answer
 * reports. harness/db/verify.py knows the right figures; every answer of one test has the same length, so that the
 * load generator notices a wrong one.
 */

declare(strict_types=1);

namespace Bench\Db;

require __DIR__ . '/interfaces.php';
require __DIR__ . '/providers.php';

const CACHED_VALUES = 10_000;
const FILE_BYTES = 1_024;
/** Four digits each: the length of the answer does not depend on the row. */
const FIRST_ID = 1_000;
const LAST_ID = 9_999;
/** Rows that the caching test asks for. */
const CACHED_ROWS = 100;

/** What the tests work with, one for a process. */
final class Services
{
    /** @param array<string, string|int> $config see contenders/_shared/config.php */
    public function __construct(
        public readonly array $config,
        public readonly Pool $pool,
        public readonly Cache $cache,
    ) {
        spl_autoload_register(static function (string $class) use ($config): void {
            if (str_starts_with($class, 'Bench\\Db\\Model\\')) {
                require $config['classes'] . '/' . substr($class, strlen('Bench\\Db\\Model\\')) . '.php';
            }
        });
    }
}

/** The answer to a path as JSON; null where there is no such test. */
function answer(string $path, Services $services): ?string
{
    $few = mt_rand(FIRST_ID, FIRST_ID + CACHED_ROWS - 1);
    $result = match ($path) {
        '/basic' => [],
        '/basic_class_load' => ['greeting' => greeting()],
        '/basic_class_load_multiple' => ['classes' => classes(100)],
        '/basic_query' => ['row' => row(connect($services->config), random_id())],
        '/basic_query_with_pool' => ['row' => pooled($services->pool, row(...), random_id())],
        '/basic_query_with_pool_and_caching' => ['row' => cached_row($services, $few)],
        '/real_app_simulation' => real_app($services, 100, 10_000),
        '/real_app_simulation_with_files' => real_app($services, 100, 10_000, 10),
        '/real_app_simulation_with_files_and_connections' => real_app($services, 100, 10_000, 10, sleeps: 20),
        '/real_app_simulation_with_files_and_connections_simpler' => real_app($services, 10, 1_000, 1, sleeps: 2),
        '/simple_real_app_simulation' => real_app($services, 100, 1_000, rows: 2),
        '/sleeping_query_with_pool' => ['row' => pooled($services->pool, long_slept_row(...), random_id())],
        default => null,
    };
    return $result === null ? null : json_encode(['test' => substr($path, 1), ...$result], JSON_THROW_ON_ERROR);
}

function real_app(Services $services, int $classes, int $reads, int $files = 0, int $sleeps = 0, int $rows = 0): array
{
    $result = ['classes' => classes($classes), 'cache' => cache_reads($services->cache, $reads)];
    if ($files > 0) {
        $result['files'] = files($services->config['files'], $files);
    }
    for ($number = 0; $number < $sleeps; $number++) {
        $result['slept'][] = pooled($services->pool, slept_row(...), random_id());
    }
    for ($number = 0; $number < $rows; $number++) {
        $result['rows'][] = pooled($services->pool, row(...), random_id());
    }
    return $result;
}

/** basic_class_load: two files by `require_once` in the course of the request. */
function greeting(): string
{
    require_once __DIR__ . '/classes/Greeter.php';
    require_once __DIR__ . '/classes/Punctuation.php';
    return (new Greeter(new Punctuation()))->greet('World');
}

/** Autoloads the classes, or finds them loaded; the sum of their numbers. */
function classes(int $count): int
{
    $sum = 0;
    for ($number = 0; $number < $count; $number++) {
        $class = 'Bench\\Db\\Model\\Model' . $number;
        $sum += (new $class($number))->number();
    }
    return $sum;
}

/** The summed length of `count` cached values. A cache that is empty is filled first. */
function cache_reads(Cache $cache, int $count): int
{
    if ($cache->get('value:' . (CACHED_VALUES - 1)) === null) {
        for ($number = 0; $number < CACHED_VALUES; $number++) {
            $cache->set('value:' . $number, 'the value of ' . $number);
        }
    }
    $length = 0;
    for ($number = 0; $number < $count; $number++) {
        $length += strlen($cache->get('value:' . $number));
    }
    return $length;
}

/** Writes files, reads them back, deletes them; the bytes that came back right. */
function files(string $directory, int $count): int
{
    $prefix = $directory . '/' . bin2hex(random_bytes(8)) . '-';
    $bytes = 0;
    for ($number = 0; $number < $count; $number++) {
        $content = str_repeat(chr(97 + $number), FILE_BYTES);
        file_put_contents($prefix . $number, $content);
        $bytes += file_get_contents($prefix . $number) === $content ? FILE_BYTES : 0;
        unlink($prefix . $number);
    }
    return $bytes;
}

function random_id(): int
{
    return mt_rand(FIRST_ID, LAST_ID);
}

/** Borrows a connection for one query. */
function pooled(Pool $pool, callable $query, int $id): array
{
    $connection = $pool->get();
    try {
        return $query($connection, $id);
    } finally {
        $pool->put($connection);
    }
}

function cached_row(Services $services, int $id): array
{
    $key = 'row:' . $id;
    $found = $services->cache->get($key);
    if ($found === null) {
        $found = json_encode(pooled($services->pool, row(...), $id), JSON_THROW_ON_ERROR);
        $services->cache->set($key, $found);
    }
    return json_decode($found, true, 4, JSON_THROW_ON_ERROR);
}

function row(object $connection, int $id): array
{
    return fetch($connection, 'SELECT id, name, description FROM item WHERE id = ?', $id);
}

/** 10 ms in the server of the database, which uses none of its CPU time. */
function slept_row(object $connection, int $id): array
{
    return fetch($connection, 'SELECT id, name, SLEEP(0.01) AS slept FROM item WHERE id = ?', $id);
}

/** 50 ms: long enough for a full pool to be the limit, however dear a query is to the server. */
function long_slept_row(object $connection, int $id): array
{
    return fetch($connection, 'SELECT id, name, SLEEP(0.05) AS slept FROM item WHERE id = ?', $id);
}

function fetch(object $connection, string $sql, int $id): array
{
    $statement = $connection->prepare($sql);
    $statement->execute([$id]);
    $row = $statement->fetch(\PDO::FETCH_ASSOC);
    if ($row === false) {
        throw new \RuntimeException("item $id is missing");
    }
    return $row;
}
