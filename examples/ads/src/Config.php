<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Database\PDOConfig;

/** What the environment says. README.md has the list. */
final readonly class Config
{
    /** @param array<string, string> $environment */
    public function __construct(private array $environment)
    {
        if (!in_array($this->text('ADS_SYNC'), ['always', 'interval'], true)) {
            throw new \InvalidArgumentException('ADS_SYNC is always or interval');
        }
    }

    private const DEFAULTS = [
        'ADS_HOST' => '127.0.0.1',
        'ADS_PORT' => '8080',
        'ADS_WORKERS' => '0',
        'ADS_DB_HOST' => '127.0.0.1',
        'ADS_DB_PORT' => '3306',
        'ADS_DB_NAME' => 'ads',
        'ADS_DB_USER' => 'ads',
        'ADS_DB_PASSWORD' => '',
        'ADS_DB_CONNECTIONS' => '16',
        'ADS_SPOOL' => '/var/tmp/apus-ads',
        'ADS_SPOOL_MOST' => '268435456',
        'ADS_SYNC' => 'always',
        'ADS_API_HOST' => 'api.localhost',
        'ADS_SITE_HOST' => 'ads.localhost',
        'ADS_CLICK_HOST' => 'go.localhost',
        'ADS_CRON' => '5 * * * *',
    ];

    public function text(string $name): string
    {
        $given = $this->environment[$name] ?? '';
        return $given === '' ? self::DEFAULTS[$name] : $given;
    }

    public function number(string $name): int
    {
        return filter_var($this->text($name), FILTER_VALIDATE_INT, ['options' => ['min_range' => 0]])
            ?: ($this->text($name) === '0' ? 0 : throw new \InvalidArgumentException("$name is no number"));
    }

    public function database(): PDOConfig
    {
        return (new PDOConfig)
            ->withHost($this->text('ADS_DB_HOST'))->withPort($this->number('ADS_DB_PORT'))->withDbname($this->text('ADS_DB_NAME'))
            ->withUsername($this->text('ADS_DB_USER'))->withPassword($this->text('ADS_DB_PASSWORD'))
            ->withCharset('utf8mb4')->withOptions(Database::OPTIONS);
    }

    public function connect(): \PDO
    {
        $where = "mysql:host={$this->text('ADS_DB_HOST')};port={$this->number('ADS_DB_PORT')};dbname={$this->text('ADS_DB_NAME')};charset=utf8mb4";
        return new \PDO($where, $this->text('ADS_DB_USER'), $this->text('ADS_DB_PASSWORD'), Database::OPTIONS);
    }
}
