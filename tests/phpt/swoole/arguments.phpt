--TEST--
A method that takes an object takes one of either declaration of its class
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach (['Apus', 'Swoole'] as $of) {
    foreach (['Apus', 'Swoole'] as $taken) {
        $connection = new ("$of\\Coroutine\\Server\\Connection")(new ("$taken\\Coroutine\\Socket")(AF_INET, SOCK_STREAM));
        echo get_class($connection), ' ', get_class($connection->exportSocket()), "\n";
        $server = new ("$of\\Server")('127.0.0.1', 0);
        var_dump(is_int($server->addProcess(new ("$taken\\Process")(fn () => null))));
    }
    try {
        new ("$of\\Coroutine\\Server\\Connection")(new stdClass());
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
    try {
        $server->addProcess(new ArrayObject());
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
Apus\Coroutine\Server\Connection Apus\Coroutine\Socket
bool(true)
Apus\Coroutine\Server\Connection Swoole\Coroutine\Socket
bool(true)
Apus\Coroutine\Server\Connection::__construct(): Argument #1 ($conn) must be of type Apus\Coroutine\Socket, stdClass given
Apus\Server::addProcess(): Argument #1 ($process) must be of type Apus\Process, ArrayObject given
Swoole\Coroutine\Server\Connection Apus\Coroutine\Socket
bool(true)
Swoole\Coroutine\Server\Connection Swoole\Coroutine\Socket
bool(true)
Swoole\Coroutine\Server\Connection::__construct(): Argument #1 ($conn) must be of type Swoole\Coroutine\Socket, stdClass given
Swoole\Server::addProcess(): Argument #1 ($process) must be of type Swoole\Process, ArrayObject given

