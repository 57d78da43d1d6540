<?php
// Within the script of a server that $router answers.
$server = new Apus\Http\Server('127.0.0.1', 8090);
$server->set(['worker_num' => 1]);
$router = new Apus\Http\Router();
// the sample
$server->on('request', $router);
$server->start();
