--TEST--
Request: what a handler prints goes to standard output, not into the answer; header() has no effect
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        echo "printed\n";
        $response->end('answered');
    },
    fn (Client $client) => $client->show('/'),
);
?>
--EXPECT--
printed
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 8

answered
