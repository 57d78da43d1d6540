--TEST--
Request: an absolute-form target rules over the Host field; lines that can have no version; malformed hosts; CONNECT
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$handler = function (Apus\Http\Request $request, Apus\Http\Response $response): void {
    $response->end(json_encode([$request->getMethod(), $request->server['request_uri'], $request->header['host'] ?? null]));
};
$show = function (Client $client, string $bytes): void {
    // The first line and the body; head and body of what is sent after a CONNECT would show, too.
    $answer = str_replace("\r", '', $client->raw($bytes));
    preg_match('/^(Content-Length|Transfer-Encoding):/mi', $answer, $framing);
    echo json_encode(substr($bytes, 0, 40)), ': ', strtok($answer, "\n"), ' ', $framing[1]
        ?? 'no framing', ' ', explode("\n\n", $answer, 2)[1] ?? '', "\n";
};
serving($handler, function (Client $client) use ($show): void {
    $end = "Connection: close\r\n\r\n";
    $show($client, "GET http://evil.example:81/x HTTP/1.1\r\nHost: good\r\n$end");
    $show($client, "GET http://evil.example/x HTTP/1.0\r\n\r\n");
    $show($client, "GET /x HTTP/1.1\r\nHost: good\r\n$end");
    $show($client, "CONNECT a.example:80 HTTP/1.1\r\nHost: a.example:80\r\n\r\n");
    // Nothing more is sent, and the connection is not closed by the client: the answer comes at once or never.
    $show($client, "GET / \r\n");
    $show($client, "GET / HT\r\n");
    foreach (['a%zz', ':80', 'a%4', 'a%41'] as $host) {
        $show($client, "GET / HTTP/1.1\r\nHost: $host\r\n$end");
    }
}, ['header_timeout' => 0]);
echo "-- http_connect\n";
serving($handler, function (Client $client) use ($show): void {
    $show($client, "CONNECT a.example:80 HTTP/1.1\r\nHost: other\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
}, ['http_connect' => true]);
?>
--EXPECT--
"GET http:\/\/evil.example:81\/x HTTP\/1.1\r\nH": HTTP/1.1 200 OK Content-Length ["GET","\/x","evil.example:81"]
"GET http:\/\/evil.example\/x HTTP\/1.0\r\n\r\n": HTTP/1.1 200 OK Content-Length ["GET","\/x","evil.example"]
"GET \/x HTTP\/1.1\r\nHost: good\r\nConnection:": HTTP/1.1 200 OK Content-Length ["GET","\/x","good"]
"CONNECT a.example:80 HTTP\/1.1\r\nHost: a.e": HTTP/1.1 501 Not Implemented Content-Length 501 Not Implemented: CONNECT is not served here

"GET \/ \r\n": HTTP/1.1 400 Bad Request Content-Length 400 Bad Request: malformed HTTP version

"GET \/ HT\r\n": HTTP/1.1 400 Bad Request Content-Length 400 Bad Request: malformed HTTP version

"GET \/ HTTP\/1.1\r\nHost: a%zz\r\nConnection: ": HTTP/1.1 400 Bad Request Content-Length 400 Bad Request: malformed Host

"GET \/ HTTP\/1.1\r\nHost: :80\r\nConnection: c": HTTP/1.1 400 Bad Request Content-Length 400 Bad Request: malformed Host

"GET \/ HTTP\/1.1\r\nHost: a%4\r\nConnection: c": HTTP/1.1 400 Bad Request Content-Length 400 Bad Request: malformed Host

"GET \/ HTTP\/1.1\r\nHost: a%41\r\nConnection: ": HTTP/1.1 200 OK Content-Length ["GET","\/","a%41"]
-- http_connect
"CONNECT a.example:80 HTTP\/1.1\r\nHost: oth": HTTP/1.1 200 OK no framing ["CONNECT","\/","a.example:80"]
