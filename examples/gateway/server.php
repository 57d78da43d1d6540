<?php

declare(strict_types=1);

// A push gateway: the back end tells, the browser does not poll. `make gateway` starts it; README.md says how it is used.

namespace Apus\Gateway;

use Apus\Http\Request;
use Apus\Http\Response;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

require_once __DIR__ . '/src/Config.php';
require_once __DIR__ . '/src/ConfigError.php';

try {
    $config = Config::load(require __DIR__ . '/config.php', getenv());
    $server = new Server($config->text('host'), $config->number('port'));
    $inner = $server->listen($config->text('inner_host'), $config->number('inner_port'), \Apus\SOCK_TCP);
    $lines = $server->listen($config->text('inner_host'), $config->number('line_port'), \Apus\SOCK_TCP);
} catch (ConfigError | \Apus\Server\Exception $error) {
    fwrite(STDERR, "the gateway cannot start:\n{$error->getMessage()}\n");
    exit(1);
}

$server->set([
    'process_title' => 'apus-gateway',
    'max_connection' => $config->number('max_connections'),
    'package_max_length' => $config->number('max_message'),
    'log_file' => $config->text('log_file'),
    'broker' => $config->text('broker'),
    'broker_prefix' => $config->text('broker_prefix'),
    // A browser that does not read is closed; it comes back, and gets what it has not acknowledged.
    'send_policy' => 'close',
    'buffer_output_size' => $config->number('send_buffer'),
    'websocket_ping_interval' => $config->number('ping_interval'),
    'websocket_ping_timeout' => $config->number('ping_timeout'),
    // Answers come in the order of the questions.
    'connection_concurrency' => 1,
]);
if ($config->number('workers') > 0) {
    $server->set(['worker_num' => $config->number('workers')]);
}
$lines->set(['open_http_protocol' => false, 'open_websocket_protocol' => false, 'open_eof_split' => true, 'package_eof' => "\n"]);

$server->on('start', function () use ($server, $inner, $lines, $config): void {
    $host = static fn (string $host): string => in_array($host, ['0.0.0.0', '::'], true) ? '127.0.0.1' : $host;
    [$outer, $pushed] = [$host($server->host), $host($inner->host)];
    echo "\n  The page           http://$outer:$server->port/", $config->on('development') ? '?user=tester01' : '?token=…', "\n";
    echo "  Push, JSON lines   tcp://$pushed:$lines->port\n";
    echo "  Push, HTTP         http://$pushed:$inner->port/push   (also ws://, and /stats)\n\n";
    if ($config->on('development')) {
        echo "  Development mode: a browser is whoever it says it is. Set GATEWAY_SECRET for tokens.\n\n";
    }
});

// Loaded in each worker, so that `apus reload` brings changes in.
$worker = new \stdClass;
$server->on('workerstart', function () use ($server, $config, $worker): void {
    require_once __DIR__ . '/src/autoload.php';
    $worker->gateway = new Gateway($server, $config);
});
$server->on('workerexit', fn () => $worker->gateway->leave());
$server->on('pipemessage', fn (Server $server, int $from, mixed $message) => $worker->gateway->pipeMessage($from, $message));

// Browsers.
$server->on('request', fn (Request $request, Response $response) => $worker->gateway->page($request, $response));
$server->on('handshake', fn (Request $request, Response $response) => $worker->gateway->handshake($request, $response));
$server->on('open', fn (Server $server, Request $request) => $worker->gateway->open($request));
$server->on('message', fn (Server $server, Frame $frame) => $worker->gateway->message($frame));
$server->on('close', fn (Server $server, int $fd) => $worker->gateway->close($fd));

// Programs that push by HTTP or WebSocket.
$inner->on('request', fn (Request $request, Response $response) => $worker->gateway->inner($request, $response));
$inner->on('handshake', fn (Request $request, Response $response) => $worker->gateway->programHandshake($request, $response));
$inner->on('open', fn (Server $server, Request $request) => $worker->gateway->programOpen($request));
$inner->on('message', fn (Server $server, Frame $frame) => $worker->gateway->programMessage($frame));
$inner->on('close', fn (Server $server, int $fd) => $worker->gateway->programClose($fd));

// Programs that push by lines of JSON over TCP.
$lines->on('receive', fn (Server $server, int $fd, int $from, string $data) => $worker->gateway->line($fd, $data));
$lines->on('close', fn (Server $server, int $fd) => $worker->gateway->lineClose($fd));

$server->start();
