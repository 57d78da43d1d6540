--TEST--
WebSocket\Server: messages that come while handlers of others wait do not hold those up
--SKIPIF--
<?php require __DIR__ . '/../http/skip.inc'; ?>
--FILE--
<?php
require __DIR__ . '/server.inc';

use Apus\WebSocket\{Frame, Server};

const MANY = 40;

$held = new Apus\Atomic(0);
$go = new Apus\Atomic(0);
$begun = $most = 0;
$message = static function (Server $server, Frame $frame) use ($held, $go, &$begun, &$most): void {
    if ($frame->data === 'hold') {
        $held->set(1);
        // Nothing else is looked at until all the others have come.
        while ($go->get() === 0) {
        }
        return;
    }
    if ($frame->data === 'most') {
        $server->push($frame->fd, "$most");
        return;
    }
    $most = max($most, ++$begun);
    // One that waits a millisecond meanwhile is due long before the next one has computed.
    for ($end = hrtime(true) + 3_000_000; hrtime(true) < $end;) {
    }
    $server->push($frame->fd, 'begun');
    usleep(1000);
    $begun--;
    $server->push($frame->fd, 'done');
};
echo websockets(
    static fn (Server $server) => $server->on('message', $message),
    function (int $port) use ($held, $go): void {
        $first = new Socket($port);
        $sockets = array_map(static fn () => new Socket($port), range(1, MANY));
        $first->push('hold');
        while ($held->get() === 0) {
            usleep(1000);
        }
        foreach ($sockets as $socket) {
            $socket->push('go');
        }
        $go->set(1);
        $heard = array_map(static fn (Socket $socket) => "{$socket->recv()->data} {$socket->recv()->data}", $sockets);
        echo json_encode(array_count_values($heard)), "\n";
        // All of them would be so many, had they all been begun first.
        $first->push('most');
        $most = (int) $first->recv()->data;
        echo $most <= MANY / 4 ? 'few are begun at a time' : "$most were begun at a time", "\n";
    },
);
?>
--EXPECT--
{"begun done":40}
few are begun at a time
