--TEST--
Coroutine\Server: set() frames the messages of every connection; who breaks the framing is disconnected
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine\Server;
use Apus\Coroutine\Server\Connection;
use Apus\Coroutine\Socket;
use function Apus\{go, Coroutine\run};

function served(array $setting, string ...$pieces): void
{
    $server = new Server('127.0.0.1');
    // Settings of servers that mean nothing here may stand among them.
    $server->set($setting + ['worker_num' => 4, 'package_max_length' => 20]);
    var_dump($server->setting['worker_num']);
    $server->handle(function (Connection $connection) use ($server): void {
        while (is_string($message = $connection->recv()) && $message !== '') {
            echo 'message ', addcslashes($message, "\0..\37"), "\n";
        }
        $socket = $connection->exportSocket();
        echo var_export($message, true), " $socket->errCode $socket->errMsg; fd ", $socket->fd > 0 ? 'open' : 'closed', "\n";
        $server->shutdown();
    });
    $ended = started($server);
    $client = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $client->connect('127.0.0.1', $server->port);
    foreach ($pieces as $piece) {
        $client->sendAll($piece);
        Apus\Coroutine::sleep(0.001);
    }
    $client->shutdown(1);
    $ended->pop(20);
}

run(function () {
    $length = ['open_length_check' => true, 'package_length_type' => 'n', 'package_body_offset' => 2];
    served($length, "\0\3ab", "c\0\1d\0", "\0\0\2ef");
    served($length, "\0\1a\xff\xff");
    served($length, "\0\5ab");
    served(['open_eof_check' => true, 'package_eof' => "\n"], "one\ntw", "o\nthree\n");
    served(['open_eof_check' => true, 'package_eof' => "\n"], str_repeat('x', 21));
    served(['open_length_check' => true, 'package_length_func' => fn(string $bytes) => strlen($bytes) < 1 ? 0 : (int) $bytes[0]], '3ab2', 'c9');
});
?>
--EXPECTF--
int(4)
message \000\003abc
message \000\001d
message \000\000
message \000\002ef
'' 0 ; fd open
int(4)
message \000\001a
false 1201 %s; the connection was closed; fd closed
int(4)
false 104 the peer ended the connection inside a message, 4 bytes into it; fd open
int(4)
message one\n
message two\n
message three\n
'' 0 ; fd open
int(4)
false 1204 %s; the connection was closed; fd closed
int(4)
message 3ab
message 2c
false 104 the peer ended the connection inside a message, 1 bytes into it; fd open
