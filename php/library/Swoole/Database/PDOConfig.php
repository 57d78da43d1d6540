<?php

declare(strict_types=1);

namespace Swoole\Database;

/** Where and as whom a PDOPool connects. */
class PDOConfig
{
    use ServerConfig;

    public const DRIVER_MYSQL = 'mysql';

    protected string $driver = self::DRIVER_MYSQL;

    public function getDriver(): string
    {
        return $this->driver;
    }

    public function withDriver(string $driver): self
    {
        $this->driver = $driver;
        return $this;
    }

    public function hasUnixSocket(): bool
    {
        return $this->unixSocket !== null && $this->unixSocket !== '';
    }

    /** The drivers that are loaded. */
    public static function getAvailableDrivers(): array
    {
        return \PDO::getAvailableDrivers();
    }
}
