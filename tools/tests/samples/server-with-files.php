<?php
// Within the script of a server that has a file src/app.php beside it.
$server = new Apus\Http\Server('127.0.0.1', 8090);
$server->set(['worker_num' => 1]);
@mkdir(__DIR__ . '/src');
file_put_contents(__DIR__ . '/src/app.php', "<?php\n");
// the sample
$server->on('request', fn ($request, $response) => $response->end('plain'));
$server->start();
