--TEST--
Response: more than Content-Length told ends the connection; 205 and HEAD; trailers that may not be; fields set and taken away
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        set_error_handler(function (int $level, string $text): bool {
            echo "warning: $text\n";
            return true;
        });
        switch ($request->server['request_uri']) {
            case '/overrun':
                $response->header('Content-Length', '2');
                var_dump($response->write('abcdef'), $response->write('a'), $response->isWritable(), $response->end('b'));
                return;
            case '/overrun-later':
                $response->header('Content-Length', '2');
                var_dump($response->write('a'), $response->write('bc'), $response->write('b'));
                return;
            case '/205':
                $response->status(205);
                $response->end('never sent');
                return;
            case '/205-written':
                $response->status(205);
                $response->write('never sent');
                $response->end();
                return;
            case '/length':
                $response->header('Content-Length', '10');
                $response->end($request->getMethod() === 'HEAD' ? '' : '1234567890');
                return;
            case '/wrong-length':
                $response->header('Content-Length', '10');
                $response->end('123');
                return;
            case '/skips-bodies':
                $response->end($request->getMethod() === 'HEAD' ? '' : 'body');
                return;
            case '/unset':
                foreach (['connection' => 'close', 'Date' => 'never', 'Server' => 'mine', 'Content-Type' => 'text/x', 'Content-Length' => '7'] as $name => $value) {
                    $response->header($name, $value);
                    $response->header($name, null);
                }
                $response->header('Connection', 'close');
                $response->header('Connection', []);
                $response->end('body');
                return;
            case '/upgrade':
                $response->header('server', 'mine');
                $response->upgrade();
                return;
            case '/trailers':
                ob_start();
                foreach (['Content-Length', 'transfer-encoding', 'Host', 'Trailer', 'Set-Cookie'] as $name) {
                    attempt(fn () => $response->trailer($name, '1'));
                }
                $refused = ob_get_clean();
                $response->trailer('X-Sum', '7');
                $response->end($refused);
                return;
        }
        $response->end('last');
    },
    function (Client $client): void {
        foreach (['/overrun', '/overrun-later', '/205', '/205-written', '/length', '/wrong-length', '/skips-bodies', '/unset', '/trailers'] as $path) {
            foreach (in_array($path, ['/length', '/wrong-length', '/skips-bodies']) ? ['GET', 'HEAD'] : ['GET'] as $method) {
                // What comes of a second request shows whether the connection went on, and whether its answer is found.
                $answer = $client->raw("$method $path HTTP/1.1\r\nHost: a\r\n\r\nGET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
                echo "== $method $path\n", preg_replace('/^date: \w{3}, \d.*\n/mi', "Date: now\n", str_replace("\r", '', $answer)), "\n";
            }
        }
        $key = base64_encode(random_bytes(16));
        $answer = $client->raw("GET /upgrade HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: $key\r\n\r\n");
        preg_match_all('/^server:.*/mi', str_replace("\r", '', $answer), $servers);
        echo "== 101\n", strtok($answer, "\r"), "\n", implode("\n", $servers[0]), "\n";
    },
    ['websocket_close_timeout' => 0.1],
);
?>
--EXPECT--
warning: the body does not have the length that its Content-Length announced; the connection is cut
bool(false)
bool(false)
bool(false)
bool(false)
== GET /overrun
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 2


warning: the body does not have the length that its Content-Length announced; the connection is cut
bool(true)
bool(false)
bool(false)
== GET /overrun-later
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 2

a
== GET /205
HTTP/1.1 205 Reset Content
Server: apus
Date: now
Content-Length: 0

HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== GET /205-written
HTTP/1.1 205 Reset Content
Server: apus
Date: now
Content-Length: 0

HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== GET /length
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 10

1234567890HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== HEAD /length
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 10

HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== GET /wrong-length
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 3

123HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== HEAD /wrong-length
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 3

HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== GET /skips-bodies
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4

bodyHTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== HEAD /skips-bodies
HTTP/1.1 200 OK
Server: apus
Date: now

HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== GET /unset
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4

bodyHTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== GET /trailers
HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Transfer-Encoding: chunked

2f5
Apus\Http\Exception 203: Content-Length cannot be sent as a trailer: it frames the message, or has to be known before the content (RFC 9110 section 6.5.1)
Apus\Http\Exception 203: transfer-encoding cannot be sent as a trailer: it frames the message, or has to be known before the content (RFC 9110 section 6.5.1)
Apus\Http\Exception 203: Host cannot be sent as a trailer: it frames the message, or has to be known before the content (RFC 9110 section 6.5.1)
Apus\Http\Exception 203: Trailer cannot be sent as a trailer: it frames the message, or has to be known before the content (RFC 9110 section 6.5.1)
Apus\Http\Exception 203: Set-Cookie cannot be sent as a trailer: it frames the message, or has to be known before the content (RFC 9110 section 6.5.1)

0
X-Sum: 7

HTTP/1.1 200 OK
Server: apus
Date: now
Content-Type: text/html; charset=UTF-8
Content-Length: 4
Connection: close

last
== 101
HTTP/1.1 101 Switching Protocols
Server: mine
