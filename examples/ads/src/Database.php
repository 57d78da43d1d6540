<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\ConnectionPool;
use Apus\Database\PDOPool;

/** Statements on connections of the pool. A database that is away is a refusal with Retry-After, not an error of the program. */
final class Database
{
    public const OPTIONS = [
        \PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION,
        \PDO::ATTR_DEFAULT_FETCH_MODE => \PDO::FETCH_ASSOC,
        \PDO::ATTR_EMULATE_PREPARES => false,
        \PDO::ATTR_TIMEOUT => 5,
        \PDO::MYSQL_ATTR_INIT_COMMAND => "SET time_zone = '+00:00', sql_mode = 'TRADITIONAL', tx_isolation = 'READ-COMMITTED'",
    ];
    private const DUPLICATE = 1062;
    private const NO_PARENT = 1452;

    private readonly PDOPool $pool;

    public function __construct(Config $config)
    {
        $this->pool = (new PDOPool($config->database(), $config->number('ADS_DB_CONNECTIONS')))->set(['wait_timeout' => 2]);
    }

    /**
     * @param list<mixed> $values
     * @return list<array<string, mixed>>
     */
    public function rows(string $statement, array $values = []): array
    {
        return $this->use(fn (\PDO $pdo): array => self::execute($pdo, $statement, $values)->fetchAll());
    }

    /**
     * @param list<mixed> $values
     * @return ?array<string, mixed>
     */
    public function row(string $statement, array $values = []): ?array
    {
        return $this->rows($statement, $values)[0] ?? null;
    }

    /**
     * @param list<mixed> $values
     * @return int its id
     * @throws Refusal 409 where there is one already; 422 where the field $parent names a row that is not there
     */
    public function insert(string $statement, array $values, string $parent = ''): int
    {
        return $this->use(function (\PDO $pdo) use ($statement, $values, $parent): int {
            try {
                self::execute($pdo, $statement, $values);
            } catch (\PDOException $error) {
                throw match ($error->errorInfo[1] ?? 0) {
                    self::DUPLICATE => new Refusal(409, 'there is one of this name'),
                    self::NO_PARENT => new Refusal(422, 'the request is not valid', [$parent => 'does not exist']),
                    default => $error,
                };
            }
            return (int) $pdo->lastInsertId();
        });
    }

    /** @param \Closure(\PDO): mixed $work */
    public function transaction(\Closure $work): mixed
    {
        return $this->use(function (\PDO $pdo) use ($work): mixed {
            $pdo->beginTransaction();
            // A connection that comes back to the pool in a transaction is rolled back there.
            $result = $work($pdo);
            $pdo->commit();
            return $result;
        });
    }

    /** @param list<mixed> $values */
    public static function execute(\PDO $pdo, string $statement, array $values = []): \PDOStatement
    {
        $prepared = $pdo->prepare($statement);
        $prepared->execute($values);
        return $prepared;
    }

    /** Whether it is the server or the way to it that failed, not the statement: a general error of the client's, or a server that ends. */
    public static function isAway(\PDOException $error): bool
    {
        $code = (int) ($error->errorInfo[1] ?? $error->getCode());
        return ($code >= 2000 && $code < 3000) || in_array($code, [1040, 1053, 1152, 1158, 1159, 1160, 1161, 1927, 4031], true);
    }

    /**
     * @template T
     * @param \Closure(\PDO): T $work
     * @return T
     */
    private function use(\Closure $work): mixed
    {
        try {
            return $this->pool->use($work);
        } catch (ConnectionPool\Exception $error) {
            throw self::away($error);
        } catch (\PDOException $error) {
            throw self::isAway($error) ? self::away($error) : $error;
        }
    }

    private static function away(\Throwable $error): Refusal
    {
        error_log("the database is away: {$error->getMessage()}");
        return new Refusal(503, 'try again later', retryAfter: 1);
    }
}
