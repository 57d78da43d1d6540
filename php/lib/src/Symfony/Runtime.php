<?php

declare(strict_types=1);

namespace Apus\Symfony;

use Apus\Psr\Server;
use Apus\Psr\Worker as PsrWorker;
use Psr\Http\Server\RequestHandlerInterface;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Symfony\Component\Runtime\RunnerInterface;
use Symfony\Component\Runtime\Runner\ClosureRunner;
use Symfony\Component\Runtime\SymfonyRuntime;

/**
 * Symfony's Runtime component on Apus: `APP_RUNTIME=Apus\Symfony\Runtime apus run public/index.php`, or
 * `APP_RUNTIME=Apus\Symfony\Runtime apus serve --worker public/index.php`.
 *
 * Serves kernels and PSR-15 handlers; what else an application is, Symfony's own runtime runs. Options beside
 * Symfony's: `host`, `port` (also APUS_HOST, APUS_PORT), and `apus`, an array of settings.
 */
class Runtime extends SymfonyRuntime
{
    private readonly string $host;

    private readonly int $port;

    private readonly array $settings;

    public function __construct(array $options = [])
    {
        $this->host = (string) ($options['host'] ?? $_SERVER['APUS_HOST'] ?? '127.0.0.1');
        $this->port = (int) ($options['port'] ?? $_SERVER['APUS_PORT'] ?? 8000);
        $this->settings = (array) ($options['apus'] ?? []);
        parent::__construct($options);
    }

    public function getRunner(?object $application): RunnerInterface
    {
        if ($application instanceof HttpKernelInterface && isset($_SERVER['APUS_WORKER'])) {
            return new Worker($application);
        }
        if ($application instanceof HttpKernelInterface) {
            return new Runner($application, $this->host, $this->port, $this->settings);
        }
        if ($application instanceof RequestHandlerInterface && isset($_SERVER['APUS_WORKER'])) {
            return new ClosureRunner(function () use ($application): int {
                PsrWorker::run($application);
                return 0;
            });
        }
        if ($application instanceof RequestHandlerInterface) {
            return new ClosureRunner(
                fn (): int => Server::run($application, $this->host, $this->port, $this->settings) ? 0 : 1,
            );
        }
        return parent::getRunner($application);
    }
}
