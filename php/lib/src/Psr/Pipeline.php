<?php

declare(strict_types=1);

namespace Apus\Psr;

use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;

/** PSR-15 middleware in front of a handler: the first one given is the outermost. Requests at once do not meet. */
final class Pipeline implements RequestHandlerInterface
{
    /** @var MiddlewareInterface[] */
    private readonly array $middleware;

    public function __construct(
        private readonly RequestHandlerInterface $handler,
        MiddlewareInterface ...$middleware,
    ) {
        $this->middleware = array_values($middleware);
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        if ($this->middleware === []) {
            return $this->handler->handle($request);
        }
        $rest = new self($this->handler, ...array_slice($this->middleware, 1));
        return $this->middleware[0]->process($request, $rest);
    }
}
