--TEST--
Coroutine\Http\Server: requests and responses are those of Apus\Http\Server; a handler that waits lets others go on
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Channel;
use Apus\Coroutine\Http\Client;
use Apus\Coroutine\Http\Server;
use Apus\Http\{Request, Response};
use function Apus\{go, Coroutine\run};

run(function () {
    $server = new Server('127.0.0.1');
    $released = new Channel(1);
    $sent = new Channel(1);
    $server->handle('/slow', function (Request $request, Response $response) use ($released): void {
        $response->end('slow after ' . $released->pop(20));
    });
    $server->handle('/fast', function (Request $request, Response $response) use ($released): void {
        $response->end('fast');
        // The answer has left; the handler goes on.
        Coroutine::sleep(0.001);
        $released->push('fast');
    });
    $server->handle('/form', function (Request $request, Response $response): void {
        $response->status(201);
        $response->header('X-Method', $request->getMethod());
        $response->cookie('seen', 'yes');
        $response->end(json_encode([$request->get, $request->post, $request->cookie, $request->header['x-one']]));
    });
    $server->handle('/parts', function (Request $request, Response $response): void {
        foreach (['one', 'two', 'three'] as $part) {
            $response->write("$part,");
            Coroutine::sleep(0.001);
        }
        $response->end('end');
    });
    $server->handle('/file', fn(Request $request, Response $response) => $response->sendfile(__FILE__, 0, 5));
    $server->handle('/later', function (Request $request, Response $response) use ($sent): void {
        $fd = $response->fd;
        $response->detach();
        go(function () use ($fd, $sent): void {
            Coroutine::sleep(0.001);
            $response = Response::create($fd);
            $sent->push($response instanceof Response && $response->end('from elsewhere'));
        });
    });
    $ended = started($server);
    $order = new Channel(2);
    foreach (['/slow', '/fast'] as $path) {
        go(fn() => $order->push(get($server->port, $path)));
    }
    echo $order->pop(20), "\n", $order->pop(20), "\n";

    $client = new Client('127.0.0.1', $server->port);
    $client->setHeaders(['X-One' => '1']);
    $client->setCookies(['a' => 'b']);
    $client->post('/form?q[]=1', ['x' => ['y' => 'z']]);
    echo $client->statusCode, ' ', $client->body, ' ', $client->headers['x-method'], ' ', $client->set_cookie_headers[0], "\n";
    $client->get('/parts');
    echo $client->headers['transfer-encoding'], ' ', $client->body, "\n";
    $client->get('/file');
    echo $client->headers['content-length'], ' ', $client->body, "\n";
    $client->get('/later');
    echo $client->body, ' ';
    var_dump($sent->pop(20));
    var_dump($client->connected);
    $client->close();
    var_dump($server->shutdown(), $ended->pop(20));
});
?>
--EXPECT--
200 fast
200 slow after fast
201 [{"q":["1"]},{"x":{"y":"z"}},{"a":"b"},"1"] POST seen=yes; path=/
chunked one,two,three,end
5 <?php
from elsewhere bool(true)
bool(true)
bool(true)
bool(true)
