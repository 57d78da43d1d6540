--TEST--
Coroutine\Http\Server: settings of ports, max_concurrency, cancel_on_disconnect and max_connection are honoured
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Channel;
use Apus\Coroutine\Http\{Client, Server};
use Apus\Coroutine\Socket;
use function Apus\{go, Coroutine\run};

/** A connection that has sent something. */
function sending(int $port, string $bytes): Socket
{
    $socket = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $socket->connect('127.0.0.1', $port);
    $socket->sendAll($bytes);
    return $socket;
}

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

run(function () {
    $server = new Server('127.0.0.1');
    var_dump($server->settings);
    $server->set(['package_max_length' => 100, 'server_header' => 'mine']);
    $server->set(['http_parse_post' => false, 'worker_num' => 3]);
    echo json_encode($server->settings), "\n";
    $server->handle(
        '/',
        fn($request, $response) => $response->end(json_encode([$request->post, $request->rawContent()])),
    );
    $ended = started($server);
    $client = new Client('127.0.0.1', $server->port);
    $client->set(['timeout' => 20]);
    $client->post('/', ['a' => 'b']);
    echo $client->statusCode, ' ', $client->headers['server'], ' ', $client->body, "\n";
    $client->post('/', str_repeat('x', 101));
    echo $client->statusCode, "\n";
    $client->close();
    $server->shutdown();
    $ended->pop(20);

    echo "-- max_concurrency\n";
    $server = new Server('127.0.0.1');
    $server->set(['max_concurrency' => 1]);
    [$begun, $release] = [new Channel(10), new Channel(10)];
    $server->handle('/', function ($request, $response) use ($begun, $release): void {
        $begun->push('begun');
        $response->end($release->pop(20));
    });
    $ended = started($server);
    $first = sending($server->port, GET);
    echo $begun->pop(20), "\n";
    [$second, $third] = [sending($server->port, GET), sending($server->port, GET)];
    var_dump($begun->pop(0.02));
    // One of those that wait resets its connection, and is never handled.
    $open = sockets();
    $second->setOption(1, 13, ['l_onoff' => 1, 'l_linger' => 0]); // SO_LINGER: close() resets.
    $second->close();
    // Both ends are closed then.
    until(fn() => sockets() === $open - 2);
    $release->push('one');
    echo substr($first->recv(), -3), ' ', $begun->pop(20), "\n";
    $release->push('two');
    echo substr($third->recv(), -3), "\n";
    var_dump($begun->pop(0.02));
    $server->shutdown();
    array_map(fn($socket) => $socket->close(), [$first, $third]);
    var_dump($ended->pop(20));

    echo "-- cancel_on_disconnect\n";
    $server = new Server('127.0.0.1');
    $server->set(['cancel_on_disconnect' => true]);
    $server->handle('/', function () use ($begun): void {
        try {
            $begun->push('begun');
            Coroutine::sleep(20);
        } finally {
            $begun->push('broken off');
        }
    });
    $ended = started($server);
    $client = sending($server->port, GET);
    echo $begun->pop(20), "\n";
    $client->close();
    echo $begun->pop(20), "\n";
    $server->shutdown();
    var_dump($ended->pop(20));

    echo "-- max_connection\n";
    $server = new Server('127.0.0.1');
    $server->set(['max_connection' => 1]);
    $server->handle('/', fn($request, $response) => $response->end('answered'));
    $ended = started($server);
    $first = sending($server->port, GET);
    echo substr($first->recv(), -8), "\n";
    $second = sending($server->port, GET);
    var_dump($second->recv(100, 0.02));
    $first->close();
    echo substr($second->recv(), -8), "\n";
    $second->close();
    $server->shutdown();
    var_dump($ended->pop(20));
});
?>
--EXPECT--
NULL
{"package_max_length":100,"server_header":"mine","http_parse_post":false,"worker_num":3}
200 mine [null,"a=b"]
413
-- max_concurrency
begun
bool(false)
one begun
two
bool(false)
bool(true)
-- cancel_on_disconnect
begun
broken off
bool(true)
-- max_connection
answered
bool(false)
answered
bool(true)
