--TEST--
Swoole\Http\Response: fields with line breaks, raw cookies and fragments out of order are refused in the words there
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\WebSocket\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1]);
$server->on('message', function (Swoole\WebSocket\Server $server, Swoole\WebSocket\Frame $frame) {
    var_dump($server->push($frame->fd, 'b', WEBSOCKET_OPCODE_CONTINUATION, 0));
    var_dump($server->push($frame->fd, 'a', WEBSOCKET_OPCODE_TEXT, 0));
    var_dump($server->push($frame->fd, 'a', WEBSOCKET_OPCODE_TEXT, 0));
    var_dump($server->push($frame->fd, 'b', WEBSOCKET_OPCODE_CONTINUATION, SWOOLE_WEBSOCKET_FLAG_FIN));
});
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) {
    $response->header('X-Trimmed', " value \r\n");
    var_dump($response->header('X-Split', "a\r\nX-Evil: 1"), $response->header('X-Several', ['a', "b\nc"]));
    var_dump($response->rawcookie('name', "a\r\nb"), $response->rawcookie('na me', 'a'));
    $response->header('Connection', 'keep-alive');
    $response->header('Content-Length', '5');
    $response->end('whole');
});
$server->on('workerstart', function (Swoole\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->get('/');
        unset($client->headers['date']);
        echo json_encode($client->headers), " $client->body\n";
        // Heads may be larger there.
        $names = array_map(fn (int $n) => "x-$n", range(1, 300));
        $client->setHeaders(['X-Long' => str_repeat('x', 50000)] + array_fill_keys($names, 1));
        $client->setMethod('HEAD');
        $client->execute('/');
        echo "$client->statusCode\n";
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->upgrade('/');
        $client->push('begin');
        echo $client->recv(5)->data, "\n";
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECTF--
bool(true)
bool(true)

Warning: Swoole\Http\Response::rawcookie(): The value cannot contain ",", ";", " ", "\t", "\r", "\n", "\013", or "\014" in %s on line %d

Warning: Swoole\Http\Response::rawcookie(): The name cannot contain "=", ",", ";", " ", "\t", "\r", "\n", "\013", or "\014" in %s on line %d
bool(false)
bool(false)

Warning: Swoole\Http\Response::end(): Header may not contain more than a single header, new line detected in %s on line %d
{"connection":"keep-alive","content-length":"5","x-trimmed":"value","server":"swoole-http-server","content-type":"text\/html"} whole
bool(true)
bool(true)

Warning: Swoole\Http\Response::rawcookie(): The value cannot contain %s

Warning: Swoole\Http\Response::rawcookie(): The name cannot contain %s
bool(false)
bool(false)

Warning: Swoole\Http\Response::end(): Header may not contain more than a single header, new line detected in %s on line %d
200
[%s *%d.0]	WARNING	Swoole\WebSocket\Server::push(): A continuation frame cannot stand alone and MUST be preceded by an initial frame whose opcode indicates either text or binary data.
bool(false)
bool(true)
[%s *%d.0]	WARNING	Swoole\WebSocket\Server::push(): All fragments of a message, except for the initial frame, must use the continuation frame opcode(0).
bool(false)
bool(true)
ab
