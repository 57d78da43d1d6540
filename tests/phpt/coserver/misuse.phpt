--TEST--
Coroutine\Server and Coroutine\Http\Server: what cannot be is refused with a reason
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use function Apus\{go, Coroutine\run};

foreach ([Coroutine\Server::class, Coroutine\Http\Server::class] as $class) {
    echo "-- $class\n";
    attempt(fn() => new $class('127.0.0.1', 65536));
    attempt(fn() => new $class('no.such.host.invalid'));
    attempt(fn() => new $class('unix:'));
    $taken = new $class('127.0.0.1');
    attempt(fn() => new $class('127.0.0.1', $taken->port));
    attempt(fn() => $taken->set(['no_such_setting' => 1]));
    attempt(fn() => $taken->set([1]));
    attempt(fn() => $taken->set(['max_connection' => 0]));
    attempt(fn() => $taken->set(['max_connection' => new stdClass]));
    attempt(fn() => $taken->handle('no such function'));
    $class === Coroutine\Server::class ? $taken->handle(fn() => null) : $taken->handle('/', fn() => null);
    attempt(fn() => $taken->start());
    run(function () use ($taken): void {
        $ended = started($taken);
        attempt(fn() => $taken->start());
        attempt(fn() => $taken->set([]));
        attempt(fn() => $taken->__construct('127.0.0.1'));
        $taken->shutdown();
        var_dump($ended->pop(20));
        attempt(fn() => $taken->start());
        attempt(
            fn() => $taken instanceof Coroutine\Server ? $taken->handle(fn() => null)
                : $taken->handle('/', fn() => null),
        );
        var_dump($taken->shutdown());
    });
    attempt(fn() => clone $taken);
}
attempt(fn() => run(fn() => (new Coroutine\Server('127.0.0.1'))->start()));
attempt(fn() => (new Coroutine\Server('127.0.0.1'))->set(['package_length_type' => 'x', 'open_length_check' => true]));
attempt(fn() => new Coroutine\Server\Connection(new stdClass));
?>
--EXPECTF--
-- Apus\Coroutine\Server
Apus\Server\Exception 101: a port lies between 0 and 65535, 65536 given
Apus\Server\Exception 101: host "no.such.host.invalid" is neither an address nor a known name: %s
Apus\Server\Exception 101: "unix:" must be followed by the path of the socket
Apus\Server\Exception 101: cannot listen on 127.0.0.1:%d: Address already in use%s
Apus\Server\Exception 102: unknown setting "no_such_setting"%s
Apus\Server\Exception 102: settings are given as 'name' => value, but a numeric key was found
Apus\Server\Exception 102: setting "max_connection" must be a whole number of connections from 1 to 10000000, 0 given
Apus\Server\Exception 102: setting "max_connection" cannot be an object or a resource
TypeError: Apus\Coroutine\Server::handle(): Argument #1 ($fn) must be a valid callback, function "no such function" not found or invalid function name
Apus\Coroutine\Exception 1: Coroutine\Server::start() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Apus\Server\Exception 104: this server runs already: start() was called before
Apus\Server\Exception 104: set() must be called before start()
Error: Apus\Coroutine\Server is already constructed
bool(true)
Apus\Server\Exception 104: this server has ended: make a new one
Apus\Server\Exception 104: this server has ended: make a new one
bool(false)
Error: Trying to clone an uncloneable object of class Apus\Coroutine\Server
-- Apus\Coroutine\Http\Server
Apus\Server\Exception 101: a port lies between 0 and 65535, 65536 given
Apus\Server\Exception 101: host "no.such.host.invalid" is neither an address nor a known name: %s
Apus\Server\Exception 101: "unix:" must be followed by the path of the socket
Apus\Server\Exception 101: cannot listen on 127.0.0.1:%d: Address already in use%s
Apus\Server\Exception 102: unknown setting "no_such_setting"%s
Apus\Server\Exception 102: settings are given as 'name' => value, but a numeric key was found
Apus\Server\Exception 102: setting "max_connection" must be a whole number of connections from 1 to 10000000, 0 given
Apus\Server\Exception 102: setting "max_connection" cannot be an object or a resource
ArgumentCountError: Apus\Coroutine\Http\Server::handle() expects exactly 2 arguments, 1 given
Apus\Coroutine\Exception 1: Coroutine\Http\Server::start() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
Apus\Server\Exception 104: this server runs already: start() was called before
Apus\Server\Exception 104: set() must be called before start()
Error: Apus\Coroutine\Http\Server is already constructed
bool(true)
Apus\Server\Exception 104: this server has ended: make a new one
Apus\Server\Exception 104: this server has ended: make a new one
bool(false)
Error: Trying to clone an uncloneable object of class Apus\Coroutine\Http\Server
Apus\Server\Exception 103: nothing would answer connections: call handle(function ($connection) { … }) before start()
Apus\Client\Exception 301: setting "package_length_type" must be one of %s
TypeError: Apus\Coroutine\Server\Connection::__construct(): Argument #1 ($conn) must be of type Apus\Coroutine\Socket, stdClass given
