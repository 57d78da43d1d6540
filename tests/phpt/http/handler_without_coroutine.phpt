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
        if ($request->server['request_uri'] === '/wait') {
            Apus\Coroutine::suspend();
        }
        if ($request->server['request_uri'] === '/forget') {
            return;
        }
        $response->end(json_encode(['cid' => Apus\Coroutine::getCid(), 'post' => $request->post]));
    },
    function (Client $client): void {
        $client->show('-d', 'a=b', '/');
        echo $client->get('/write'), "\n";
        $client->show('/throw');
        echo strtok($client->get('/wait'), "\n"), "\n", strtok($client->get('/forget'), "\n"), "\n";
        echo $client->get('/'), "\n";
    },
    ['enable_coroutine' => false],
);
echo preg_match('/error: uncaught LogicException: thrown on the main stack/', $log) ? "logged\n" : $log;
echo preg_match('/handler of a request ended without Response::end.*handler_without_coroutine/', $log) ? "logged\n" : $log;
?>
--EXPECT--
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 27

{"cid":-1,"post":{"a":"b"}}
ab
HTTP/1.1 500 Internal Server Error
Server: apus
Content-Type: text/plain; charset=UTF-8
Content-Length: 26

500 Internal Server Error
500 Internal Server Error
500 Internal Server Error
{"cid":-1,"post":null}
logged
logged
