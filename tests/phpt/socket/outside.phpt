--TEST--
Coroutine\Socket and Coroutine\Client outside coroutines: what waits is refused, what does not works; the first steps of go() need no loop
--FILE--
<?php
use Apus\Coroutine\{Client, Socket};
use function Apus\go;

require __DIR__ . '/pair.inc';
$server = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
var_dump($server->bind('127.0.0.1'), $server->listen());
$port = $server->getsockname()['port'];
foreach ([
    fn() => $server->accept(),
    fn() => $server->recv(),
    fn() => (new Client(Apus\SOCK_TCP))->connect('127.0.0.1', $port),
] as $call) {
    try {
        $call();
    } catch (Apus\Coroutine\Exception $e) {
        echo $e->getCode(), ' ', $e->getMessage(), "\n";
    }
}
go(function () use ($port) {
    $client = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    show('connect', $client->connect('127.0.0.1', $port), $client);
    show('send', $client->send('early'), $client);
});
go(function () use ($server) {
    $peer = $server->accept();
    show('recv', $peer->recvAll(5), $peer);
});
echo "the script ends\n";
?>
--EXPECT--
bool(true)
bool(true)
1 Coroutine\Socket::accept() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
1 Coroutine\Socket::recv() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
1 Coroutine\Client::connect() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
the script ends
connect: true
send: 5
recv: "early"
