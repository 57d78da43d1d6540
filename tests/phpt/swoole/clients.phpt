--TEST--
Swoole\Client, Coroutine\Client, Coroutine\Socket, Coroutine\Http\Client, Http2\Client: names, declarations and conventions
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Client;
use Swoole\Coroutine;
use Swoole\Coroutine\Http\Client as Http;

echo "-- objects that cannot be made\n";
foreach ([
    fn () => new Client(99),
    fn () => new Coroutine\Client(99),
    fn () => new Coroutine\Socket(99, 99),
    fn () => new Http(''),
    fn () => new Coroutine\Http2\Client('a b'),
] as $make) {
    try {
        $make();
    } catch (Swoole\Exception $e) {
        echo get_class($e), "\n";
    }
}

echo "-- settings: unknown names mean nothing, what cannot be is a warning\n";
$client = new Http('127.0.0.1', 1);
var_dump($client->set(['unknown there' => 1, 'timeout' => 2.5, 'max_retries' => 3]), $client->setting['timeout']);
$sync = new Client(SWOOLE_SOCK_TCP);
var_dump($sync->set(['unknown there' => 1, 'package_max_length' => 100, 'open_fastcgi_protocol' => true]));

echo "-- without a connection\n";
var_dump($sync->send('x'), $sync->errCode, $sync->close());
var_dump(swoole_last_error() === SWOOLE_ERROR_CLIENT_NO_CONNECTION, $sync->isConnected());

class Mine extends Coroutine\Client
{
}

Coroutine\run(function () {
    $server = new Co\Socket(AF_INET, SOCK_STREAM);
    var_dump($server->bind('127.0.0.1'), $server->listen());
    $port = $server->getsockname()['port'];
    go(function () use ($server, &$accepted) {
        $peer = $server->accept();
        $accepted = get_class($peer);
        $peer->sendAll(strtoupper($peer->recv()));
        $peer->close();
    });
    $client = new Mine(SWOOLE_SOCK_TCP);
    var_dump($client->connect(host: '127.0.0.1', port: $port, timeout: 5), $client->connected);
    echo get_class($client->socket), "\n";
    var_dump($client->exportSocket() === $client->socket, $client->send('abc'));
    var_dump($client->recv(timeout: 5), $client->recv(), $accepted);
    var_dump($client->close(), $client->close(), $client->errCode === swoole_last_error(), $client->connected);
    var_dump($server->bind('no address'), $server->errCode !== 0, $server->errMsg !== '');

    $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    echo get_class(Coroutine\Socket::import($pair[0])), "\n";

    echo "-- HTTP\n";
    $http = new Http('127.0.0.1', 1);
    var_dump(@$http->get('/'), $http->statusCode === SWOOLE_HTTP_CLIENT_ESTATUS_CONNECT_FAILED);
    var_dump($http->errCode === SOCKET_ECONNREFUSED, $http->errMsg);
    var_dump(@$http->push('x'), $http->errMsg);
    $http2 = new Swoole\Coroutine\Http2\Client('127.0.0.1', 1);
    $request = new Swoole\Http2\Request();
    $request->path = '/x';
    var_dump($http2->connect(), $http2->errCode === SOCKET_ECONNREFUSED, $http2->send($request));
});

echo "-- not final\n";
$names = ['Client', 'Coroutine\Client', 'Coroutine\Socket', 'Coroutine\Http\Client',
    'Coroutine\Http2\Client', 'Http2\Request', 'Http2\Response'];
foreach ($names as $name) {
    $class = new ReflectionClass("Swoole\\$name");
    echo $name, $class->isFinal() ? ' final' : '', ' ', strtolower($class->getExtensionName()), "\n";
}
?>
--EXPECTF--
-- objects that cannot be made
Swoole\Client\Exception
Swoole\Exception
Swoole\Coroutine\Socket\Exception
Swoole\Coroutine\Http\Client\Exception
Swoole\Coroutine\Http2\Client\Exception
-- settings: unknown names mean nothing, what cannot be is a warning
bool(true)
float(2.5)

Warning: setting "open_fastcgi_protocol" is not supported by this version of Apus: remove it or switch it off. Use open_length_check: n at offset 4, body at 8. in %s on line %d
bool(true)
-- without a connection
bool(false)
int(5001)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
Swoole\Coroutine\Socket
bool(true)
int(3)
string(3) "ABC"
string(0) ""
string(23) "Swoole\Coroutine\Socket"
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
bool(true)
bool(true)
Swoole\Coroutine\Socket
-- HTTP
bool(false)
bool(true)
bool(true)
string(18) "Connection refused"
bool(false)
string(77) "this client speaks no WebSocket: call upgrade() first, and look at its result"
bool(false)
bool(true)
bool(false)
-- not final
Client swoole
Coroutine\Client swoole
Coroutine\Socket swoole
Coroutine\Http\Client swoole
Coroutine\Http2\Client swoole
Http2\Request swoole
Http2\Response swoole
