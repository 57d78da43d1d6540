--TEST--
Request: getData() is the request as it was sent
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

serving(
    fn (Apus\Http\Request $request, Apus\Http\Response $response) => $response->end($request->getData()),
    function (Client $client): void {
        $sent = "POST /a?b=c HTTP/1.1\r\nhost: a\r\nX-Odd:   spaces  \r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody";
        $back = explode("\r\n\r\n", $client->raw($sent), 2)[1];
        echo $back === $sent ? "same\n" : $back;
    },
);
?>
--EXPECT--
same
