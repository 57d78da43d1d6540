<?php

declare(strict_types=1);

// What small requests wait beside one that computes: php server.php off|on CASE N; the last line is JSON. One worker answers N small
// requests of another process, one every PAUSE seconds, whether or not those before it were answered. A latency begins when its request
// was to be sent.

namespace Bench;

use Apus\Coroutine;
use Apus\Http\{Request, Response, Server};
use Apus\Process;

const PAUSE = 0.002;
/** What the request computes, in nanoseconds. */
const COMPUTES = 1_000_000_000;

[, $setting, $case, $count] = $argv;
$count = (int) $count;
$server = new Server('127.0.0.1', 0);
$server->set([
    'worker_num' => 1,
    'enable_preemptive_scheduler' => $setting === 'on',
    'blocked_loop_warn' => 0,
    'log_level' => 5,
    'log_file' => '/dev/null',
]);
$server->on('request', static function (Request $request, Response $response): void {
    if ($request->server['path_info'] === '/compute') {
        for ($end = hrtime(true) + COMPUTES, $sum = 0, $i = 0; hrtime(true) < $end; $i++) {
            $sum += $i % 7;
        }
        $response->end((string) $sum);
        return;
    }
    $response->end('hello swift');
});
$server->addProcess(new Process(static function () use ($server, $case, $count): void {
    $latencies = [];
    $wrong = 0;
    $clients = [];
    $begin = hrtime(true);
    for ($n = 0; $n < $count; $n++) {
        $due = $begin + (int) ($n * PAUSE * 1e9);
        if ($due > hrtime(true)) {
            Coroutine::sleep(($due - hrtime(true)) / 1e9);
        }
        if ($case === 'beside' && $n === intdiv($count, 4)) {
            $clients[] = \Apus\go(static fn() => ask($server->port, '/compute'));
        }
        $clients[] = \Apus\go(static function () use ($server, $due, &$latencies, &$wrong): void {
            $wrong += str_ends_with(ask($server->port, '/'), "\r\n\r\nhello swift") ? 0 : 1;
            $latencies[] = hrtime(true) - $due;
        });
    }
    Coroutine::join($clients);
    sort($latencies);
    $at = static fn(float $part): float => $latencies[(int) ($part * (count($latencies) - 1))] / 1e3;
    fwrite(STDOUT, json_encode(['p50_us' => $at(0.5), 'p99_us' => $at(0.99), 'max_us' => $at(1), 'wrong' => $wrong]) . "\n");
    $server->shutdown();
}, false, 0, true));
$server->start();

function ask(int $port, string $path): string
{
    $socket = stream_socket_client("tcp://127.0.0.1:$port");
    fwrite($socket, "GET $path HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return (string) stream_get_contents($socket);
}
