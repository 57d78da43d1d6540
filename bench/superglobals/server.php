<?php

declare(strict_types=1);

// What the setting `superglobals` costs: php server.php off|on CASE N; the last line is JSON. One worker answers N requests of a process
// that has 16 connections, and says what CPU time it took.

namespace Bench;

use Apus\Coroutine;
use Apus\Http\{Request, Response, Server};
use Apus\Process;

const CONNECTIONS = 16;
/** Switches to another coroutine and back in one request of the case `switches`. */
const PAIRS = 100;

[, $setting, $case, $count] = $argv;
$count = (int) $count;
$server = new Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'superglobals' => $setting === 'on', 'log_level' => 5, 'log_file' => '/dev/null']);
$server->on('request', static function (Request $request, Response $response) use ($setting, $case): void {
    if ($request->server['path_info'] === '/cpu') {
        $used = getrusage();
        $response->end((string) json_encode(($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) * 1e6 + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']));
        return;
    }
    switch ($case) {
        case 'read':
            $response->end('hello ' . ($setting === 'on' ? $_GET['name'] : $request->get['name']));
            return;
        case 'wait':
            Coroutine::sleep(0);
            break;
        case 'switches':
            $other = \Apus\go(static function (): void {
                for ($i = 0; $i < PAIRS; $i++) {
                    Coroutine::yield();
                }
            });
            for ($i = 0; $i < PAIRS; $i++) {
                Coroutine::resume($other);
            }
    }
    $response->end('hello swift');
});
$server->addProcess(new Process(static function () use ($server, $count): void {
    load($server->port, intdiv($count, 10));
    [$before, $began] = [cpu($server->port), hrtime(true)];
    $wrong = load($server->port, $count);
    $wall = (hrtime(true) - $began) / 1e9;
    fwrite(STDOUT, json_encode(['requests_s' => $count / $wall, 'cpu_us' => (cpu($server->port) - $before) / $count, 'wrong' => $wrong]) . "\n");
    $server->shutdown();
}, false, 0, true));
$server->start();

/** Asks so many times, each connection one request after the other; how many answers were wrong. */
function load(int $port, int $count): int
{
    $wrong = 0;
    $clients = [];
    for ($i = 0; $i < CONNECTIONS; $i++) {
        $clients[] = \Apus\go(static function () use ($port, $count, $i, &$wrong): void {
            $socket = stream_socket_client("tcp://127.0.0.1:$port");
            for ($n = $i; $n < $count; $n += CONNECTIONS) {
                fwrite($socket, "GET /?name=swift HTTP/1.1\r\nHost: localhost\r\nCookie: a=1; b=2\r\n\r\n");
                $wrong += str_ends_with((string) fread($socket, 4096), "\r\n\r\nhello swift") ? 0 : 1;
            }
        });
    }
    Coroutine::join($clients);
    return $wrong;
}

/** User and system time of the worker in microseconds. */
function cpu(int $port): float
{
    $socket = stream_socket_client("tcp://127.0.0.1:$port");
    fwrite($socket, "GET /cpu HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return (float) substr((string) strrchr((string) stream_get_contents($socket), "\n"), 1);
}
