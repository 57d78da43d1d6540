--TEST--
Server: enable_coroutine=false runs handlers on the main stack, one at a time
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$log = serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        if ($request->server['request_uri'] === '/throw') {
            throw new LogicException('thrown on the main stack');
        }
        if ($request->server['request_uri'] === '/write') {
            $response->write('a');
            $response->write('b');
            $response->end();
            return;
        }
        $response->end(json_encode(['cid' => Apus\Coroutine::getCid(), 'post' => $request->post]));
    },
    function (Client $client): void {
        $client->show('-d', 'a=b', '/');
        echo $client->get('/write'), "\n";
        $client->show('/throw');
        echo $client->get('/'), "\n";
    },
    ['enable_coroutine' => false],
);
echo preg_match('/LogicException.*thrown on the main stack/', $log) ? "logged\n" : $log;
?>
--EXPECT--
