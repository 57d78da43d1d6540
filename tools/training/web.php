<?php

declare(strict_types=1);

// What a web server does all day: pages of HTTP/1.1 and HTTP/2, with TLS and without, forms, files, WebSocket, tasks.
// usage: apus run web.php SCRATCH

use Apus\Coroutine;
use Apus\Coroutine\Http\Client;
use Apus\Coroutine\Http2;
use Apus\Http\Request;
use Apus\Http\Response;
use Apus\Process;
use Apus\WebSocket\Frame;
use Apus\WebSocket\Server;

const CONNECTIONS = 32;

[, $scratch] = $argv;

/** A certificate that signed itself, and its key. */
function certificate(string $scratch): array
{
    $key = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
    $request = openssl_csr_new(['commonName' => 'localhost'], $key, ['digest_alg' => 'sha256']);
    $certificate = openssl_csr_sign($request, null, $key, 1, ['digest_alg' => 'sha256']);
    openssl_x509_export_to_file($certificate, "$scratch/cert.pem");
    openssl_pkey_export_to_file($key, "$scratch/key.pem");

    return ['ssl_cert_file' => "$scratch/cert.pem", 'ssl_key_file' => "$scratch/key.pem"];
}

$server = new Server('127.0.0.1', 0);
$server->set([
    'worker_num' => 1,
    'task_worker_num' => 1,
    'document_root' => $scratch,
    'enable_static_handler' => true,
    'open_http2_protocol' => true,
    'websocket_compression' => true,
    'log_level' => 'error',
]);
// A PHP without OpenSSL makes no certificate: TLS is compiled by rules of thumb then.
$secure = null;
if (extension_loaded('openssl')) {
    $secure = $server->listen('127.0.0.1', 0, Apus\SOCK_TCP | Apus\SSL);
    $secure->set(certificate($scratch) + ['open_http2_protocol' => true]);
}

$items = array_map(fn (int $id): array => ['id' => $id, 'name' => "item $id", 'active' => $id % 2 === 0], range(0, 99));

$server->on('request', function (Request $request, Response $response) use ($server, $items, $scratch): void {
    switch ($request->server['request_uri']) {
        case '/hello':
            $response->header('Content-Type', 'text/plain');
            $response->end('Hello, World!');
            break;
        case '/list':
            $response->header('Content-Type', 'application/json');
            $response->end(json_encode($items));
            break;
        case '/form':
            $response->cookie('seen', (string) ($request->cookie['seen'] ?? 0));
            $response->end(implode(',', array_keys(($request->get ?? []) + ($request->post ?? []))));
            break;
        case '/json':
            $response->status(201);
            $response->end((string) $request->json()['id']);
            break;
        case '/upload':
            file_put_contents("$scratch/upload", $request->rawContent());
            $response->end((string) filesize("$scratch/upload"));
            break;
        case '/pieces':
            for ($piece = 0; $piece < 4; $piece++) {
                $response->write(str_repeat('x', 2000));
            }
            $response->end();
            break;
        case '/wait':
            Coroutine::sleep(0.001);
            $response->end('waited');
            break;
        case '/task':
            $response->end((string) $server->taskWait([1, 2, 3]));
            break;
        default:
            $response->status(404);
            $response->end();
    }
});
$server->on('open', function (Server $server, Request $request): void {
    $server->subscribe($request->fd, 'all');
});
$server->on('message', function (Server $server, Frame $frame): void {
    if (str_starts_with($frame->data, 'all:')) {
        $server->publish('all', $frame->data);
    } else {
        $server->push($frame->fd, $frame->data, $frame->opcode);
    }
});
$server->on('task', fn (Server $server, int $id, int $from, array $numbers): int => array_sum($numbers));

function check(bool $right, string $what): void
{
    $right || throw new RuntimeException($what);
}

/** Requests over a connection that is kept. */
function requests(int $port, bool $tls, array $settings, array $heads, array $calls, int $rounds): void
{
    Coroutine\parallel(CONNECTIONS, function () use ($port, $tls, $settings, $heads, $calls, $rounds): void {
        $client = new Client('127.0.0.1', $port, $tls);
        $client->set(['timeout' => 30, 'ssl_verify_peer' => false] + $settings);
        for ($round = 0; $round < $rounds; $round++) {
            foreach ($calls as $path => $body) {
                $client->setHeaders($heads);
                $body === null ? $client->get($path) : $client->post($path, $body);
                $right = in_array($client->statusCode, [200, 201], true);
                check($right, "$path was answered $client->statusCode $client->errMsg");
            }
        }
    });
}

function streams(int $port, int $rounds): void
{
    $client = new Http2\Client('127.0.0.1', $port, true);
    $client->set(['timeout' => 30, 'ssl_verify_peer' => false]);
    $client->connect() || check(false, $client->errMsg);
    for ($round = 0; $round < $rounds; $round++) {
        for ($stream = 0; $stream < 16; $stream++) {
            $request = new Apus\Http2\Request();
            $request->path = $stream % 4 === 0 ? '/list' : '/hello';
            $request->headers = ['accept-encoding' => 'gzip', 'user-agent' => 'training'];
            $client->send($request);
        }
        for ($stream = 0; $stream < 16; $stream++) {
            $answer = $client->recv();
            check($answer !== false && $answer->statusCode === 200, "HTTP/2: $client->errMsg");
        }
    }
    $client->close();
}

function messages(int $port, bool $deflate, int $rounds): void
{
    $last = 0;
    Coroutine\parallel(CONNECTIONS, function () use ($port, $deflate, $rounds, &$last): void {
        $client = new Client('127.0.0.1', $port);
        $client->set(['timeout' => 30, 'websocket_compression' => $deflate]);
        check($client->upgrade('/'), "WebSocket: $client->errMsg");
        $mine = ++$last;
        for ($round = 0; $round < $rounds; $round++) {
            $client->push("$mine: message number $round");
            do {
                $frame = $client->recv();
                check($frame instanceof Frame, "WebSocket: $client->errMsg");
            } while (str_starts_with($frame->data, 'all:'));
            if ($round % 50 === 0) {
                $client->push('all: news');
            }
        }
        $client->close();
    });
}

$server->addProcess(new Process(function () use ($server, $secure, $scratch): void {
    try {
        file_put_contents("$scratch/page.html", str_repeat('<p>A page that is a file.</p>', 500));
        $browser = ['User-Agent' => 'Mozilla/5.0', 'Accept' => 'text/html', 'Cookie' => 'seen=7'];
        $zipped = ['Accept-Encoding' => 'gzip, br'] + $browser;
        $json = ['Content-Type' => 'application/json'];
        $form = ['name' => 'Ann', 'text' => 'äöü & more', 'list[1]' => 'x'];
        requests($server->port, false, [], [], ['/hello' => null], 1000);
        requests($server->port, false, [], $browser, ['/hello' => null, '/list' => null], 100);
        requests($server->port, false, [], $browser, ['/form?a=1&b=two' => null, '/form' => $form], 100);
        requests($server->port, false, [], $zipped, ['/list' => null, '/page.html' => null], 40);
        requests($server->port, false, [], $zipped, ['/pieces' => null, '/wait' => null], 40);
        requests($server->port, false, [], $json, ['/json' => '{"id": 1, "kind": "click"}'], 100);
        requests($server->port, false, [], [], ['/upload' => str_repeat('u', 300_000)], 10);
        requests($server->port, false, ['keep_alive' => false], $browser, ['/hello' => null], 50);
        requests($server->port, false, [], [], ['/task' => null], 50);
        if ($secure !== null) {
            requests($secure->port, true, [], $browser, ['/hello' => null, '/list' => null], 100);
            requests($secure->port, true, ['keep_alive' => false], $browser, ['/hello' => null], 5);
            streams($secure->port, 100);
        }
        messages($server->port, false, 500);
        messages($server->port, true, 50);
    } catch (Throwable $error) {
        fwrite(STDERR, $error->getMessage() . "\n");
        file_put_contents("$scratch/failed", '');
    }
    $server->shutdown();
    Coroutine::sleep(600);
}, false, 0, true));

$server->start();
exit(is_file("$scratch/failed") ? 1 : 0);
