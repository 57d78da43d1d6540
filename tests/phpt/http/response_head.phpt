--TEST--
Response: status, header, cookie, redirect and getHeaders
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        switch ($request->server['request_uri']) {
            case '/status':
                $response->status(404);
                break;
            case '/reason':
                $response->status(299, 'Mostly Fine');
                break;
            case '/setters':
                $response->setStatusCode(201);
                $response->setHeader('x-set', '1');
                break;
            case '/headers':
                $response->header('x-replaced', 'first');
                $response->header('X-Replaced', 'second');
                $response->header('x-list', ['one', 2, 3.5, true]);
                $response->header('x-lower', 'kept', false);
                $response->header('x-taken', 'gone');
                $response->header('x-taken', null);
                $response->header('x-trimmed', "  spaces \t");
                $response->header('content-type', 'text/plain');
                $response->header('server', 'mine');
                $response->header('date', 'Thu, 01 Jan 1970 00:00:00 GMT');
                $response->header('x-utf8', 'schön');
                $response->end(json_encode($response->getHeaders(), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES));
                return;
            case '/ours':
                $response->end(json_encode([
                    $response->header('Transfer-Encoding', 'chunked'),
                    $response->header('Connection', 'keep-alive'),
                    $response->header('Keep-Alive', 'timeout=1'),
                    $response->header('Connection', 'close'),
                ]));
                return;
            case '/redirect':
                $response->redirect('/elsewhere?a=1');
                return;
            case '/redirect308':
                $response->redirect('https://example.com/', 308);
                return;
            case '/204':
                $response->status(204);
                $response->end('never sent');
                return;
            case '/304':
                $response->status(304);
                $response->header('ETag', '"x"');
                $response->end();
                return;
            case '/length':
                $response->header('Content-Length', '5');
                $response->end('12345');
                return;
        }
        $response->end('body');
    },
    function (Client $client): void {
        foreach (['/status', '/reason', '/setters', '/headers', '/ours', '/redirect', '/redirect308', '/204', '/304', '/length'] as $path) {
            echo "== $path\n";
            $client->show($path);
        }
        echo "== HEAD\n";
        $client->show('-I', '/setters');
    },
);
?>
--EXPECT--
== /status
HTTP/1.1 404 Not Found
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 4

body
== /reason
HTTP/1.1 299 Mostly Fine
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 4

body
== /setters
HTTP/1.1 201 Created
Server: apus
X-Set: 1
Content-Type: text/html; charset=UTF-8
Content-Length: 4

body
== /headers
HTTP/1.1 200 OK
X-Replaced: second
X-List: one
X-List: 2
X-List: 3.5
X-List: 1
x-lower: kept
X-Trimmed: spaces
Content-Type: text/plain
Server: mine
X-Utf8: schön
Content-Length: 193

{"x-replaced":"second","x-list":["one","2","3.5","1"],"x-lower":"kept","x-trimmed":"spaces","content-type":"text/plain","server":"mine","date":"Thu, 01 Jan 1970 00:00:00 GMT","x-utf8":"schön"}
== /ours
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 23
Connection: close

[false,true,false,true]
== /redirect
HTTP/1.1 302 Found
Server: apus
Location: /elsewhere?a=1
Content-Length: 0
== /redirect308
HTTP/1.1 308 Permanent Redirect
Server: apus
Location: https://example.com/
Content-Length: 0
== /204
HTTP/1.1 204 No Content
Server: apus
== /304
HTTP/1.1 304 Not Modified
Server: apus
Etag: "x"
== /length
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 5

12345
== HEAD
HTTP/1.1 201 Created
Server: apus
X-Set: 1
Content-Type: text/html; charset=UTF-8
Content-Length: 4
