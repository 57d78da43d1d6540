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
                $facts = [
                    $server->disconnect($frame->fd, 4000, 'as you wish'),
                    $server->isEstablished($frame->fd),
                    $server->push($frame->fd, 'late'),
                    $server->getLastError() !== 0,
                ];
                $GLOBALS['facts'] = json_encode($facts);
                return;
            }
            $answer = $frame->data === 'facts' ? $GLOBALS['facts'] : $frame->data;
            $server->push($frame->fd, $answer, $frame->opcode) && $server->isEstablished($frame->fd) || exit(1);
        });
    },
    function (int $port): void {
        $socket = new Socket($port, '/?user=swift');
        echo $socket->head, "\n";
        show($socket->recv());
        $socket->push('text');
        show($socket->recv());
        $socket->push("\xc3", flags: 0);
        // A fragment, a ping, the rest.
        $socket->push('ping', Apus\WEBSOCKET_OPCODE_PING);
        $socket->push("\xa4", Apus\WEBSOCKET_OPCODE_CONTINUATION);
        show($socket->recv());
        show($socket->recv());
        $socket->push('bye');
        show($socket->recv());
        $socket->push('not heard');
        $socket->close(4000);
        $socket->rest();
        $other = new Socket($port, '/?user=martin');
        show($other->recv());
        $other->push('facts');
        show($other->recv());
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
1 text
10 ping
1 ä
close 4000 as you wish
end
1 hello martin
1 [true,false,false,true]
