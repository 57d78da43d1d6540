<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Http\Server as HttpServer;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * Serves a PSR-15 application.
 *
 * A worker handles one request at a time, as a process of php-fpm does, because most applications keep state of a
 * request in objects that live longer. Those that do not may set max_concurrency to 0: then requests overlap.
 */
final class Server
{
    /** Settings of a worker that handles one request at a time: nobody else waits for a busy one. */
    public const ONE_AT_A_TIME = ['max_concurrency' => 1, 'blocked_loop_warn' => 0];

    /**
     * Serves with a handler that exists already; workers have it by fork. Returns when the server has stopped.
     * @param RequestHandlerInterface|callable $handler fn(ServerRequestInterface): ResponseInterface
     * @param array $settings those of docs/options.md
     * @param callable|null $prepare fn(Apus\Http\Server $server): events and ports beside that
     */
    public static function run(
        RequestHandlerInterface|callable $handler,
        string $host = '127.0.0.1',
        int $port = 8080,
        array $settings = [],
        ?Factories $factories = null,
        ?callable $prepare = null,
    ): bool {
        return self::boot(fn () => $handler, $host, $port, $settings, $factories, $prepare);
    }

    /**
     * Serves with a handler that each worker makes when it starts, with connections and code of its own: a reload has
     * new code.
     * @param callable $make fn(Apus\Http\Server $server): the handler
     */
    public static function boot(
        callable $make,
        string $host = '127.0.0.1',
        int $port = 8080,
        array $settings = [],
        ?Factories $factories = null,
        ?callable $prepare = null,
    ): bool {
        $server = new HttpServer($host, $port);
        $server->set($settings + self::ONE_AT_A_TIME);
        $streamed = filter_var($settings['stream_request_body'] ?? false, FILTER_VALIDATE_BOOL);
        $runner = null;
        $server->on('workerstart', function (HttpServer $server) use ($make, $factories, $streamed, &$runner): void {
            if (!$server->taskworker) {
                $runner = new Runner($make($server), $factories, $streamed);
            }
        });
        $server->on('request', function ($request, $response) use (&$runner): void {
            $runner($request, $response);
        });
        $prepare === null || $prepare($server);
        return $server->start();
    }
}
