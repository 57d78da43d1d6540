--TEST--
Coroutine\Socket: a server and its client in one process, over IPv4, IPv6 and a Unix socket
--FILE--
<?php
use Apus\Coroutine\Socket;
use function Apus\Coroutine\run;
use function Apus\go;

function talk(int $domain, string $address): void
{
    $server = new Socket($domain, Apus\SOCK_STREAM);
    var_dump($server->bind($address), $server->listen());
    ['address' => $host, 'port' => $port] = $server->getsockname();
    $said = '';
    $id = go(function () use ($server, &$said) {
        while ($peer = $server->accept()) {
            go(function () use ($peer) {
                while (($data = $peer->recv()) !== '' && $data !== false) {
                    $peer->sendAll(strtoupper($data));
                }
                $peer->close();
            });
        }
        $said = "the server ends: $server->errMsg\n";
    });
    $client = new Socket($domain, Apus\SOCK_STREAM);
    var_dump($client->connect($host, $port));
    var_dump($client->send("hello"), $client->recv());
    var_dump($client->getpeername() === ['address' => $host, 'port' => $port]);
    var_dump($client->checkLiveness(), $client->isClosed(), $client->close(), $client->isClosed(), $client->fd);
    $server->close();
    Apus\Coroutine::join([$id]);
    echo $said;
}

run(function () {
    talk(Apus\AF_INET, '127.0.0.1');
    if (is_readable('/proc/net/if_inet6') && file_get_contents('/proc/net/if_inet6') !== '') {
        ob_start();
        talk(Apus\AF_INET6, '::1');
        $six = ob_get_clean();
    }
    $path = sys_get_temp_dir() . '/apus-echo-' . getmypid() . '.sock';
    ob_start();
    talk(Apus\AF_UNIX, $path);
    $unix = ob_get_clean();
    unlink($path);
    var_dump(($six ?? $unix) === $unix);
    echo $unix;
});
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
int(5)
string(5) "HELLO"
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
int(-1)
the server ends: Operation canceled
bool(true)
bool(true)
bool(true)
bool(true)
int(5)
string(5) "HELLO"
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
int(-1)
the server ends: Operation canceled
