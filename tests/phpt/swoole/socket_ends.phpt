--TEST--
Under the names of Swoole ends of connections are told as there: shut down, closed while read, cut off, imported
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Client;
use Swoole\Coroutine\Socket;

Co\run(function () {
    $listener = new Socket(AF_INET, SOCK_STREAM);
    $listener->bind('127.0.0.1');
    $listener->listen();
    $port = $listener->getsockname()['port'];

    echo "-- shutdown\n";
    $socket = new Socket(AF_INET, SOCK_STREAM);
    var_dump($socket->shutdown(), $socket->errCode === SOCKET_ENOTCONN);
    $socket->connect('127.0.0.1', $port);
    $peer = $listener->accept();
    var_dump($socket->shutdown(STREAM_SHUT_WR), $socket->shutdown(STREAM_SHUT_WR));
    var_dump($socket->errCode === SOCKET_ENOTCONN);
    var_dump($peer->recv());
    $peer->close();
    var_dump($socket->recv(), $socket->shutdown(STREAM_SHUT_RD), $socket->shutdown(), $socket->close());

    echo "-- closed by two\n";
    $client = new Client(SWOOLE_SOCK_TCP);
    for ($round = 0; $round < 2; ++$round) {
        $client->connect('127.0.0.1', $port);
        $accepted = $listener->accept();
        go(function () use ($client) {
            var_dump($client->recv(-1), $client->close());
        });
        var_dump($client->close(), $client->errCode === SWOOLE_ERROR_CO_SOCKET_CLOSE_WAIT);
    }
    var_dump($client->close());

    echo "-- cut off\n";
    $framing = ['open_length_check' => true, 'package_length_type' => 'n', 'package_body_offset' => 2];
    $client->set($framing);
    $client->connect('127.0.0.1', $port);
    $accepted = $listener->accept();
    $accepted->send("\0\5abc");
    $accepted->close();
    var_dump($client->recv(), $client->close());
    $socket = new Socket(AF_INET, SOCK_STREAM);
    $socket->setProtocol($framing);
    $socket->connect('127.0.0.1', $port);
    $accepted = $listener->accept();
    $accepted->send("\0\5abc");
    $accepted->close();
    var_dump($socket->recvPacket());
    $native = new Apus\Coroutine\Client(Apus\SOCK_TCP);
    $native->set($framing);
    $native->connect('127.0.0.1', $port);
    $accepted = $listener->accept();
    $accepted->send("\0\5abc");
    $accepted->close();
    var_dump($native->recv(), $native->errCode === SOCKET_ECONNRESET);

    echo "-- vectors\n";
    $many = array_fill(0, SWOOLE_IOV_MAX + 1, 'a');
    var_dump($socket->writeVectorAll($many), $socket->errCode === SOCKET_EINVAL, $socket->errMsg);
    var_dump($socket->readVectorAll(array_fill(0, SWOOLE_IOV_MAX + 1, 1)), $socket->errMsg);
    var_dump($socket->writeVector($many), $socket->readVector(array_fill(0, SWOOLE_IOV_MAX + 1, 1)));

    echo "-- imported\n";
    [$one, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $imported = Socket::import($one);
    $imported->send('text');
    $imported->close();
    var_dump(stream_get_contents($other));
    var_dump(Socket::import(fopen(__FILE__, 'r')));
    fclose($other);
    foreach ([$other, new stdClass()] as $wrong) {
        try {
            Socket::import($wrong);
        } catch (TypeError $error) {
            echo $error->getMessage(), "\n";
        }
    }
});

echo "-- exceptions\n";
try {
    new Socket(-5, 5);
} catch (Co\Socket\Exception $exception) {
    var_dump(get_class($exception), $exception->getCode() > 0);
}
var_dump(class_exists(Co\Http\Client\Exception::class), class_exists(Co\Http2\Client\Exception::class));
var_dump(class_exists(Co\CanceledException::class), class_exists(Co\TimeoutException::class));
?>
--EXPECTF--
-- shutdown
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
string(0) ""
string(0) ""
bool(true)
bool(false)
bool(true)
-- closed by two
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
-- cut off
string(0) ""
bool(true)
string(0) ""
bool(false)
bool(true)
-- vectors
bool(false)
bool(true)
string(32) "The maximum of iov count is 1024"
bool(false)
string(32) "The maximum of iov count is 1024"
bool(false)
bool(false)
-- imported
string(4) "text"

Warning: Swoole\Coroutine\Socket::import(): Cannot represent a stream of type STDIO as a Socket Descriptor in %s on line %d
bool(false)
Swoole\Coroutine\Socket::import(): supplied resource is not a valid stream resource
Swoole\Coroutine\Socket::import(): Argument #1 ($stream) must be of type resource, stdClass given
-- exceptions
string(33) "Swoole\Coroutine\Socket\Exception"
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
