--TEST--
Response: a body that breaks its own Content-Length warns, and never reaches the client as whole
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        ini_set('display_errors', '0');
        set_error_handler(function (int $level, string $text) {
            echo "warning: $text\n";
            return true;
        });
        $response->header('Content-Length', '10');
        match ($request->server['request_uri']) {
            '/short-write' => $response->write('12345') && $response->end('678'),
            '/long-write' => $response->write('12345') && $response->end('67890ab'),
            '/short' => $response->end('123'),
            '/long' => $response->end('1234567890ab'),
        };
    },
    function (Client $client): void {
        foreach (['/short-write', '/long-write', '/short', '/long'] as $path) {
            $answer = $client->raw("GET $path HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            [$head, $body] = explode("\r\n\r\n", $answer, 2) + [1 => ''];
            preg_match('/^Content-Length: (\d+)/m', $head, $length);
            $status = substr($head, 9, 3);
            echo "$path: status ", var_export($status, true), ', length ', $length[1] ?? 'none', ', body ', strlen($body), "\n";
        }
    },
);
?>
--EXPECT--
warning: the body does not have the length that its Content-Length announced; the connection is cut
/short-write: status '200', length 10, body 8
warning: the body does not have the length that its Content-Length announced; the connection is cut
/long-write: status '200', length 10, body 5
/short: status '200', length 3, body 3
/long: status '200', length 12, body 12
