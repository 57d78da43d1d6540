<?php
// The contender Apus: server.php CERT KEY (none: in clear).

$server = new Apus\WebSocket\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => 'warning', 'websocket_ping_interval' => 0]);
if ($argc > 2) {
    $server->set(['ssl_cert_file' => $argv[1], 'ssl_key_file' => $argv[2], 'open_http2_protocol' => true]);
}
$large = str_repeat('x', 1 << 20);
$server->on('request', function (Apus\Http\Request $request, Apus\Http\Response $response) use ($large): void {
    $response->end($request->server['request_uri'] === '/large' ? $large : 'hello');
});
$server->on('message', function (Apus\WebSocket\Server $server, Apus\WebSocket\Frame $frame): void {
    $server->push($frame->fd, $frame->data, $frame->opcode);
});
$server->on('start', function (Apus\WebSocket\Server $server): void {
    echo "port $server->port\n";
});
$server->start();
