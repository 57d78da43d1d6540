--TEST--
Coroutine\Http\Server: a router is a handler
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine\Http\Server;
use function Apus\Coroutine\run;

run(function () {
    $router = new Apus\Http\Router();
    $router->get('/a/{b}', fn ($request, $response, $params) => $response->end("b is $params[b]"));
    $router->use(function ($request, $response, $next) {
        Apus\Coroutine::sleep(0.001);
        $next($request, $response);
    });
    $server = new Server('127.0.0.1');
    $server->handle('/', $router);
    $ended = started($server);
    echo get($server->port, '/a/7'), "\n", get($server->port, '/c'), "\n";
    $server->shutdown();
    $ended->pop(20);
});
?>
--EXPECT--
200 b is 7
404 404 Not Found
