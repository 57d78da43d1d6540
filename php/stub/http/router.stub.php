<?php

namespace Apus\Http;

/**
 * Finds the handler for a request by its method and path, and calls it with the middleware around it. It is itself a
 * handler: `$server->on('request', $router)`. Declare the routes before the server starts, or in `workerstart`.
 *
 * A pattern is a path with parameters: `{name}` is one segment or a part of one, `{name:\d+}` one that matches a
 * regular expression (linear time, ASCII classes, no look-around), `{name...}` as the last segment the rest of the
 * path, which may be empty. Paths are compared after percent-decoding, with their case, and with a slash at the end as
 * a difference. Of several routes for a path the most specific one is taken: text before parameters, parameters with an
 * expression before those without, the rest of the path last. The order of declaration makes no difference.
 *
 * A handler is called with the request, the response, and an array of the parameters by name. A middleware is called
 * with the request, the response, `callable $next` and the parameters: it calls `$next($request, $response)` to go on,
 * or answers itself. HEAD is answered by the route of GET; OPTIONS with 204 and Allow; a path without a route with 404,
 * a method without one with 405 and Allow. Middleware runs in these cases, too: that of the router for 404, that of the
 * route for 204 and 405. docs/routing.md has examples.
 */
class Router
{
    /**
     * A router without routes.
     * Does not wait.
     */
    public function __construct() {}

    /**
     * Adds a route for GET, and for HEAD.
     * @param string $pattern the path, at most 2048 bytes and 64 segments
     * @param callable $handler called with (Request $request, Response $response, array $params)
     * @param callable $middleware around this route only, inside that of its groups
     * @throws \ValueError when the pattern is invalid, or there is a route for the same method and paths
     * Does not wait.
     */
    public function get(string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * Adds a route for POST: see get().
     * @throws \ValueError
     * Does not wait.
     */
    public function post(string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * Adds a route for PUT: see get().
     * @throws \ValueError
     * Does not wait.
     */
    public function put(string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * Adds a route for PATCH: see get().
     * @throws \ValueError
     * Does not wait.
     */
    public function patch(string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * Adds a route for DELETE: see get().
     * @throws \ValueError
     * Does not wait.
     */
    public function delete(string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * Adds a route for OPTIONS, which is otherwise answered with the allowed methods: see get().
     * @throws \ValueError
     * Does not wait.
     */
    public function options(string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * Adds a route for any method, where there is none for the method itself: see get().
     * @throws \ValueError
     * Does not wait.
     */
    public function any(string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * Adds a route for several methods: see get().
     * @param array $methods their names, upper-case
     * @throws \ValueError
     * Does not wait.
     */
    public function map(array $methods, string $pattern, callable $handler, callable ...$middleware): static {}

    /**
     * A group of routes whose patterns begin with a prefix, and which have middleware of their own inside that of the
     * router. Groups may lie within groups, 32 at most.
     * @param string $prefix begins with / and does not end with it; may have parameters; empty for middleware only. The
     * pattern "/" in the group is the prefix itself
     * @param callable|null $declare called with the group, a Router whose routes are added to this one
     * @return Router the group
     * @throws \ValueError
     * @throws \Throwable what $declare threw
     * Does not wait, unless $declare does.
     */
    public function group(string $prefix, ?callable $declare = null): \Apus\Http\Router {}

    /**
     * Adds middleware around all routes of the router or group, those declared before included. The first one is the
     * outermost.
     * @param callable $middleware called with (Request $request, Response $response, callable $next, array $params)
     * Does not wait.
     * @rust add_middleware
     */
    public function use(callable ...$middleware): static {}

    /**
     * Has $handler answer instead of the router where no route is for a request.
     * @param callable $handler called with (Request $request, Response $response, int $status): $status is 404 or 405,
     * which is set already, as is Allow
     * Does not wait.
     */
    public function fallback(callable $handler): static {}

    /**
     * What is for a method and a path, without calling it: for tests.
     * @return array status (200, 204, 404 or 405), allowed (a list of methods, for 204 and 405), and for 200 pattern,
     * params and handler
     * Does not wait.
     * @rust find
     */
    public function match(string $method, string $path): array {}

    /**
     * Answers a request: what a server calls.
     * @return mixed what the handler or the outermost middleware returned
     * @throws \Throwable what it threw
     * Waits as the handler does.
     * @rust invoke
     */
    public function __invoke(\Apus\Http\Request $request, \Apus\Http\Response $response): mixed {}
}
