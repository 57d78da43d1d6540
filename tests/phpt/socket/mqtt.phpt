--TEST--
open_mqtt_protocol: recv() and recvPacket() give one packet of MQTT, however it is cut
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Client;
use Apus\Coroutine\Socket;

Coroutine\run(function () {
    $server = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $server->bind('127.0.0.1');
    $server->listen();
    $port = $server->getsockname()['port'];
    // PINGRESP, a PUBLISH of 200 bytes whose length takes two, and one that is no packet.
    $long = "\x30\xc8\x01" . str_repeat('x', 200);
    Apus\go(function () use ($server, $long) {
        for ($clients = 2; $clients > 0; $clients--) {
            $peer = $server->accept();
            foreach (["\xd0", "\0" . substr($long, 0, 2), substr($long, 2, 90), substr($long, 92), "\x0f\0"] as $piece) {
                $peer->send($piece);
                Coroutine::sleep(0.01);
            }
            $peer->recv();
        }
    });

    $client = new Client(Apus\SOCK_TCP);
    $client->set(['open_mqtt_protocol' => true]);
    $client->connect('127.0.0.1', $port);
    var_dump(bin2hex($client->recv()), $client->recv() === $long, $client->recv(), $client->errCode);
    $client->close();

    $socket = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $socket->setProtocol(['open_mqtt_protocol' => true]);
    $socket->connect('127.0.0.1', $port);
    var_dump(bin2hex($socket->recvPacket()), $socket->recvPacket() === $long, $socket->recvPacket());
    $socket->close();
});
?>
--EXPECT--
string(4) "d000"
bool(true)
bool(false)
int(1202)
string(4) "d000"
bool(true)
bool(false)
