--TEST--
Swoole\Http\Response::create() in the master: the request of a worker that it has just killed is answered, once
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_NONE, 'enable_coroutine' => false]);
$running = new Swoole\Table(16);
$running->column('fd', Swoole\Table::TYPE_INT);
$running->column('pid', Swoole\Table::TYPE_INT);
$running->create();
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) use ($running) {
    $running->set(substr($request->server['request_uri'], 1), ['fd' => $request->fd, 'pid' => getmypid()]);
    // Nothing else of this worker runs.
    for ($until = microtime(true) + 20; microtime(true) < $until;) {
    }
});
$server->on('managerstart', function (Swoole\Server $server) use ($running) {
    $ask = function (string $name) use ($server) {
        $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
        $client->set(['timeout' => 20]);
        $client->get("/$name");
        echo "$name: $client->statusCode $client->body ", $client->headers['connection'] ?? '', "\n";
    };
    go(function () use ($ask, $server) {
        $ask('killed');
        $ask('forgotten');
        $ask('killed');
        $server->shutdown();
    });
    Swoole\Timer::tick(10, function () use ($running, $server) {
        foreach ($running as $name => $row) {
            $running->del($name);
            Swoole\Process::kill($row['pid'], SIGKILL);
            if ($name === 'killed') {
                $response = Swoole\Http\Response::create($server, $row['fd']);
                $response->status(408);
                var_dump($response->end('too late'));
                var_dump(Swoole\Http\Response::create($server, $row['fd']));
            }
        }
    });
});
$server->on('shutdown', fn () => Swoole\Timer::clearAll());
var_dump($server->start());
?>
--EXPECT--
bool(true)
bool(false)
killed: 408 too late close
forgotten: -3  
bool(true)
bool(false)
killed: 408 too late close
bool(true)
