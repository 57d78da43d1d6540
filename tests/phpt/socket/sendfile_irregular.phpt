--TEST--
sendfile() of what is no regular file is refused at once, by servers, sockets and clients alike
--SKIPIF--
<?php
if (!extension_loaded('pcntl')) die('skip needs pcntl');
?>
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Http\Client;
use Apus\Coroutine\Socket;

$fifo = sys_get_temp_dir() . '/apus-fifo-' . getmypid();
exec('mkfifo ' . escapeshellarg($fifo));
$others = [$fifo, '/dev/null', sys_get_temp_dir()];

// A FIFO that is opened for reading waits for its writer: the other coroutines show that nobody does.
Coroutine\run(function () use ($others, $fifo): void {
    $server = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
    $server->bind('127.0.0.1', 0);
    $server->listen();
    $port = $server->getsockname()['port'];
    $socket = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
    $socket->connect('127.0.0.1', $port);
    $client = new Coroutine\Client(Apus\SOCK_TCP);
    $client->connect('127.0.0.1', $port);
    foreach ($others as $other) {
        var_dump($socket->sendFile($other), $client->sendfile($other));
    }
    echo $socket->errMsg, ', ', $client->errMsg, "\n";
    $http = new Client('127.0.0.1', $port);
    try {
        $http->addFile($fifo, 'upload');
    } catch (Apus\Exception $e) {
        echo strstr($e->getMessage(), 'cannot'), "\n";
    }
});
$client = new Apus\Client(Apus\SOCK_TCP);
$listening = stream_socket_server('tcp://127.0.0.1:0');
$client->connect('127.0.0.1', (int) substr(strrchr(stream_socket_get_name($listening, false), ':'), 1));
var_dump(@$client->sendfile($fifo));

require __DIR__ . '/../http/server.inc';
serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response) use ($others): void {
        try {
            $response->sendfile($others[(int) $request->get['which']]);
        } catch (Apus\Http\Exception $e) {
            $response->end(($e->getCode() === Apus\Http\Exception::FILE ? 'FILE' : 'other') . strrchr($e->getMessage(), ':'));
        }
    },
    function ($client): void {
        foreach ([0, 1, 2] as $which) {
            echo $client->get("/?which=$which"), "\n";
        }
    },
);
unlink($fifo);
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
not a regular file, not a regular file
cannot be uploaded: it is not a regular file
bool(false)
FILE: it is not a regular file
FILE: it is not a regular file
FILE: it is not a regular file
