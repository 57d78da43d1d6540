<?php

namespace Apus\Database;

/**
 * Where and as whom a MysqliPool connects. Each with…() changes the object and returns it.
 * @rust static CONFIG
 * @rust plain
 * @rust slots
 * @rust accessors config
 */
class MysqliConfig
{
    // @rust typed

    /** Host name or address. */
    protected string $host = '127.0.0.1';

    /** Port. */
    protected int $port = 3306;

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

    /** Options of each connection. */
    protected array $options;

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
     * The port.
     * Does not wait.
     */
    public function getPort(): int {}

    /**
     * The path of the Unix socket; null when none is set.
     * Does not wait.
     */
    public function getUnixSocket(): ?string {}

    /**
     * Sets the path of a Unix socket, which is used instead of host and port. null (default) for none.
     * Does not wait.
     */
    public function withUnixSocket(?string $unixSocket): self {}

    /**
     * Sets the port, 0 to 65535; default 3306.
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
     * Sets the database; default test.
     * Does not wait.
     */
    public function withDbname(string $dbname): self {}

    /**
     * The character set.
     * Does not wait.
     */
    public function getCharset(): string {}

    /**
     * Sets the character set; default utf8mb4, empty for the server's own.
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
     * The options of mysqli.
     * Does not wait.
     * @rust config::get_array
     */
    public function getOptions(): array {}

    /**
     * Sets what mysqli::options() is called with before each connection is made, such as [MYSQLI_OPT_CONNECT_TIMEOUT =>
     * 2]; default none.
     * Does not wait.
     */
    public function withOptions(array $options): self {}
}

/**
 * A pool of mysqli connections. get() returns a plain mysqli. One that was idle is checked by a small query. mysqli
 * does not tell whether a transaction is open: put() asks the server, one round trip; the setting `reset` => 'none'
 * saves it for programs that leave none open.
 * @rust static POOL
 * @rust slots
 */
class MysqliPool extends \Apus\ConnectionPool
{
    // @rust typed

    /** Where and as whom it connects; read whenever a connection is made. */
    protected \Apus\Database\MysqliConfig $config;

    /**
     * A pool without connections.
     * @param int $size connections of this process at most, 1 to 100000; default 64
     * @throws \Apus\ConnectionPool\Exception OPTION when mysqli is not loaded
     * @throws \ValueError when $size is out of range
     * Does not wait.
     * @rust construct_pool
     */
    public function __construct(\Apus\Database\MysqliConfig $config, int $size = 64) {}
}
