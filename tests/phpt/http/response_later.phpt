--TEST--
Response: outlives its handler; answered from a coroutine, a timer, another request, and by detach() and create()
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\Http\Response;

$waiting = null;
serving(
    function (Apus\Http\Request $request, Response $response) use (&$waiting): void {
        $fd = $response->fd;
        switch ($request->server['request_uri']) {
            case '/coroutine':
                Apus\go(function () use ($response): void {
                    Apus\Coroutine::sleep(0.01);
                    $response->end('from a coroutine');
                });
                return;
            case '/timer':
                Apus\Timer::after(10, fn () => $response->end('from a timer'));
                return;
            case '/detach':
                $facts = [$response->detach(), $response->detach(), $response->isWritable()];
                Apus\go(function () use ($fd, $facts): void {
                    Apus\Coroutine::sleep(0.01);
                    $again = Response::create($fd);
                    $again->header('X-Created', 'yes');
                    $again->end(json_encode([...$facts, $again->fd === $fd]));
                });
                return;
            case '/detached-use':
                $response->detach();
                ob_start();
                attempt(fn () => $response->end('x'));
                attempt(fn () => $response->write('x'));
                attempt(fn () => $response->status(201));
                Response::create(null, $fd)->end(ob_get_clean());
                return;
            case '/create-nothing':
                $other = json_encode([
                    Response::create(0),
                    Response::create(-1),
                    Response::create(PHP_INT_MAX),
                    Response::create(null),
                ]);
                $response->end($other);
                return;
            case '/create-ended':
                $response->end('ended');
                $waiting = Response::create($fd);
                return;
            case '/created':
                $response->end(var_export($waiting, true));
                $waiting = null;
                return;
            case '/wait':
                $waiting = $response;
                return;
            case '/wake':
                // The request that waits may come second.
                while ($waiting === null) {
                    Apus\Coroutine::sleep(0.001);
                }
                $waiting->end('woken by another request');
                $waiting = null;
                $response->end('woke it');
                return;
        }
    },
    function (Client $client): void {
        foreach (['/coroutine', '/timer', '/detach', '/detached-use', '/create-nothing', '/create-ended', '/created'] as $path) {
            echo "== $path\n";
            $client->show($path);
        }
        echo "== /wait and /wake\n";
        $first = stream_socket_client("tcp://127.0.0.1:$client->port");
        fwrite($first, "GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        echo $client->get('/wake'), "\n";
        echo plain(stream_get_contents($first)), "\n";
    },
);
?>
--EXPECT--
== /coroutine
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 16

from a coroutine
== /timer
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 12

from a timer
== /detach
HTTP/1.1 200 OK
Server: apus
X-Created: yes
Content-Type: text/html; charset=UTF-8
Content-Length: 23

[true,false,false,true]
== /detached-use
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 174

Apus\Http\Exception 208: this response was detached and answers nothing any more
Apus\Http\Exception 208: this response was detached and answers nothing any more
bool(false)
== /create-nothing
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 25

[false,false,false,false]
== /create-ended
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 5

ended
== /created
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 5

false
== /wait and /wake
woke it
HTTP/1.1 200 OK
Server: apus
Content-Type: text/html; charset=UTF-8
Content-Length: 24
Connection: close

woken by another request
