--TEST--
Coroutine\Server and Coroutine\Http\Server: made, used and ended many times, they leave neither memory nor descriptors behind
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine;
use Apus\Coroutine\Http\Client;
use Apus\Coroutine\Socket;
use function Apus\Coroutine\run;

function cycle(): void
{
    $web = new Coroutine\Http\Server('127.0.0.1');
    $raw = new Coroutine\Server('127.0.0.1');
    // Handlers hold their servers, as they do in programs.
    $web->handle('/', function ($request, $response) use ($web): void {
        $response->header('X-Port', (string) $web->port);
        $response->end(str_repeat('x', 1000));
    });
    $raw->handle(function ($connection) use ($raw): void {
        $connection->send($connection->recv() . $raw->port);
    });
    $ended = [started($web), started($raw)];
    $client = new Client('127.0.0.1', $web->port);
    $client->set(['timeout' => 20, 'keep_alive' => false]);
    $client->get('/');
    $socket = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $socket->connect('127.0.0.1', $raw->port);
    $socket->sendAll('port ');
    if (strlen($client->body) !== 1000 || $socket->recv() !== "port $raw->port") {
        echo "no answer\n";
    }
    $client->close();
    $socket->close();
    if (!$web->shutdown() || !$raw->shutdown() || !$ended[0]->pop(20) || !$ended[1]->pop(20)) {
        echo "no end\n";
    }
}

run(function () {
    $measure = function (): array {
        gc_collect_cycles();
        return [memory_get_usage(), count(scandir('/proc/self/fd'))];
    };
    for ($i = 0; $i < 20; $i++) {
        cycle();
    }
    [$memory, $descriptors] = $measure();
    for ($i = 0; $i < 100; $i++) {
        cycle();
    }
    until(fn() => $measure()[1] === $descriptors);
    $grown = $measure()[0] - $memory;
    echo $grown < 5_000 ? 'flat' : "grew by $grown bytes", "\n";
    until(fn() => Coroutine::stats()['coroutine_num'] === 1);
});
?>
--EXPECT--
flat
