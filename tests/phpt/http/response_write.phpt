--TEST--
Response: write() in chunks, with a length, to HTTP/1.0, to HEAD; trailers
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        switch ($request->server['request_uri']) {
            case '/length':
                $response->header('Content-Length', '6');
                $response->write('abc');
                $response->end('def');
                return;
            case '/trailers':
                $response->header('Trailer', 'X-Sum');
                $response->write('abc');
                $response->trailer('X-Sum', '3');
                $response->trailer('X-Other', 'ü');
                $response->end('def');
                return;
            case '/only-trailers':
                $response->trailer('X-Sum', '0');
                $response->end();
                return;
        }
        $response->write('first ');
        $response->write('');
        $response->header('x-late', 'never seen');
        $response->write(str_repeat('x', 20));
        $response->end(' last');
    },
    function (Client $client): void {
        $get = fn (string $path, string $version = '1.1', string $method = 'GET'): string
            => plain($client->raw("$method $path HTTP/$version\r\nHost: a\r\nConnection: close\r\n\r\n"));
        foreach (['/', '/length', '/trailers', '/only-trailers'] as $path) {
            echo "== $path\n", $get($path), "\n== $path 1.0\n", $get($path, '1.0'), "\n== $path HEAD\n", $get($path, '1.1', 'HEAD'), "\n";
        }
        echo "== curl reads it: ", $client->get('/'), ' ', $client->get('/trailers'), "\n";
    },
);
?>
--EXPECT--
== /
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Transfer-Encoding: chunked
Connection: close

6
first 
14
xxxxxxxxxxxxxxxxxxxx
5
 last
0
== / 1.0
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Connection: close

first xxxxxxxxxxxxxxxxxxxx last
== / HEAD
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Connection: close
== /length
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 6
Connection: close

abcdef
== /length 1.0
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 6
Connection: close

abcdef
== /length HEAD
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 6
Connection: close
== /trailers
HTTP/1.1 200 OK
Server: apus
Trailer: X-Sum
Content-Type: text/html; charset=UTF-8
Transfer-Encoding: chunked
Connection: close

3
abc
3
def
0
X-Sum: 3
X-Other: ü
== /trailers 1.0
HTTP/1.1 200 OK
Server: apus
Trailer: X-Sum
Content-Type: text/html; charset=UTF-8
Connection: close

abcdef
== /trailers HEAD
HTTP/1.1 200 OK
Server: apus
Trailer: X-Sum
Content-Type: text/html; charset=UTF-8
Connection: close
== /only-trailers
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Transfer-Encoding: chunked
Connection: close

0
X-Sum: 0
== /only-trailers 1.0
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Connection: close
== /only-trailers HEAD
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Connection: close
== curl reads it: first xxxxxxxxxxxxxxxxxxxx last abcdef
