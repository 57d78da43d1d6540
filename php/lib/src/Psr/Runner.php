<?php

declare(strict_types=1);

namespace Apus\Psr;

use Apus\Http\Request;
use Apus\Http\Response;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * A PSR-15 handler as the callback of the event request: `$server->on('request', new Apus\Psr\Runner($handler))`.
 *
 * What the handler throws is the server's to log and to answer with 500.
 */
final class Runner
{
    private readonly \Closure $handle;

    private readonly Messages $messages;

    /**
     * @param RequestHandlerInterface|callable $handler fn(ServerRequestInterface): ResponseInterface
     * @param Factories|null $factories those of the library that is installed, without it
     * @param bool $streamed whether bodies are read as they come: the setting stream_request_body
     */
    public function __construct(
        RequestHandlerInterface|callable $handler,
        ?Factories $factories = null,
        private readonly bool $streamed = false,
    ) {
        $this->handle = $handler instanceof RequestHandlerInterface ? $handler->handle(...) : $handler(...);
        $this->messages = new Messages($factories ?? Factories::found());
    }

    public function __invoke(Request $request, Response $response): void
    {
        try {
            $asked = $this->messages->request($request, $this->streamed);
        } catch (\InvalidArgumentException) {
            $response->status(400);
            $response->end();
            return;
        }
        Messages::send(($this->handle)($asked), $response, $request->getMethod() === 'HEAD');
    }
}
