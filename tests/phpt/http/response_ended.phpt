--TEST--
Response: end() once; what comes later is refused without an error
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

$log = serving(
    function (Apus\Http\Request $request, Apus\Http\Response $response): void {
        static $later = '';
        if ($request->server['request_uri'] === '/later') {
            $response->end($later);
            return;
        }
        $facts = [
            $response->isWritable(),
            $response->end('one'),
            $response->isWritable(),
            $response->end('two'),
            $response->write('three'),
            $response->status(500),
        ];
        $facts = [
            ...$facts,
            $response->header('a', 'b'),
            $response->cookie('a', 'b'),
            $response->sendfile(__FILE__),
            $response->redirect('/'),
            $response->trailer('a', 'b'),
            $response->detach(),
        ];
        $later = json_encode($facts);
    },
    function (Client $client): void {
        $client->show('/');
        echo $client->get('/later'), "\n";
    },
);
echo $log;
?>
--EXPECTF--
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 3

one
[true,true,false,false,false,false,false,false,false,false,false,false]
%s warning: Response::end() is called, but the answer has ended before, and nothing is sent (%s(15))
