--TEST--
Request: every property, built as PHP's superglobals are
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        $server = $request->server;
        $now = microtime(true);
        $shown = [
            'server' => array_diff_key($server, array_flip(['request_time', 'request_time_float', 'server_port', 'remote_port', 'master_time'])),
            'times' => is_int($server['request_time']) && is_float($server['request_time_float']) && is_int($server['master_time'])
                && abs($server['request_time_float'] - $now) < 5 && abs($server['master_time'] - $now) < 30,
            'ports' => $server['server_port'] > 0 && $server['remote_port'] > 0,
            'header' => array_diff_key($request->header, ['host' => 1, 'user-agent' => 1]),
            'get' => $request->get,
            'post' => $request->post,
            'cookie' => $request->cookie,
            'files' => $request->files,
            'tmpfiles' => $request->tmpfiles,
            'fd' => $request->fd > 0 && $request->fd === $response->fd,
            'streamId' => $request->streamId,
            'method' => $request->getMethod(),
            'content' => $request->rawContent(),
            'same content' => $request->rawContent() === $request->getContent(),
            'read' => $request->read(5),
            'trailers' => $request->getTrailers(),
            'aborted' => $request->isAborted(),
        ];
        $response->end(json_encode($shown, JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR));
    },
    function (Client $client): void {
        echo "== bare\n", $client->get('/'), "\n";
        echo "== query, nested as PHP's\n";
        echo $client->get('/a%20b/c%2Fd?x=1&list[]=a&list[]=b&map[k][i]=v&dot.name=d&spa+ce=s+p&empty=&novalue&%5Bodd=o&u=%C3%BC', '-g'), "\n";
        echo "== urlencoded, cookies, repeated header\n";
        echo $client->curl('-X', 'PUT', '-d', 'a=1&b[]=2&b[]=3&c[d]=4&a=5', '-b', 'one=1; two=a%20b; arr[x]=y; one=2; pl=a+b', '-H', 'X-Twice: 1', '-H', 'X-Twice: 2', '/form'), "\n";
        echo "== other body\n";
        echo $client->curl('-H', 'Content-Type: application/json', '-d', '{"a":1}', '/json'), "\n";
    },
);
?>
--EXPECT--
== bare
{
    "server": {
        "request_method": "GET",
        "request_uri": "/",
        "path_info": "/",
        "server_protocol": "HTTP/1.1",
        "server_addr": "127.0.0.1",
        "remote_addr": "127.0.0.1"
    },
    "times": true,
    "ports": true,
    "header": {
        "accept": "*/*"
    },
    "get": null,
    "post": null,
    "cookie": null,
    "files": null,
    "tmpfiles": null,
    "fd": true,
    "streamId": 0,
    "method": "GET",
    "content": "",
    "same content": true,
    "read": "",
    "trailers": [],
    "aborted": false
}
== query, nested as PHP's
{
    "server": {
        "request_method": "GET",
        "request_uri": "/a%20b/c%2Fd",
        "path_info": "/a b/c/d",
        "query_string": "x=1&list[]=a&list[]=b&map[k][i]=v&dot.name=d&spa+ce=s+p&empty=&novalue&%5Bodd=o&u=%C3%BC",
        "server_protocol": "HTTP/1.1",
        "server_addr": "127.0.0.1",
        "remote_addr": "127.0.0.1"
    },
    "times": true,
    "ports": true,
    "header": {
        "accept": "*/*"
    },
    "get": {
        "x": "1",
        "list": [
            "a",
            "b"
        ],
        "map": {
            "k": {
                "i": "v"
            }
        },
        "dot_name": "d",
        "spa_ce": "s p",
        "empty": "",
        "novalue": "",
        "u": "\u00fc"
    },
    "post": null,
    "cookie": null,
    "files": null,
    "tmpfiles": null,
    "fd": true,
    "streamId": 0,
    "method": "GET",
    "content": "",
    "same content": true,
    "read": "",
    "trailers": [],
    "aborted": false
}
== urlencoded, cookies, repeated header
{
    "server": {
        "request_method": "PUT",
        "request_uri": "/form",
        "path_info": "/form",
        "server_protocol": "HTTP/1.1",
        "server_addr": "127.0.0.1",
        "remote_addr": "127.0.0.1"
    },
    "times": true,
    "ports": true,
    "header": {
        "accept": "*/*",
        "cookie": "one=1; two=a%20b; arr[x]=y; one=2; pl=a+b",
        "x-twice": "1, 2",
        "content-length": "26",
        "content-type": "application/x-www-form-urlencoded"
    },
    "get": null,
    "post": {
        "a": "5",
        "b": [
            "2",
            "3"
        ],
        "c": {
            "d": "4"
        }
    },
    "cookie": {
        "one": "1",
        "two": "a b",
        "arr": {
            "x": "y"
        },
        "pl": "a+b"
    },
    "files": null,
    "tmpfiles": null,
    "fd": true,
    "streamId": 0,
    "method": "PUT",
    "content": "a=1&b[]=2&b[]=3&c[d]=4&a=5",
    "same content": true,
    "read": "a=1&b",
    "trailers": [],
    "aborted": false
}
== other body
{
    "server": {
        "request_method": "POST",
        "request_uri": "/json",
        "path_info": "/json",
        "server_protocol": "HTTP/1.1",
        "server_addr": "127.0.0.1",
        "remote_addr": "127.0.0.1"
    },
    "times": true,
    "ports": true,
    "header": {
        "accept": "*/*",
        "content-type": "application/json",
        "content-length": "7"
    },
    "get": null,
    "post": null,
    "cookie": null,
    "files": null,
    "tmpfiles": null,
    "fd": true,
    "streamId": 0,
    "method": "POST",
    "content": "{\"a\":1}",
    "same content": true,
    "read": "{\"a\":",
    "trailers": [],
    "aborted": false
}
