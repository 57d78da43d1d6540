--TEST--
Coroutine\Server: exceptions of handlers are reported and end their connection only; start() that is cancelled; no server left
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Server;
use Apus\Coroutine\Server\Connection;
use Apus\Coroutine\Socket;
use function Apus\{go, Coroutine\run};

function client(Server $server): Socket
{
    $client = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $client->connect('127.0.0.1', $server->port);
    return $client;
}

run(function () {
    $before = sockets();
    $server = new Server('127.0.0.1');
    $server->handle(function (Connection $connection): void {
        $connection->recv() === 'throw' && throw new LogicException('of a handler');
        $connection->send('fine');
    });
    $ended = started($server);
    foreach (['throw', 'go on'] as $word) {
        $client = client($server);
        $client->sendAll($word);
        var_dump($client->recv());
    }
    // The handler holds its server, which holds the handler: both go when start() has returned.
    $server->handle(function (Connection $connection) use ($server): void {
        var_dump($server->shutdown());
        var_dump($connection->recv(0.001));
    });
    $client = client($server);
    var_dump($client->recv(), $ended->pop(20));
    $known = WeakReference::create($server);
    unset($server, $ended);
    var_dump($known->get());

    foreach ([false, true] as $throw) {
        $server = new Server('127.0.0.1');
        $server->handle(fn(Connection $connection) => $connection->recv());
        $id = go(function () use ($server): void {
            try {
                var_dump($server->start(), $server->errCode);
            } catch (Coroutine\CanceledException) {
                echo "start() threw\n";
            }
        });
        var_dump(Coroutine::cancel($id, $throw));
        Coroutine::join([$id]);
        var_dump($server->fd);
    }
    unset($server, $client);
    until(fn() => Coroutine::stats()['coroutine_num'] === 1);
    var_dump(sockets() - $before);
    // The script ends while a server runs.
    $server = new Server('127.0.0.1');
    $server->handle(fn() => null);
    started($server);
    throw new LogicException('the script ends');
});
?>
--EXPECTF--
%s error: Coroutine\Server: uncaught in a handler: LogicException: of a handler in %s
Stack trace:
%A
string(0) ""
string(4) "fine"
bool(true)
bool(false)
string(0) ""
bool(true)
NULL
bool(true)
bool(false)
int(125)
int(-1)
bool(true)
start() threw
int(-1)
int(0)
%A
Fatal error: Uncaught LogicException: the script ends in %s
%A
