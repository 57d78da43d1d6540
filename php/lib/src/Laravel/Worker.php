<?php

declare(strict_types=1);

namespace Apus\Laravel;

use Illuminate\Contracts\Foundation\Application;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Facade;

/**
 * A Laravel application that boots once in each process of `apus serve --worker public/worker.php`, by its own HTTP
 * kernel. What a request has changed in the container, and in what the container had when the application was booted,
 * is put back after it.
 */
final class Worker
{
    /** Services that keep what they have made: connections. */
    public const KEPT = ['db', 'redis'];

    /**
     * Returns when the process is to end.
     * @param Application $app what bootstrap/app.php returns
     * @param list<string> $kept names of services that keep what requests have made of them
     */
    public static function run(Application $app, array $kept = self::KEPT): void
    {
        $app->instance('request', Request::create($_SERVER['APP_URL'] ?? 'http://localhost'));
        $kernel = $app->make(Kernel::class);
        $kernel->bootstrap();
        array_walk($kept, fn (string $name) => $app->bound($name) && $app->make($name));
        $snapshot = new Snapshot($app, $kept);
        $request = $response = null;
        $handle = function () use ($kernel, &$request, &$response): void {
            $request = Request::capture();
            $response = $kernel->handle($request);
            $response->send();
        };
        while (\Apus\handle_request($handle)) {
            if ($request !== null && $response !== null) {
                $kernel->terminate($request, $response);
            }
            $route = $request?->route();
            if (is_object($route) && method_exists($route, 'flushController')) {
                $route->flushController();
            }
            $request = $response = $route = null;
            $snapshot->restore();
            Facade::clearResolvedInstances();
        }
    }
}
