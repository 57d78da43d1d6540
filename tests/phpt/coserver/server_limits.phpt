--TEST--
Coroutine\Server: max_connection lets further connections wait until one closes; shutdown() leaves those that are open alone
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Channel;
use Apus\Coroutine\Server;
use Apus\Coroutine\Server\Connection;
use Apus\Coroutine\Socket;
use function Apus\Coroutine\run;

run(function () {
    $server = new Server('127.0.0.1');
    $server->set(['max_connection' => 2]);
    $came = new Channel(10);
    $server->handle(function (Connection $connection) use ($came): void {
        $name = $connection->recv();
        $came->push($name);
        $connection->recv();
        $connection->send("bye $name");
        // Its coroutine goes on; the connection does not count any more.
        $connection->close();
        $came->push("end of $name");
        Coroutine::sleep(0.02);
    });
    $ended = started($server);
    $clients = [];
    foreach (['a', 'b', 'c'] as $name) {
        $clients[$name] = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
        var_dump($clients[$name]->connect('127.0.0.1', $server->port));
        $clients[$name]->sendAll($name);
    }
    echo $came->pop(20), $came->pop(20), "\n";
    var_dump($came->pop(0.05));
    $clients['a']->sendAll('.');
    echo $clients['a']->recv(), ', ', $came->pop(20), ', ', $came->pop(20), "\n";
    var_dump($server->shutdown(), $ended->pop(20));
    foreach (['b', 'c'] as $name) {
        $clients[$name]->sendAll('.');
        echo $clients[$name]->recv(), ', ', $came->pop(20), "\n";
    }
    $late = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    var_dump($late->connect('127.0.0.1', $server->port), $late->errCode);
    until(fn() => Coroutine::stats()['coroutine_num'] === 1);
});
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
ab
%s warning: Coroutine\Server::start(): 2 connections are open, which is max_connection: new ones wait in the backlog
bool(false)
bye a, end of a, c
bool(true)
bool(true)
bye b, end of b
bye c, end of c
bool(false)
int(111)
