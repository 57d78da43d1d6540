<?php

declare(strict_types=1);

// Messages over TCP with their length before them and with an end behind them, datagrams, and what one worker sends to
// another.
// usage: apus run streams.php SCRATCH

use Apus\Coroutine;
use Apus\Coroutine\Client;
use Apus\Process;
use Apus\Server;

const CONNECTIONS = 16;
const BY_LENGTH = ['open_length_check' => true, 'package_length_type' => 'N', 'package_body_offset' => 4];
const BY_END = ['open_eof_split' => true, 'package_eof' => "\n"];

[, $scratch] = $argv;

$server = new Server('127.0.0.1', 0);
$server->set(BY_LENGTH + ['worker_num' => 2, 'log_level' => 'error']);
$lines = $server->listen('127.0.0.1', 0, Apus\SOCK_TCP);
$lines->set(['open_length_check' => false] + BY_END);
$datagrams = $server->listen('127.0.0.1', 0, Apus\SOCK_UDP);

$server->on('receive', function (Server $server, int $fd, int $from, string $data): void {
    $server->send($fd, $data);
    if (str_ends_with($data, 'tell')) {
        $server->sendMessage('news', 1 - $server->worker_id);
    }
});
$server->on('packet', function (Server $server, string $data, array $client): void {
    $server->sendto($client['address'], $client['port'], $data);
});
$server->on('pipeMessage', fn (Server $server, int $from, mixed $data): string => $data);

/** Each of some connections asks again and again, and awaits what it has sent. */
function conversations(int $type, int $port, array $settings, callable $message, int $rounds): void
{
    Coroutine\parallel(CONNECTIONS, function () use ($type, $port, $settings, $message, $rounds): void {
        $client = new Client($type);
        $client->set(['timeout' => 30] + $settings);
        $client->connect('127.0.0.1', $port) || throw new RuntimeException("connect: $client->errMsg");
        for ($round = 0; $round < $rounds; $round++) {
            $client->send($message($round));
            $client->recv() === $message($round) || throw new RuntimeException("recv: $client->errMsg");
        }
        $client->close();
    });
}

$server->addProcess(new Process(function () use ($server, $lines, $datagrams, $scratch): void {
    try {
        $counted = function (int $round): string {
            $text = "message $round " . ($round % 20 === 0 ? 'tell' : 'on');

            return pack('N', strlen($text)) . $text;
        };
        conversations(Apus\SOCK_TCP, $server->port, BY_LENGTH, $counted, 300);
        $line = fn (int $round): string => "message $round\n";
        conversations(Apus\SOCK_TCP, $lines->port, BY_END, $line, 300);
        conversations(Apus\SOCK_UDP, $datagrams->port, [], $line, 100);
    } catch (Throwable $error) {
        fwrite(STDERR, $error->getMessage() . "\n");
        file_put_contents("$scratch/failed", '');
    }
    $server->shutdown();
    Coroutine::sleep(600);
}, false, 0, true));

$server->start();
exit(is_file("$scratch/failed") ? 1 : 0);
