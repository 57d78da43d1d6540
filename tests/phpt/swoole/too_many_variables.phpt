--TEST--
Swoole\Http\Request: the log tells of variables beyond max_input_vars, once for each kind, when one is first looked at
--INI--
apus.swoole_compat=1
max_input_vars=3
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1]);
$server->on('workerstart', fn () => go(function () use ($server) {
    foreach ([['a=1&b=2&c=3', 'a=1', 'a=1'], ['a=1&b=2&c=3&d=4', 'a=1', 'a=1; b=2; c=3; d=4']] as [$query, $form, $cookies]) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->setHeaders(['cookie' => $cookies, 'content-type' => 'application/x-www-form-urlencoded']);
        $client->post("/?$query", $form);
        echo $client->body, "\n";
    }
    $server->shutdown();
}));
$server->on('request', function ($request, $response) {
    $response->end(count($request->get) . count($request->post) . count($request->cookie));
});
$server->start();
?>
--EXPECTF--
311
[%s]	WARNING	Input variables exceeded 3. To increase the limit change max_input_vars in php.ini.
[%s]	WARNING	Input variables exceeded 3. To increase the limit change max_input_vars in php.ini.
313
