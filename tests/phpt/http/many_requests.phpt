--TEST--
Request: ten thousand on kept connections leave no memory behind
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        if ($request->server['request_uri'] === '/memory') {
            gc_collect_cycles();
            $response->end((string) memory_get_usage());
            return;
        }
        $touched = [
            $request->header,
            $request->get,
            $request->post,
            $request->cookie,
            $request->files,
            $request->server,
        ];
        $response->header('X-A', 'b');
        $response->cookie('a', 'b');
        $response->end(str_repeat('x', count($touched)));
    },
    function (Client $client): void {
        $socket = stream_socket_client("tcp://127.0.0.1:$client->port");
        $one = "POST /?a[]=1 HTTP/1.1\r\nHost: a\r\nCookie: c=d\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\na=b";
        $ask = function (int $times) use ($socket, $one): void {
            for ($i = 0; $i < $times; $i += 10) {
                fwrite($socket, str_repeat($one, 10));
                for ($seen = 0; $seen < 10;) {
                    $seen += substr_count(fread($socket, 65536), 'xxxxxx');
                }
            }
        };
        $ask(500);
        $before = (int) $client->get('/memory');
        $ask(10_000);
        $after = (int) $client->get('/memory');
        echo $after - $before < 10_000 ? 'flat' : "grew from $before to $after", "\n";
    },
);
?>
--EXPECT--
flat
