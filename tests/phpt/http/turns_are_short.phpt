--TEST--
Requests that come while others wait do not hold those up: a turn of the event loop is short, whatever it has to run
--SKIPIF--
<?php require __DIR__ . '/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\Http\{Request, Response};

const MANY = 40;

/** Computes; one that waits a millisecond meanwhile is due long before the next one has computed. */
function compute(): void
{
    for ($end = hrtime(true) + 3_000_000; hrtime(true) < $end;) {
    }
}

$held = new Apus\Atomic(0);
$go = new Apus\Atomic(0);
serving(
    function (Request $request, Response $response) use ($held, $go): void {
        static $begun = 0, $most = 0;
        if ($request->server['request_uri'] === '/hold') {
            $held->set(1);
            // Nothing else is looked at until all the others have come.
            while ($go->get() === 0) {
            }
            $response->end();
            return;
        }
        if ($request->server['request_uri'] === '/most') {
            $response->end("$most");
            return;
        }
        $most = max($most, ++$begun);
        compute();
        usleep(1000);
        $begun--;
        $response->end('done');
    },
    function (Client $client) use ($held, $go): void {
        $open = static function (string $path) use ($client) {
            $socket = stream_socket_client("tcp://127.0.0.1:$client->port", timeout: 10);
            stream_set_timeout($socket, 20);
            fwrite($socket, "GET $path HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
            return $socket;
        };
        $holds = $open('/hold');
        while ($held->get() === 0) {
            usleep(1000);
        }
        $sockets = array_map(static fn (int $number) => $open("/$number"), range(1, MANY));
        $go->set(1);
        $answers = array_map(static fn ($socket) => substr((string) stream_get_contents($socket), -4), $sockets);
        var_dump(array_count_values($answers));
        // All of them would be so many, had they all been begun first.
        $most = (int) $client->get('/most');
        echo $most <= MANY / 4 ? 'few are begun at a time' : "$most were begun at a time", "\n";
    },
);
?>
--EXPECT--
array(1) {
  ["done"]=>
  int(40)
}
few are begun at a time
