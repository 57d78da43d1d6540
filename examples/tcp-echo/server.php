<?php

declare(strict_types=1);

// Echoes lines over TCP and datagrams over UDP, on one port: `nc 127.0.0.1 9501`, `nc -u 127.0.0.1 9501`.

use Apus\Server;

$server = new Server('127.0.0.1', (int) ($argv[1] ?? 9501));
$server->set(['open_line_protocol' => true, 'package_max_length' => '64K', 'heartbeat_idle_time' => '5m']);

$server->on('connect', fn (Server $server, int $fd) => $server->send($fd, "hello\n"));
$server->on('receive', fn (Server $server, int $fd, int $workerId, string $line) => $server->send($fd, "$line\n"));

$udp = $server->listen('127.0.0.1', (int) ($argv[2] ?? $server->port), Apus\SOCK_UDP);
$udp->on('packet', fn (Server $server, string $data, array $client) => $server->sendto($client['address'], $client['port'], $data));

$server->start();
