--TEST--
Coroutine\Server: a coroutine for each connection, over IPv4, IPv6 and a Unix socket; recv(), send(), close(), exportSocket()
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Server;
use Apus\Coroutine\Server\Connection;
use Apus\Coroutine\Socket;
use function Apus\Coroutine\run;

class Kept extends Connection
{
    public function raw(): Socket
    {
        return $this->socket;
    }
}

function talk(string $host): array
{
    $facts = [];
    $note = function (mixed ...$new) use (&$facts): void {
        array_push($facts, ...$new);
    };
    $server = new Server($host);
    $note($server->fd > 0, $server->port > 0 || $server->type === Apus\AF_UNIX, $server->setting);
    $server->handle(function (Connection $connection) use ($note): void {
        $socket = $connection->exportSocket();
        $note($socket instanceof Socket, $socket === $connection->exportSocket(), $socket->fd > 0);
        $kept = new Kept($socket);
        $note($kept->raw() === $socket);
        while (($data = $connection->recv()) !== '') {
            $connection->send(strtoupper($data));
        }
        $note($connection->recv(0.001), $connection->close(), $connection->close(), $socket->fd);
        $note($connection->recv(), $connection->send('x'), $socket->errCode);
    });
    $ended = started($server);
    $clients = [];
    foreach (['one', 'two'] as $word) {
        $client = $clients[] = new Socket($server->type, Apus\SOCK_STREAM);
        $client->connect($server->host, $server->port);
        $client->sendAll($word);
        $note($client->recv());
    }
    foreach ($clients as $client) {
        $client->shutdown(1);
        $note($client->recv());
    }
    $note($server->shutdown(), $ended->pop(20), $server->shutdown(), $server->fd);
    return $facts;
}

run(function () {
    $before = sockets();
    $four = talk('127.0.0.1');
    echo json_encode($four), "\n";
    if (is_readable('/proc/net/if_inet6') && file_get_contents('/proc/net/if_inet6') !== '') {
        echo talk('::1') === $four ? '' : "differs over IPv6\n";
    }
    $path = sys_get_temp_dir() . '/apus-coserver-' . getmypid() . '.sock';
    echo talk("unix:$path") === $four ? '' : "differs over a Unix socket\n";
    var_dump(file_exists($path));
    until(fn() => sockets() === $before && Coroutine::stats()['coroutine_num'] === 1);
    echo "nothing is left\n";
});
?>
--EXPECT--
[true,true,[],true,true,true,true,"ONE",true,true,true,true,"TWO","",true,false,-1,false,false,9,"","",true,false,-1,false,false,9,"",true,true,false,-1]
bool(false)
nothing is left
