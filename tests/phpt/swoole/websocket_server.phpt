--TEST--
Swoole\WebSocket\Server: frames of the same names, numbers of connections from 1 that reach all workers
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\WebSocket\CloseFrame;
use Swoole\WebSocket\Frame;

set_error_handler(function (int $number, string $text): bool {
    $GLOBALS['warnings'][] = strtok(preg_replace('/^[\w\\\\:]+\(\): /', '', $text), ':');
    return true;
});
$server = new Swoole\WebSocket\Server('127.0.0.1', 0, SWOOLE_BASE);
$server->set(['worker_num' => 2, 'open_websocket_close_frame' => true, 'blocked_loop_warn' => 0]);
$opened = new Swoole\Atomic(0);
$sum = new Swoole\Atomic(0);
$server->on('Open', function (Swoole\WebSocket\Server $server, Swoole\Http\Request $request) use ($opened, $sum) {
    $sum->add($request->fd);
    $opened->add();
});
$server->on('Message', function (Swoole\WebSocket\Server $server, Frame $frame) {
    if ($frame instanceof CloseFrame) {
        $server->disconnect($frame->fd, $frame->code, "bye $frame->reason");
        return;
    }
    foreach ($server->connections as $fd) {
        if ($server->isEstablished($fd)) {
            $server->push($fd, "$frame->data $frame->opcode", WEBSOCKET_OPCODE_TEXT);
        }
    }
    $own = new Frame();
    $own->data = json_encode([
        $server->push($frame->fd, 'x', 77),
        $GLOBALS['warnings'],
        $server->push(99, 'x'),
        $server->exist(99),
        $server->isEstablished(99),
        $server->getLastError() === SWOOLE_ERROR_SESSION_NOT_EXIST,
    ]);
    $server->push($frame->fd, $own);
});
$server->on('WorkerStart', function (Swoole\WebSocket\Server $server, int $worker) use ($opened, $sum) {
    if ($worker !== 0) {
        return;
    }
    go(function () use ($server, $opened, $sum) {
        $clients = [];
        for ($i = 0; $i < 8; $i++) {
            $clients[] = $client = new Apus\Coroutine\Http\Client('127.0.0.1', $server->port);
            $client->set(['open_websocket_close_frame' => true]);
            $client->upgrade('/');
        }
        while ($opened->get() < 8) {
            Apus\Coroutine::sleep(0.005);
        }
        echo 'sum of the numbers 1 to 8: ', $sum->get(), "\n";
        $clients[0]->push('hello');
        echo implode(', ', array_map(fn ($client) => $client->recv(10)->data, $clients)), "\n";
        echo $clients[0]->recv(10)->data, "\n";
        $close = new CloseFrame();
        $close->code = 3001;
        $close->reason = 'now';
        $clients[0]->push($close);
        $answer = $clients[0]->recv(10);
        var_dump($answer instanceof CloseFrame ? [$answer->code, $answer->reason] : $answer);
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
sum of the numbers 1 to 8: 36
hello 1, hello 1, hello 1, hello 1, hello 1, hello 1, hello 1, hello 1
[false,["77 is no opcode of WebSocket"],false,false,false,true]
array(2) {
  [0]=>
  int(3001)
  [1]=>
  string(7) "bye now"
}
