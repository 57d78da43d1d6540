--TEST--
Coroutine\Http\Server: routes are beginnings of paths in any case, the longest wins, "/" is for the rest; without one 404
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine\Http\Server;
use function Apus\Coroutine\run;

run(function () {
    $server = new Server('127.0.0.1');
    $says = fn(string $text) => fn($request, $response) => $response->end($text);
    var_dump($server->handle('/news', $says('news')));
    $server->handle('/news/archive', $says('archive'));
    $server->handle('/n', $says('n'));
    $ended = started($server);
    $ask = function (string ...$paths) use ($server): void {
        foreach ($paths as $path) {
            echo "$path: ", get($server->port, $path), "\n";
        }
    };
    $ask('/news', '/News/Archive/1?a=/news', '/newspaper', '/name', '/other', '/', '/%6Eews');
    // While it runs: another one, another in place of one, and one for the rest.
    $server->handle('/other', $says('other'));
    $server->handle('/NEWS', $says('news again'));
    $server->handle('/', fn($request, $response) => $response->end("the rest, {$request->server['request_uri']}"));
    $ask('/other/x', '/news', '/nix', '/', '/x');
    attempt(fn() => $server->handle('news', $says('never')));
    attempt(fn() => $server->handle('', $says('never')));
    attempt(fn() => $server->handle('/x', 'no such function'));
    var_dump($server->shutdown(), $ended->pop(20));
});
?>
--EXPECT--
bool(true)
/news: 200 news
/News/Archive/1?a=/news: 200 archive
/newspaper: 200 news
/name: 200 n
/other: 404 404 Not Found
/: 404 404 Not Found
/%6Eews: 404 404 Not Found
/other/x: 200 other
/news: 200 news again
/nix: 200 n
/: 200 the rest, /
/x: 200 the rest, /x
ValueError: Apus\Coroutine\Http\Server::handle(): Argument #1 ($pattern) must be the beginning of a path, such as "/" for all or "/news"
ValueError: Apus\Coroutine\Http\Server::handle(): Argument #1 ($pattern) must be the beginning of a path, such as "/" for all or "/news"
TypeError: Apus\Coroutine\Http\Server::handle(): Argument #2 ($callback) must be a valid callback, function "no such function" not found or invalid function name
bool(true)
bool(true)
