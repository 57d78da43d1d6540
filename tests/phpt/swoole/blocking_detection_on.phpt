--TEST--
swoole.blocking_detection=On: whether a worker that is kept busy is named in the log
--INI--
apus.swoole_compat=1
swoole.blocking_detection=On
swoole.blocking_threshold=20000
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1]);
$server->on('request', function ($request, $response) use ($server) {
    for ($end = hrtime(true) + 300_000_000; hrtime(true) < $end;);
    $response->end();
    $server->shutdown();
});
$server->on('workerstart', function () use ($server) {
    go(fn () => file_get_contents("http://127.0.0.1:$server->port/"));
});
var_dump($server->start());
?>
--EXPECTF--
%A has kept its worker busy for %A
bool(true)
