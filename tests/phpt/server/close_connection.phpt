--TEST--
Server: close() of the own connection and of another one; connect and close events
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\Http\{Request, Response, Server};

$server = null;
$seen = [];
serving(
    function (Request $request, Response $response) use (&$server, &$seen): void {
        switch ($request->server['request_uri']) {
            case '/self':
                $response->end('closing ' . var_export($server->close($request->fd), true));
                return;
            case '/others':
                $others = array_diff(iterator_to_array($server->connections), [$request->fd]);
                $response->end(
                    count($others) . ' ' . json_encode(
                        array_map($server->close(...), array_values($others)),
                    ) . ' ' . var_export($server->close(12345 << 12), true),
                );
                return;
            case '/seen':
                // The other connections' close events come from the loop's next turns.
                while (count(array_keys($seen, 'close', true)) < 3) {
                    Apus\Coroutine::sleep(0.001);
                }
                $response->end(json_encode(array_count_values($seen)));
                return;
        }
        $response->end("hello\n");
    },
    function (Client $client): void {
        $kept = stream_socket_client("tcp://127.0.0.1:$client->port");
        stream_set_timeout($kept, 10);
        fwrite($kept, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        for ($line = ''; $line !== "hello\n";) {
            $line = fgets($kept);
        }
        echo plain($client->raw("GET /self HTTP/1.1\r\nHost: a\r\n\r\n")), "\n";
        echo $client->get('/others'), "\n";
        var_dump(stream_get_contents($kept), feof($kept));
        echo $client->get('/seen'), "\n";
    },
    prepare: function (Server $given) use (&$server, &$seen): void {
        $server = $given;
        $server->on('connect', function (Server $server, int $fd, int $worker) use (&$seen): void {
            $seen[] = $worker === 0 && $server->exist($fd) ? 'connect' : 'bad';
        });
        $server->on('close', function (Server $server, int $fd, int $worker) use (&$seen): void {
            $seen[] = 'close';
        });
    },
);
?>
--EXPECT--
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 12
Connection: close

closing true
1 [true] false
string(0) ""
bool(true)
{"connect":4,"close":3}
