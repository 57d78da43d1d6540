<?php

declare(strict_types=1);

// Servers that live in coroutines of a plain script, without a master process: HTTP and WebSocket on one port, lines over TCP
// on the next, one room for all. Try: apus run examples/coroutine-server/server.php 8080
//   curl http://127.0.0.1:8080/          who is there
//   curl -d 'hello' http://127.0.0.1:8080/   says something to everybody
//   nc 127.0.0.1 8081                    talk and listen, a line each; a browser does so at ws://127.0.0.1:8080/room

use Apus\Coroutine;
use Apus\Coroutine\Server;
use Apus\Coroutine\Server\Connection;
use Apus\Http\Request;
use Apus\Http\Response;
use function Apus\Coroutine\run;
use function Apus\go;

/** Who listens: a name, and how to tell them something. */
final class Room
{
    /** @var array<string, callable(string): mixed> */
    private array $members = [];
    private int $guests = 0;

    public function enter(callable $tell): string
    {
        $name = 'guest' . ++$this->guests;
        $this->members[$name] = $tell;
        $this->say($name, 'came');
        return $name;
    }

    public function leave(string $name): void
    {
        unset($this->members[$name]);
        $this->say($name, 'left');
    }

    public function say(string $name, string $text): void
    {
        foreach ($this->members as $tell) {
            // A member who reads slowly must not hold the others up, so each is told in a coroutine.
            go($tell, "$name: $text");
        }
    }

    /** @return list<string> */
    public function names(): array
    {
        return array_keys($this->members);
    }
}

run(function () use ($argv): void {
    $port = (int) ($argv[1] ?? 8080);
    $room = new Room;

    $http = new Coroutine\Http\Server('127.0.0.1', $port);
    $http->handle('/', function (Request $request, Response $response) use ($room): void {
        if ($request->server['request_method'] === 'POST') {
            $room->say('somebody', $request->getContent());
        }
        $response->header('Content-Type', 'application/json');
        $response->end(json_encode($room->names()) . "\n");
    });
    // One coroutine a connection: it waits in recv() for as long as the WebSocket is open.
    $http->handle('/room', function (Request $request, Response $socket) use ($room): void {
        if (!$socket->upgrade()) {
            return;
        }
        $name = $room->enter(fn (string $line) => $socket->push($line));
        while ($frame = $socket->recv()) {
            $room->say($name, $frame->data);
        }
        $room->leave($name);
    });

    $lines = new Server('127.0.0.1', $port === 0 ? 0 : $port + 1);
    $lines->set(['open_eof_check' => true, 'package_eof' => "\n", 'package_max_length' => 1000]);
    $open = [];
    $lines->handle(function (Connection $connection) use ($room, &$open): void {
        $open[spl_object_id($connection)] = $connection;
        // Whoever writes to one connection from several coroutines takes turns.
        $turn = new Coroutine\Lock;
        $name = $room->enter(function (string $line) use ($connection, $turn): void {
            $turn->lock();
            try {
                $connection->send("$line\n");
            } finally {
                $turn->unlock();
            }
        });
        while ($line = $connection->recv()) {
            $room->say($name, rtrim($line));
        }
        unset($open[spl_object_id($connection)]);
        $room->leave($name);
        $connection->close();
    });

    // SIGTERM (15) ends both well: requests that have begun are answered, WebSockets are closed by $http itself.
    go(function () use ($http, $lines, &$open): void {
        Coroutine\System::waitSignal(15);
        $http->shutdown();
        $lines->shutdown();
        foreach ($open as $connection) {
            $connection->close();
        }
    });
    go(fn () => $lines->start());
    echo "http://127.0.0.1:$http->port, lines at 127.0.0.1:$lines->port\n";
    $http->start();
});
