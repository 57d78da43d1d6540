<?php

declare(strict_types=1);

namespace Apus\Ads;

use Apus\Http\Router;
use Apus\Http\Server;

/** One worker: its pool, its file of the spool, and the routes of two hosts. */
final class Application
{
    /** Seconds that a request waits for the task worker. */
    private const REFRESH_SECONDS = 60.0;

    private readonly Spool $spool;
    public readonly Router $api;
    public readonly Router $clicks;

    public function __construct(Server $server, Config $config, Shared $shared)
    {
        $database = new Database($config);
        $remembered = new Remembered($shared->cache, Keys::FRESH);
        $this->spool = new Spool($config->text('ADS_SPOOL'), $shared->waiting, $config->number('ADS_SPOOL_MOST'), $config->text('ADS_SYNC') === 'always');
        $keys = new Keys($database, $remembered, $shared->failures);
        $refresh = static function () use ($server): int {
            $hours = $server->taskwait('refresh', self::REFRESH_SECONDS);
            return $hours === false ? throw new Refusal(503, 'the sums are not ready', retryAfter: 5) : $hours;
        };
        $this->api = (new Api($keys, $shared->limits, new Intake($this->spool, $shared->limits), $database, $refresh))->router;
        $this->clicks = (new Clicks($database, $remembered, $this->spool, $shared->visitors))->router;
    }

    public function leave(): void
    {
        $this->spool->leave();
    }
}
