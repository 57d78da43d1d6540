--TEST--
WebSocket\Server: open, message and close; push(), disconnect(), isEstablished()
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\Http\Request;
use Apus\WebSocket\{Frame, Server};

echo websockets(
    function (Server $server): void {
        $server->on('open', function (Server $server, Request $request): void {
            $server->push($request->fd, "hello {$request->get['user']}");
        });
        $server->on('message', function (Server $server, Frame $frame): void {
            if ($frame->data === 'bye') {
                $server->disconnect($frame->fd, 4000, 'as you wish');
                var_dump($server->isEstablished($frame->fd), $server->push($frame->fd, 'late'), $server->getLastError() !== 0);
                return;
            }
            var_dump($server->push($frame->fd, $frame->data, $frame->opcode), $server->isEstablished($frame->fd));
        });
    },
    function (int $port): void {
        $socket = new Socket($port, '/?user=swift');
        echo $socket->head, "\n";
        show($socket->recv());
        $socket->push('text');
        show($socket->recv());
        $socket->push("\xc3", flags: 0);
        $socket->push('ping', Apus\WEBSOCKET_OPCODE_PING);
        $socket->push("\xa4", Apus\WEBSOCKET_OPCODE_CONTINUATION);
        show($socket->recv());
        show($socket->recv());
        $socket->push('bye');
        show($socket->recv());
        $socket->push('not heard');
        $socket->push("\x0f\xa0", Apus\WEBSOCKET_OPCODE_CLOSE);
        $socket->rest();
    },
);
?>
--EXPECT--
HTTP/1.1 101 Switching Protocols
Upgrade: websocket
Connection: Upgrade
Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
Server: apus
1 hello swift
bool(true)
bool(true)
1 text
10 ping
bool(true)
bool(true)
1 ä
bool(false)
bool(false)
bool(true)
close 4000 as you wish
end
