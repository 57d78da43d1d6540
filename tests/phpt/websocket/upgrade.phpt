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
        static $facts = [];
        if (!isset($request->header['upgrade'])) {
            if ($request->server['request_uri'] === '/facts') {
                $response->end(json_encode($facts));
                return;
            }
            $facts[] = $response->upgrade();
            return;
        }
        $facts[] = $response->upgrade();
        while (($frame = $response->recv(10)) instanceof Frame && !$frame instanceof CloseFrame) {
            $response->push("heard $frame->data");
        }
        array_push($facts, $frame->code, $frame->reason, $response->recv(), $response->push('x'));
    },
    function (Client $client): void {
        echo strtok($client->get('/', '-i'), "\r"), "\n";
        $socket = new Socket($client->port);
        echo strtok($socket->head, "\n"), "\n";
        foreach (['one', 'two'] as $text) {
            $socket->push($text);
            show($socket->recv());
        }
        $socket->close(3000, 'enough');
        $socket->rest();
        echo $client->get('/facts'), "\n";
    },
    ['open_websocket_close_frame' => true],
);
?>
--EXPECT--
HTTP/1.1 400 Bad Request
HTTP/1.1 101 Switching Protocols
1 heard one
1 heard two
close 3000 
end
[false,true,3000,"enough","",false]
