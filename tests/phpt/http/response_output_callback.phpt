--TEST--
Response: write() from inside an ob_start callback, chunk size 1, as streamed responses of frameworks do
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$log = serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        ob_start(function (string $part) use ($response): string {
            if ($part !== '') {
                $response->write($part);
            }
            return '';
        }, 1);
        echo 'one ';
        echo 'two ';
        if ($request->server['request_uri'] === '/big') {
            for ($i = 0; $i < 64; $i++) {
                echo str_repeat('x', 100_000);
            }
        }
        if ($request->server['request_uri'] === '/sleep') {
            Apus\Coroutine::sleep(0.005);
        }
        echo 'three';
        ob_end_clean();
        $response->end();
    },
    function (Client $client): void {
        echo $client->get('/'), "\n", $client->get('/sleep'), "\n";
        // More than the output buffer holds: the callback cannot wait, and nothing may be lost.
        echo strlen($client->get('/big')), "\n";
        // Several at once: each has output buffers of its own.
        $sockets = [];
        for ($i = 0; $i < 5; $i++) {
            $sockets[] = $socket = stream_socket_client("tcp://127.0.0.1:$client->port");
            fwrite($socket, "GET /sleep HTTP/1.0\r\n\r\n");
        }
        foreach ($sockets as $socket) {
            echo explode("\r\n\r\n", stream_get_contents($socket))[1], "\n";
        }
    },
    ['buffer_output_size' => '64K'],
);
echo $log;
?>
--EXPECT--
one two three
one two three
6400013
one two three
one two three
one two three
one two three
one two three
