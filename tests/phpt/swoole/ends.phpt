--TEST--
Under the names of Swoole: connections that end in their handlers, Unix datagrams, servers that start again
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Client;
use Swoole\Coroutine;

echo "-- what ends\n";
$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('request', fn ($request, $response) => $server->close($request->fd));
$stream = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_TCP);
$stream->set(['open_http_protocol' => false]);
$stream->on('receive', fn ($server, $fd) => $server->close($fd));
$ended = new Coroutine\Channel(1);
$stream->on('close', function ($server, int $fd) use ($ended) {
    $info = $server->getClientInfo($fd);
    $ended->push([$info['remote_ip'], $info['close_errno'], $server->exist($fd)]);
});
$server->on('workerstart', function (Swoole\Server $server) use ($stream, $ended) {
    go(function () use ($server, $stream, $ended) {
        $client = new Coroutine\Http\Client('127.0.0.1', $server->port);
        var_dump($client->get('/'), $client->statusCode === SWOOLE_HTTP_CLIENT_ESTATUS_SERVER_RESET);
        $client = new Coroutine\Client(SWOOLE_SOCK_TCP);
        $client->connect('127.0.0.1', $stream->port);
        $client->send('x');
        var_dump($client->recv(), ...$ended->pop());
        $server->shutdown();
    });
});
$server->start();

echo "-- datagrams\n";
$path = sys_get_temp_dir() . '/ends-' . getmypid() . '.sock';
$server = new Swoole\Server($path, 0, SWOOLE_BASE, SWOOLE_SOCK_UNIX_DGRAM);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('packet', function (Swoole\Server $server, string $data, array $client) {
    var_dump($server->send($client['address'], 'nobody', PHP_INT_MAX), $server->send($client['address'], "got $data"));
});
$server->on('workerstart', function (Swoole\Server $server) use ($path) {
    go(function () use ($server, $path) {
        $client = new Coroutine\Client(SWOOLE_SOCK_UNIX_DGRAM);
        var_dump($client->connect($path, 0), $client->send('it'), $client->recv());
        $server->shutdown();
    });
});
$server->start();
@unlink($path);

echo "-- again\n";
Coroutine\run(function () {
    $server = new Coroutine\Http\Server('127.0.0.1', 0);
    $server->handle('/', fn ($request, $response) => $response->end('index'));
    foreach ([1, 2] as $time) {
        go(function () use ($server) {
            $client = new Coroutine\Http\Client('127.0.0.1', $server->port);
            $client->get('/');
            echo $client->body, "\n";
            $client->close();
            $server->shutdown();
        });
        var_dump($server->start());
    }
});

echo "-- nothing asked for\n";
$listener = stream_socket_server('tcp://127.0.0.1:0');
$client = new Client(SWOOLE_SOCK_TCP);
$client->connect('127.0.0.1', (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1));
var_dump($client->recv(0));
?>
--EXPECT--
-- what ends
bool(false)
bool(true)
string(0) ""
string(9) "127.0.0.1"
int(0)
bool(false)
-- datagrams
bool(false)
bool(true)
bool(true)
int(2)
string(6) "got it"
-- again
index
bool(true)
index
bool(true)
-- nothing asked for
string(0) ""
