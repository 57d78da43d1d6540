<?php

declare(strict_types=1);

namespace Bench\Db;

/** Apus and Swoole: `PDOPool` of the one or the other; both have the same two methods. */
final class EnginePool implements Pool
{
    public function __construct(private readonly object $pool)
    {
    }

    public function get(): object
    {
        return $this->pool->get();
    }

    public function put(object $connection): void
    {
        $this->pool->put($connection);
    }
}

/** php-fpm and mod_php: a process serves one request at a time, and its persistent connection outlives the request. */
final class PersistentConnection implements Pool
{
    public function __construct(private readonly array $config)
    {
    }

    public function get(): object
    {
        return connect($this->config, [\PDO::ATTR_PERSISTENT => true]);
    }

    public function put(object $connection): void
    {
    }
}

/** Apus and Swoole: PHP's memory outlives the request, so an array of the process is the cache. */
final class ArrayCache implements Cache
{
    /** @var array<string, string> */
    private array $values = [];

    public function get(string $key): ?string
    {
        return $this->values[$key] ?? null;
    }

    public function set(string $key, string $value): void
    {
        $this->values[$key] = $value;
    }
}

/** php-fpm and mod_php: APCu, shared memory of all processes of the service. */
final class ApcuCache implements Cache
{
    public function get(string $key): ?string
    {
        $value = apcu_fetch($key, $found);
        return $found ? $value : null;
    }

    public function set(string $key, string $value): void
    {
        apcu_store($key, $value);
    }
}

function connect(array $config, array $options = []): \PDO
{
    $where = $config['socket'] === '' ? "host={$config['host']};port={$config['port']}" : "unix_socket={$config['socket']}";
    $dsn = "mysql:$where;dbname={$config['name']};charset=utf8mb4";
    return new \PDO($dsn, $config['user'], $config['password'], $options);
}
