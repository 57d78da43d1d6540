<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\Http\Server\RequestHandlerInterface;

/**
 * A PSR-15 application that stays booted in each process of `apus serve --worker public/worker.php`, which answers one
 * request after the other.
 */
final class Worker
{
    /**
     * Returns when the process is to end.
     * @param RequestHandlerInterface|callable $handler fn(ServerRequestInterface): ResponseInterface
     * @param Factories|null $factories those of the library that is installed, without it
     */
    public static function run(RequestHandlerInterface|callable $handler, ?Factories $factories = null): void
    {
        $handle = $handler instanceof RequestHandlerInterface ? $handler->handle(...) : $handler(...);
        $globals = new Globals($factories ?? Factories::found());
        $answer = static function () use ($handle, $globals): void {
            try {
                $asked = $globals->request();
            } catch (\InvalidArgumentException) {
                http_response_code(400);
                return;
            }
            Globals::send($handle($asked), $_SERVER['REQUEST_METHOD'] === 'HEAD');
        };
        while (\Apus\handle_request($answer)) {
            gc_collect_cycles();
        }
    }
}
