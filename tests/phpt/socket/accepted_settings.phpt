--TEST--
Coroutine\Socket: what accept() gives has the settings of the socket that listens
--FILE--
<?php
use Apus\Coroutine\Socket;
use function Apus\go;
use function Apus\Coroutine\run;

run(function (): void {
    foreach ([
        'lines' => [['open_eof_check' => true, 'package_eof' => "\r\n"], "one\r\ntwo\r\n", ["one\r\n", "two\r\n"]],
        'lengths' => [['open_length_check' => true, 'package_length_type' => 'n', 'package_length_offset' => 0, 'package_body_offset' => 2], "\0\3one\0\5three", ["\0\3one", "\0\5three"]],
        'asked' => [['open_length_check' => true, 'package_length_func' => fn(string $bytes): int => 1 + (int) $bytes[0]], '3one5three', ['3one', '5three']],
        'none' => [[], 'all of it', ['all of it']],
    ] as $name => [$settings, $bytes, $messages]) {
        $listener = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
        $listener->bind('127.0.0.1', 0);
        $listener->listen();
        $listener->setProtocol($settings);
        $client = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
        $client->connect('127.0.0.1', $listener->getsockname()['port']);
        $peer = $listener->accept(5);
        // Its own from here on.
        $listener->setProtocol(['open_eof_check' => true, 'package_eof' => '#', 'open_length_check' => false, 'package_length_func' => null]);
        $client->sendAll($bytes);
        $got = [];
        foreach ($messages as $_) {
            $got[] = $peer->recvPacket(5);
        }
        echo "$name: ", var_export($got === $messages, true), $got === $messages ? '' : ' ' . json_encode($got), "\n";
        $peer->close();
        $client->close();
        $listener->close();
    }
    $listener = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
    $listener->bind('127.0.0.1', 0);
    $listener->listen();
    $listener->setProtocol(['read_timeout' => 0.01]);
    $client = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
    $client->connect('127.0.0.1', $listener->getsockname()['port']);
    $peer = $listener->accept(5);
    var_dump($peer->recv(), $peer->errCode === 110);
});
?>
--EXPECT--
lines: true
lengths: true
asked: true
none: true
bool(false)
bool(true)
