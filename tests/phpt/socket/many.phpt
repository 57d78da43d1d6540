--TEST--
Coroutine\Socket and Coroutine\Client: 2,000 clients at once in one process, each with its own answers
--SKIPIF--
<?php
if ((int) shell_exec('ulimit -n') < 4200) {
    die('skip needs 4200 descriptors: ulimit -n');
}
?>
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{Client, Socket};
use function Apus\Coroutine\run;
use function Apus\go;

const CLIENTS = 2000;
run(function () {
    $server = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $server->bind('127.0.0.1');
    $server->listen(CLIENTS);
    $port = $server->getsockname()['port'];
    $packets = ['open_length_check' => true, 'package_length_type' => 'n', 'package_body_offset' => 2];
    $open = $peak = 0;
    go(function () use ($server, $packets, &$open, &$peak) {
        while ($peer = $server->accept(-1)) {
            go(function () use ($peer, $packets, &$open, &$peak) {
                $peak = max($peak, ++$open);
                $peer->setProtocol($packets);
                while ($message = $peer->recvPacket(-1)) {
                    $peer->sendAll(pack('n', strlen($message) - 1) . substr(strrev($message), 0, -2) . '!');
                }
                $open--;
            });
        }
    });
    $right = 0;
    $arrived = 0;
    $ids = [];
    for ($i = 0; $i < CLIENTS; $i++) {
        $ids[] = go(function () use ($i, $port, $packets, &$right, &$arrived) {
            $client = new Client(Apus\SOCK_TCP);
            $client->set($packets);
            if (!$client->connect('127.0.0.1', $port, 60)) {
                echo $client->errMsg, "\n";
                return;
            }
            // Nobody goes on before all are connected.
            $arrived++;
            while ($arrived < CLIENTS) {
                Coroutine::sleep(0.01);
            }
            for ($round = 0; $round < 3; $round++) {
                $text = "client $i round $round";
                $client->send(pack('n', strlen($text)) . $text);
                $right += substr($client->recv(60), 2) === strrev($text) . '!';
            }
            $client->close();
        });
    }
    Coroutine::join($ids);
    $server->close();
    var_dump($right, $peak);
});
?>
--EXPECT--
int(6000)
int(2000)
