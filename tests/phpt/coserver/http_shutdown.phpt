--TEST--
Coroutine\Http\Server: shutdown() lets requests end that have begun, for max_wait_time; nothing is left behind
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Channel;
use Apus\Coroutine\Http\{Client, Server};
use function Apus\{go, Coroutine\run};

run(function () {
    $before = sockets();
    $begun = new Channel(10);
    $release = new Channel(10);
    $handler = function ($request, $response) use ($begun, $release): void {
        $begun->push(true);
        try {
            $response->end('released: ' . $release->pop(20));
        } catch (Coroutine\CanceledException $e) {
            echo "cancelled\n";
            throw $e;
        }
    };
    $server = new Server('127.0.0.1');
    $server->handle('/', $handler);
    var_dump($server->shutdown());
    $ended = started($server);
    $answers = new Channel(10);
    for ($i = 0; $i < 3; $i++) {
        go(fn() => $answers->push(get($server->port, '/')));
        $begun->pop(20);
    }
    // One client leaves; its handler is waited for, too.
    $gone = new Client('127.0.0.1', $server->port);
    $gone->setDefer();
    $gone->get('/');
    $begun->pop(20);
    $gone->close();
    var_dump($server->shutdown(), $server->shutdown());
    echo get($server->port, '/'), "\n";
    var_dump($ended->isEmpty());
    for ($i = 0; $i < 4; $i++) {
        $release->push($i);
    }
    for ($i = 0; $i < 3; $i++) {
        echo $answers->pop(20), "\n";
    }
    var_dump($ended->pop(20), $server->fd);

    echo "-- what takes too long is cut\n";
    $server = new Server('127.0.0.1');
    $server->set(['max_wait_time' => 0.02]);
    $server->handle('/', $handler);
    $ended = started($server);
    go(fn() => $answers->push(get($server->port, '/')));
    $begun->pop(20);
    $server->shutdown();
    echo $answers->pop(20), "\n";
    var_dump($ended->pop(20));

    echo "-- start() is cancelled\n";
    foreach ([false, true] as $throw) {
        $server = new Server('127.0.0.1');
        $server->handle('/', $handler);
        $id = go(function () use ($server): void {
            try {
                var_dump($server->start(), $server->errCode, $server->errMsg);
            } catch (Coroutine\CanceledException) {
                echo "start() threw\n";
            }
        });
        go(fn() => $answers->push(get($server->port, '/')));
        $begun->pop(20);
        Coroutine::cancel($id, $throw);
        Coroutine::join([$id]);
        echo $answers->pop(20), "\n";
    }

    unset($server, $gone);
    until(fn() => Coroutine::stats()['coroutine_num'] === 1);
    until(fn() => sockets() === $before);
    echo "nothing is left\n";
});
?>
--EXPECT--
bool(false)
bool(true)
bool(false)
error 111
bool(true)
200 released: 0
200 released: 1
200 released: 2
bool(true)
int(-1)
-- what takes too long is cut
cancelled
error 104
bool(true)
-- start() is cancelled
bool(false)
int(125)
string(33) "Operation canceled (os error 125)"
cancelled
error 104
start() threw
cancelled
error 104
nothing is left
