<?php

namespace Apus\Database;

/**
 * Where and as whom a PDOPool connects. Each with…() changes the object and returns it.
 * @rust static CONFIG
 * @rust plain
 * @rust slots
 * @rust accessors config
 */
class PDOConfig
{
    // @rust typed

    /** The driver that is used unless another is named. */
    public const DRIVER_MYSQL = 'mysql';

    /** PDO's driver. */
    protected string $driver = 'mysql';

    /** Host name or address. */
    protected string $host = '127.0.0.1';

    /** Port; null for the driver's own. */
    protected ?int $port = null;

    /** Path of a Unix socket, instead of host and port. */
    protected ?string $unixSocket = null;

    /** Database. */
    protected string $dbname = 'test';

    /** Character set. */
    protected string $charset = 'utf8mb4';

    /** User. */
    protected string $username = 'root';

    /** Password. */
    protected string $password = 'root';

    /** PDO attributes of each connection. */
    protected array $options;

    /**
     * The driver.
     * Does not wait.
     */
    public function getDriver(): string {}

    /**
     * Sets the driver: mysql (default), pgsql or sqlite. Its PHP extension must be loaded.
     * Does not wait.
     */
    public function withDriver(string $driver): self {}

    /**
     * The host.
     * Does not wait.
     */
    public function getHost(): string {}

    /**
     * Sets the host name or address; default 127.0.0.1.
     * Does not wait.
     */
    public function withHost(string $host): self {}

    /**
     * The port; unless set 3306 for mysql, 5432 for pgsql, else 0: the driver's own.
     * Does not wait.
     * @rust get_port
     */
    public function getPort(): int {}

    /**
     * Whether a Unix socket is set.
     * Does not wait.
     * @rust has_socket
     */
    public function hasUnixSocket(): bool {}

    /**
     * The path of the Unix socket; null when none is set.
     * Does not wait.
     */
    public function getUnixSocket(): ?string {}

    /**
     * Sets the path of a Unix socket, which is used instead of host and port; for pgsql it is the directory of the
     * socket.
     * null (default) for none.
     * Does not wait.
     */
    public function withUnixSocket(?string $unixSocket): self {}

    /**
     * Sets the port, 0 to 65535; default: see getPort().
     * @throws \ValueError when it is out of range
     * Does not wait.
     * @rust config::with_port
     */
    public function withPort(int $port): self {}

    /**
     * The database.
     * Does not wait.
     */
    public function getDbname(): string {}

    /**
     * Sets the database; default test. For sqlite it is the path of the file or :memory:, for odbc the data source.
     * Does not wait.
     */
    public function withDbname(string $dbname): self {}

    /**
     * The character set.
     * Does not wait.
     */
    public function getCharset(): string {}

    /**
     * Sets the character set; default utf8mb4, which means UTF8 to pgsql.
     * Does not wait.
     */
    public function withCharset(string $charset): self {}

    /**
     * The user.
     * Does not wait.
     */
    public function getUsername(): string {}

    /**
     * Sets the user; default root.
     * Does not wait.
     */
    public function withUsername(string $username): self {}

    /**
     * The password.
     * Does not wait.
     */
    public function getPassword(): string {}

    /**
     * Sets the password; default root.
     * Does not wait.
     */
    public function withPassword(string $password): self {}

    /**
     * The PDO attributes.
     * Does not wait.
     * @rust config::get_array
     */
    public function getOptions(): array {}

    /**
     * Sets the PDO attributes of each connection, such as [PDO::ATTR_TIMEOUT => 2]; default none.
     * Does not wait.
     */
    public function withOptions(array $options): self {}

    /**
     * The drivers of the loaded PDO extensions.
     * @throws \Apus\ConnectionPool\Exception OPTION when PDO is not loaded
     * Does not wait.
     * @rust available_drivers
     */
    public static function getAvailableDrivers(): array {}
}

/**
 * A pool of PDO connections. get() returns a plain PDO. One that was idle is checked by a small query; an open
 * transaction is rolled back when it comes back.
 * @rust static POOL
 * @rust slots
 */
class PDOPool extends \Apus\ConnectionPool
{
    // @rust typed

    /** Where and as whom it connects; read whenever a connection is made. */
    protected \Apus\Database\PDOConfig $config;

    /**
     * A pool without connections.
     * @param int $size connections of this process at most, 1 to 100000; default 64
     * @throws \Apus\ConnectionPool\Exception OPTION when PDO is not loaded
     * @throws \ValueError when $size is out of range
     * Does not wait.
     * @rust construct_pool
     */
    public function __construct(\Apus\Database\PDOConfig $config, int $size = 64) {}
}
