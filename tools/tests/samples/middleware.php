<?php
// Within the script of a server that calls the functions of $middleware around its handler.
$server = new Apus\Http\Server('127.0.0.1', 8090);
$server->set(['worker_num' => 1]);
$middleware = [];
// the sample
$handler = fn ($request, $response) => $response->end('plain');
foreach (array_reverse($middleware) as $around) {
    $handler = fn ($request, $response) => $around($request, $response, $handler);
}
$server->on('request', $handler);
$server->start();
