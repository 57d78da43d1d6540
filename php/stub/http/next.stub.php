<?php

namespace Apus\Http\Router;

/**
 * What a middleware calls to let the request go on: to the next middleware, and after the last one to the handler.
 * The router makes it.
 * @rust native
 */
final class Next
{
    /**
     * Goes on with the request.
     * @return mixed what the next middleware or the handler returned
     * @throws \Throwable what it threw
     * Waits as the handler does.
     * @rust invoke
     */
    public function __invoke(\Apus\Http\Request $request, \Apus\Http\Response $response): mixed {}
}
