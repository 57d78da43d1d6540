--TEST--
Http\Server: Response::upgrade(), recv(), push(), close(): one coroutine a connection
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\Http\{Request, Response};
use Apus\WebSocket\{CloseFrame, Frame};

echo serving(
    function (Request $request, Response $response): void {
        if (!isset($request->header['upgrade'])) {
            $response->end(var_export($response->upgrade(), true));
            return;
        }
        var_dump($response->upgrade());
        while (($frame = $response->recv(10)) instanceof Frame && !$frame instanceof CloseFrame) {
            $response->push("heard $frame->data");
        }
        var_dump($frame->code, $frame->reason, $response->close());
        var_dump($response->recv(), $response->push('x'));
    },
    function (Client $client): void {
        echo $client->get('/'), "\n";
        $socket = new Socket($client->port);
        echo strtok($socket->head, "\n"), "\n";
        foreach (['one', 'two'] as $text) {
            $socket->push($text);
            show($socket->recv());
        }
        $socket->push("\x0b\xb8enough", Apus\WEBSOCKET_OPCODE_CLOSE);
        $socket->rest();
    },
    ['open_websocket_close_frame' => true],
);
?>
--EXPECT--
false
HTTP/1.1 101 Switching Protocols
bool(true)
1 heard one
1 heard two
int(3000)
string(6) "enough"
bool(true)
string(0) ""
bool(false)
close 3000 enough
end
