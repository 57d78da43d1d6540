--TEST--
Coroutine\Http\Server: a handler makes a WebSocket of its request and speaks over it in its own coroutine
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Http\{Client, Server};
use Apus\Http\{Request, Response};
use function Apus\{go, Coroutine\run};

run(function () {
    $before = sockets();
    $server = new Server('127.0.0.1');
    $rooms = $left = [];
    $server->handle('/chat', function (Request $request, Response $ws) use (&$rooms, &$left): void {
        if (!$ws->upgrade()) {
            return;
        }
        $name = $request->get['name'];
        $rooms[$name] = $ws;
        while (true) {
            $frame = $ws->recv();
            if ($frame === '' || $frame === false) {
                break;
            }
            if ($frame->data === 'bye') {
                $ws->close();
                break;
            }
            foreach ($rooms as $other) {
                $other->push("$name: $frame->data");
            }
        }
        unset($rooms[$name]);
        $left[] = $name;
    });
    $server->handle('/', fn($request, $response) => $response->end('plain'));
    $ended = started($server);
    $open = function (string $name) use ($server): Client {
        $client = new Client('127.0.0.1', $server->port);
        $client->set(['timeout' => 20]);
        var_dump($client->upgrade("/chat?name=$name"));
        return $client;
    };
    [$ann, $bob] = [$open('ann'), $open('bob')];
    $ann->push('hello');
    echo $ann->recv()->data, ' | ', $bob->recv()->data, "\n";
    $bob->push(str_repeat('x', 100_000), Apus\WEBSOCKET_OPCODE_BINARY);
    var_dump(strlen($ann->recv()->data), strlen($bob->recv()->data));
    echo get($server->port, '/'), ', ', substr(get($server->port, '/chat?name=none'), 0, 4), "\n";
    $bob->push('bye');
    until(function () use (&$left): bool {
        return $left === ['bob'];
    });
    $bob->close();
    // The server closes what is open when it ends, and the handler ends with it.
    var_dump($server->shutdown());
    $last = $ann->recv();
    var_dump($last === '' || $last === false || $last instanceof Apus\WebSocket\CloseFrame);
    $ann->close();
    var_dump($ended->pop(20), $left, count($rooms));
    unset($ann, $bob, $open, $server, $last);
    until(fn() => Coroutine::stats()['coroutine_num'] === 1);
    until(fn() => sockets() === $before);
    echo "nothing is left\n";
});
?>
--EXPECT--
bool(true)
bool(true)
ann: hello | ann: hello
int(100005)
int(100005)
200 plain, 400 
bool(true)
bool(true)
bool(true)
array(2) {
  [0]=>
  string(3) "bob"
  [1]=>
  string(3) "ann"
}
int(0)
nothing is left
