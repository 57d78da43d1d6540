"""What the tests of the WebSocket server share: a server whose worker runs the PHP code that a test sends it."""

import json
import os
import sys

import support
from support import Case, php_array, until

sys.path.insert(0, str(support.HERE.parent))
from lib import http2, servers, websocket  # noqa: E402, F401
from lib.websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Crowd, Refused, WebSocket  # noqa: E402, F401

SCRIPT = r"""<?php
use Apus\Coroutine;
use Apus\Http\{Request, Response};
use Apus\WebSocket\{CloseFrame, Frame, Server};
use function Apus\go;
$events = [];
$kept = [];
function note(mixed ...$what): void
{
    $GLOBALS['events'][] = $what;
}
function thrown(callable $f): ?string
{
    try {
        $f();
        return null;
    } catch (Throwable $e) {
        return get_class($e) . ': ' . $e->getMessage();
    }
}
$folder = __DIR__;
$server = new CLASS('127.0.0.1', 0);
$server->set(json_decode(<<<'JSON'
SETTINGS
JSON, true));
$server->on('request', function (Request $request, Response $response) use ($server, $folder) {
    $path = $request->server['request_uri'];
    if ($path === '/eval') {
        $GLOBALS['request'] = $request;
        $response->end(json_encode(eval($request->rawContent()), JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR));
        return;
    }
REQUEST
    $response->end('http');
});
CODE
$server->start();
"""
ECHO = "$server->on('message', fn ($server, $frame) => $server->push($frame->fd, $frame->data, $frame->opcode));"
# Notes each event with what a test can compare.
NOTED = r"""
$server->on('open', function (...$with) { note('open', $with[1]->fd); });
$server->on('message', function ($server, $frame) { note('message', $frame->fd, $frame->opcode, $frame->data); });
$server->on('close', function (...$with) { note('close', $with[1]); });
"""


class WebSocketCase(Case):
    # Whether clients open their WebSockets on streams of HTTP/2. With the variable all tests can be run so by hand.
    over_http2 = bool(os.environ.get("APUS_WEBSOCKETS_OVER_HTTP2"))

    def websockets(self, code=ECHO, *, request="", settings=None, kind="Server", **options):
        """A server of one worker, unless `worker_num` says otherwise; `code` is PHP that sets its events."""
        kept = {"worker_num": 1, "blocked_loop_warn": 0, "log_file": "", "open_http2_protocol": self.over_http2, **(settings or {})}
        script = SCRIPT.replace("CLASS", kind).replace("SETTINGS", json.dumps(kept)).replace("REQUEST", request).replace("CODE", code)
        return self.serve(script=script, **options)

    def join(self, server, path="/", **options):
        connect = http2.join if self.over_http2 else WebSocket.connect
        return self.enterContext(connect(server.port, path, **options))

    def php(self, server, code, **values):
        """Runs PHP code in a worker, which has $server and the values; gives back what it returns."""
        # eval() does not see the names that the file imports.
        given = "use Apus\\Coroutine; use Apus\\WebSocket\\{CloseFrame, Frame, Server}; use function Apus\\go;\n"
        given += "".join(f"${name} = {php_array(value)};\n" for name, value in values.items())
        with server.connect() as client:
            answer = client.request("POST", "/eval", body=(given + code).encode(), close=True)
        self.assertEqual(answer.status, 200, server.said())
        return answer.json()

    def fd(self, ws):
        """The session of a connection whose open event pushes it."""
        return int(ws.text())

    def events(self, server, count=0, kinds=None):
        """The noted events once there are that many; `kinds` counts and shows only these."""
        def seen():
            found = [e for e in self.php(server, "return $GLOBALS['events'];") if not kinds or e[0] in kinds]
            return (found,) if len(found) >= count else None
        return until(f"{count} events", seen)[0]

    def worker(self, server):
        return server.workers()[0]


TELL_FD = "$server->on('open', fn ($server, $request) => $server->push($request->fd, (string) $request->fd));"
