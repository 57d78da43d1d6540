<?php

declare(strict_types=1);

namespace Swoole\Database;

use Swoole\ConnectionPool;

/** @method void put(PDOProxy|null $connection) */
class PDOPool extends ConnectionPool
{
    public function __construct(protected PDOConfig $config, int $size = self::DEFAULT_SIZE)
    {
        parent::__construct($this->connect(...), $size, PDOProxy::class);
    }

    /** @return PDOProxy|false */
    public function get(float $timeout = -1)
    {
        $pdo = parent::get($timeout);
        if ($pdo === false) {
            return false;
        }
        $pdo->reset();
        return $pdo;
    }

    private function connect(): \PDO
    {
        $config = $this->config;
        if ($config->getDriver() === 'sqlite') {
            return new \PDO($this->source());
        }
        return new \PDO($this->source(), $config->getUsername(), $config->getPassword(), $config->getOptions());
    }

    private function source(): string
    {
        $config = $this->config;
        [$host, $name, $charset] = [$config->getHost(), $config->getDbname(), $config->getCharset()];
        [$port, $socket] = [$config->getPort(), $config->hasUnixSocket() ? $config->getUnixSocket() : null];
        switch ($config->getDriver()) {
            case 'mysql':
                $place = $socket !== null ? "unix_socket={$socket}" : "host={$host};port={$port}";
                return "mysql:{$place};dbname={$name};charset={$charset}";
            case 'pgsql':
                return 'pgsql:host=' . ($socket ?? $host) . ";port={$port};dbname={$name}";
            case 'oci':
                return 'oci:dbname=' . ($socket ?? $host) . ":{$port}/{$name};charset={$charset}";
            case 'sqlite':
                return match ($name) {
                    '' => throw new \Exception('Connection pool in Swoole does not support temporary SQLite databases.'),
                    ':memory:' => throw new \Exception(
                        'Connection pool in Swoole does not support creating SQLite databases in memory.',
                    ),
                    default => "sqlite:{$name}",
                };
        }
        throw new \Exception('Unsupported Database Driver:' . $config->getDriver());
    }
}
