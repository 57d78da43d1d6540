--TEST--
Coroutine\Http\Server: an exception that a handler does not catch answers 500 and is reported; the server and the script go on
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Http\Server;
use function Apus\Coroutine\run;

run(function () {
    $server = new Server('127.0.0.1');
    $server->handle('/at-once', fn() => throw new LogicException('at once'));
    $server->handle('/later', function () {
        Coroutine::sleep(0.001);
        undefined_function();
    });
    $server->handle('/after', function ($request, $response) {
        $response->end('answered');
        throw new LogicException('after the answer');
    });
    $server->handle('/half', function ($request, $response) {
        $response->write('half');
        throw new LogicException('in the middle');
    });
    $server->handle('/silent', fn() => null);
    $server->handle('/cancelled', fn() => throw new Apus\Coroutine\CanceledException('not reported'));
    $server->handle('/good', fn($request, $response) => $response->end('good'));
    $ended = started($server);
    foreach (['/at-once', '/later', '/after', '/half', '/silent', '/cancelled', '/good'] as $path) {
        echo get($server->port, $path), "\n";
    }
    set_exception_handler(function (Throwable $error): void {
        echo 'handler: ', $error->getMessage(), "\n";
    });
    echo get($server->port, '/at-once'), "\n";
    set_exception_handler(null);
    echo get($server->port, '/good'), "\n";
    var_dump($server->shutdown(), $ended->pop(20));
});
echo "the script goes on\n";
?>
--EXPECTF--
%s error: Coroutine\Http\Server: uncaught in a handler: LogicException: at once in %s
Stack trace:
%A
500 500 Internal Server Error
%s error: Coroutine\Http\Server: uncaught in a handler: Error: Call to undefined function undefined_function() in %s
Stack trace:
%A
500 500 Internal Server Error
%s error: Coroutine\Http\Server: uncaught in a handler: LogicException: after the answer in %s
Stack trace:
%A
200 answered
%s error: Coroutine\Http\Server: uncaught in a handler: LogicException: in the middle in %s
Stack trace:
%A
error 104
%s warning: the handler of a request ended without Response::end()%s
500 500 Internal Server Error
500 500 Internal Server Error
200 good
handler: at once
500 500 Internal Server Error
200 good
bool(true)
bool(true)
the script goes on
