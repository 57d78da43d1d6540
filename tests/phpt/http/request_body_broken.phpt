--TEST--
Request: a streamed body that breaks off is an exception
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$said = tempnam(sys_get_temp_dir(), 'apus');
serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response) use ($said): void {
        if ($request->getMethod() === 'GET') {
            $response->end('alive');
            return;
        }
        ob_start();
        attempt(fn () => strlen($request->rawContent()));
        file_put_contents($said, ob_get_clean(), FILE_APPEND);
        $response->end('too late');
    },
    function (Client $client): void {
        foreach (["Content-Length: 10\r\n\r\n123", "Transfer-Encoding: chunked\r\n\r\n3\r\nab", "Transfer-Encoding: chunked\r\n\r\nzz\r\nab"] as $rest) {
            $socket = stream_socket_client("tcp://127.0.0.1:$client->port");
            fwrite($socket, "POST / HTTP/1.1\r\nHost: a\r\n$rest");
            stream_socket_shutdown($socket, STREAM_SHUT_WR);
            // The handler is over when the server closes.
            stream_get_contents($socket);
        }
        echo $client->get('/'), "\n";
    },
    ['stream_request_body' => true],
);
echo file_get_contents($said);
unlink($said);
?>
--EXPECT--
alive
Apus\Http\Exception 207: the client left before the end of the body
Apus\Http\Exception 207: the client left before the end of the body
Apus\Http\Exception 207: malformed body: malformed chunk size
