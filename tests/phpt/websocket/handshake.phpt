--TEST--
WebSocket\Server: the handshake event lets in and turns away; subprotocols; version
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\Http\{Request, Response};
use Apus\WebSocket\{Frame, Server};

echo websockets(
    function (Server $server): void {
        $server->on('Handshake', function (Request $request, Response $response): bool {
            if ($request->server['request_uri'] === '/teapot') {
                $response->status(418);
                $response->end();
            }
            $response->header('X-Seen', 'yes');
            return $request->server['request_uri'] === '/in';
        });
        $server->on('MESSAGE', fn (Server $server, Frame $frame) => $server->push($frame->fd, "heard $frame->data"));
    },
    function (int $port): void {
        $socket = new Socket($port, '/in', "Sec-WebSocket-Protocol: x, b\r\n");
        echo $socket->head, "\n";
        $socket->push('it');
        show($socket->recv());
        foreach (['/out', '/teapot'] as $path) {
            echo strtok((new Socket($port, $path))->head, "\n"), "\n";
        }
        $old = (new Socket($port, '/in', version: '8'))->head;
        echo strtok($old, "\n"), "\n", preg_match('/^Sec-WebSocket-Version: 13$/m', $old), "\n";
    },
    ['websocket_subprotocol' => 'a, b'],
);
?>
--EXPECT--
HTTP/1.1 101 Switching Protocols
Upgrade: websocket
Connection: Upgrade
Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
Sec-WebSocket-Protocol: b
Server: apus
X-Seen: yes
1 heard it
HTTP/1.1 403 Forbidden
HTTP/1.1 418 I'm a teapot
HTTP/1.1 426 Upgrade Required
1
