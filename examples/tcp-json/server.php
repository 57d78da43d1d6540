<?php

declare(strict_types=1);

// Calls over TCP: each message is JSON with its length before it (4 bytes, big end first). Several calls of one connection run at
// once, and an answer has the id of its call: client.php shows it.

use Apus\Coroutine;
use Apus\Server;

const FRAMES = ['open_length_check' => true, 'package_length_type' => 'N', 'package_body_offset' => 4, 'package_max_length' => '1M'];

$calls = [
    'add' => fn (int|float ...$numbers) => array_sum($numbers),
    'sleep' => function (float $seconds) {
        Coroutine::sleep(min($seconds, 10));

        return $seconds;
    },
];

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 9502));
$server->set(FRAMES + ['connection_concurrency' => 100]);
$server->on('receive', function (Server $server, int $fd, int $workerId, string $data) use ($calls): void {
    $id = null;
    try {
        ['id' => $id, 'call' => $call, 'args' => $args] = json_decode(substr($data, 4), true, 32, JSON_THROW_ON_ERROR);
        $function = $calls[$call] ?? throw new InvalidArgumentException("there is no call \"$call\"");
        $answer = ['id' => $id, 'result' => $function(...$args)];
    } catch (Throwable $error) {
        $answer = ['id' => $id, 'error' => $error->getMessage()];
    }
    $json = json_encode($answer);
    $server->send($fd, pack('N', strlen($json)) . $json);
});
$server->start();
