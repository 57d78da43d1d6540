<?php

declare(strict_types=1);

// Three calls of examples/tcp-json at once over one connection; the quick ones do not wait for the slow one.

use Apus\Coroutine\Client;

use function Apus\Coroutine\run;

run(function () use ($argv): void {
    $client = new Client(Apus\SOCK_TCP);
    $client->set(['open_length_check' => true, 'package_length_type' => 'N', 'package_body_offset' => 4]);
    $client->connect('127.0.0.1', (int) ($argv[1] ?? 9502), 5) || exit("no server\n");
    $calls = [['sleep', [0.2]], ['add', [1, 2, 3]], ['nothing', []]];
    foreach ($calls as $id => [$call, $args]) {
        $json = json_encode(['id' => $id, 'call' => $call, 'args' => $args]);
        $client->send(pack('N', strlen($json)) . $json);
    }
    foreach ($calls as $ignored) {
        echo substr((string) $client->recv(5), 4), "\n";
    }
});
