--TEST--
WebSockets under the names of Swoole: unmasked frames, any close code, messages that the program has compressed, resets
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Http\Client;
use Swoole\WebSocket\CloseFrame;
use Swoole\WebSocket\Frame;

$log = tempnam(sys_get_temp_dir(), 'apus');
$server = new Swoole\WebSocket\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['websocket_compression' => true, 'log_file' => $log]);
$server->on('message', function (Swoole\WebSocket\Server $server, Frame $frame) {
    if ($frame->data !== 'compressed') {
        $server->push($frame->fd, get_class($frame) . " $frame->data");
        return;
    }
    $context = deflate_init(ZLIB_ENCODING_RAW);
    $flags = SWOOLE_WEBSOCKET_FLAG_COMPRESS | SWOOLE_WEBSOCKET_FLAG_RSV1;
    $server->push($frame->fd, deflate_add($context, "\u{e4}one ", ZLIB_SYNC_FLUSH), WEBSOCKET_OPCODE_TEXT, $flags);
    $rest = deflate_add($context, 'two', ZLIB_FINISH);
    $server->push($frame->fd, $rest, WEBSOCKET_OPCODE_CONTINUATION, SWOOLE_WEBSOCKET_FLAG_FIN);
});
$server->on('workerstart', function (Swoole\WebSocket\Server $server) use ($log) {
    go(function () use ($server, $log) {
        $client = new Client('127.0.0.1', $server->port);
        $client->set(['websocket_mask' => false]);
        $client->upgrade('/');
        $client->push('unmasked');
        echo $client->recv(5)->data, "\n";
        // Nobody agreed to compressed messages here.
        var_dump(@$client->push('x', WEBSOCKET_OPCODE_TEXT, SWOOLE_WEBSOCKET_FLAG_RSV1));

        $client = new Client('127.0.0.1', $server->port);
        $client->set(['websocket_compression' => true, 'open_websocket_close_frame' => true]);
        $client->upgrade('/');
        $client->push('compressed');
        echo $client->recv(5)->data, "\n";
        $close = new CloseFrame();
        $close->code = 77;
        $close->reason = 'any code';
        var_dump($client->push($close));
        $back = $client->recv(5);
        echo get_class($back), " $back->code $back->reason\n";
        var_dump($client->disconnect(), $client->recv(1), $client->errCode === SWOOLE_ERROR_CLIENT_NO_CONNECTION);

        // An extension that the program asks for itself.
        $client = new Client('127.0.0.1', $server->port);
        $client->setHeaders(['Sec-WebSocket-Extensions' => 'permessage-deflate']);
        $client->upgrade('/');
        var_dump(str_starts_with($client->headers['sec-websocket-extensions'], 'permessage-deflate'));
        $client->close();

        $client = new Client('127.0.0.1', $server->port);
        var_dump($client->get('/'), $client->statusCode, str_contains($client->body, 'HTTP 400 Bad Request'));

        $raw = new Swoole\Coroutine\Client(SWOOLE_SOCK_TCP);
        $raw->connect('127.0.0.1', $server->port);
        $raw->send("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            . "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Version: 13\r\n\r\n");
        $raw->recv(5);
        $raw->send(str_repeat("\xff", 100));
        var_dump($raw->recv(5), $raw->errCode === SOCKET_ECONNRESET);
        var_dump(str_contains(file_get_contents($log), 'malformed data'));
        unlink($log);
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECTF--
Swoole\WebSocket\Frame unmasked
bool(false)
äone two
bool(true)
Swoole\WebSocket\CloseFrame 77 any code
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
int(400)
bool(true)
bool(false)
bool(true)
bool(true)
