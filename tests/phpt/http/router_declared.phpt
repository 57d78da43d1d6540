--TEST--
Router: what is refused when routes are declared; match(); cycles are collected; not called as a handler
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\Http\Router;

$none = fn () => null;
$router = new Router();
$router->get('/a/{x}', $none);
attempt(fn () => $router->get('a', $none));
attempt(fn () => $router->get('/{', $none));
attempt(fn () => $router->get('/{a:(}', $none));
attempt(fn () => $router->get('/{a}/{a}', $none));
attempt(fn () => $router->get('/a/{y}', $none));
attempt(fn () => $router->get('/b', 'no_such_function'));
attempt(fn () => $router->get('/b', $none, 'no_such_middleware'));
attempt(fn () => $router->map([], '/b', $none));
attempt(fn () => $router->map(['get'], '/b', $none));
attempt(fn () => $router->map([7], '/b', $none));
attempt(fn () => $router->group('b'));
attempt(fn () => $router->group('/b/'));
attempt(function () use ($router) {
    for ($i = 0; $i < 40; $i++) {
        $router = $router->group('/deeper');
    }
});
attempt(fn () => $router('a', 'b'));
attempt(fn () => $router(new stdClass(), 'b'));
attempt(fn () => clone $router);

echo "-- match()\n";
$show = function (array $found): void {
    $handler = isset($found['handler']) ? 'handler' : '';
    echo json_encode(array_diff_key($found, ['handler' => 1])), ' ', $handler, "\n";
};
$show($router->match('GET', '/a/b'));
$show($router->match('POST', '/a/b'));
$show($router->match('OPTIONS', '/a/b'));
$show($router->match('GET', '/'));
var_dump($router->match('HEAD', '/a/b')['handler'] === $none);

echo "-- memory\n";
$gone = WeakReference::create($cycle = new Router());
$cycle->get('/', fn () => $cycle)->use(fn () => $cycle)->fallback(fn () => $cycle);
unset($cycle);
gc_collect_cycles();
var_dump($gone->get());
$before = memory_get_usage();
$many = new Router();
for ($i = 0; $i < 1000; $i++) {
    $many->get("/$i/{x}", $none);
    $many->match('GET', "/$i/7");
}
unset($many);
var_dump(memory_get_usage() - $before < 1024);
?>
--EXPECT--
ValueError: Apus\Http\Router::get(): Argument #1 ($pattern) must begin with "/", "a" given
ValueError: Apus\Http\Router::get(): Argument #1 ($pattern) has a { without its } in "{"
ValueError: Apus\Http\Router::get(): Argument #1 ($pattern) has a regular expression that is refused: unclosed group
ValueError: Apus\Http\Router::get(): Argument #1 ($pattern) names two parameters "a"
ValueError: Apus\Http\Router::get(): Argument #1 ($pattern) leads to the same paths as a route before it: "/a/{y}"
TypeError: Apus\Http\Router::get(): Argument #2 ($handler) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Apus\Http\Router::get(): Argument #3 must be a valid callback, function "no_such_middleware" not found or invalid function name
ValueError: Apus\Http\Router::map(): Argument #1 ($methods) must name a method at least
ValueError: Apus\Http\Router::map(): Argument #1 ($methods) must be a list of methods such as "GET" (RFC 9110 section 9.1)
ValueError: Apus\Http\Router::map(): Argument #1 ($methods) must be a list of methods such as "GET" (RFC 9110 section 9.1)
ValueError: Apus\Http\Router::group(): Argument #1 ($prefix) must begin with "/", and not end with it
ValueError: Apus\Http\Router::group(): Argument #1 ($prefix) must begin with "/", and not end with it
ValueError: Apus\Http\Router::group(): Argument #1 ($prefix) would be a group too many: 32 may lie within each other
TypeError: Apus\Http\Router::__invoke(): Argument #1 ($request) must be of type Apus\Http\Request, string given
TypeError: Apus\Http\Router::__invoke(): Argument #1 ($request) must be of type Apus\Http\Request, stdClass given
Error: Trying to clone an uncloneable object of class Apus\Http\Router
-- match()
{"pattern":"\/a\/{x}","params":{"x":"b"},"status":200,"allowed":[]} handler
{"status":405,"allowed":["GET","HEAD","OPTIONS"]} 
{"status":204,"allowed":["GET","HEAD","OPTIONS"]} 
{"status":404,"allowed":[]} 
bool(true)
-- memory
NULL
bool(true)
