<?php
// Within the script of a server, between new and start().
require SAMPLES_DIRECTORY . '/application.php';
$server = new Apus\WebSocket\Server('127.0.0.1', 8090);
$server->set(['worker_num' => 1, 'task_worker_num' => 1]);
$server->on('request', fn ($request, $response) => $response->end('plain'));
$server->on('message', fn ($server, $frame) => null);
$server->on('task', fn ($server, $id, $worker, $data) => null);
// the sample
$server->start();
