--TEST--
Swoole\Http\Response: what was begun is ended when the response is given away; another process answers by fd
--INI--
apus.swoole_compat=1
--FILE--
<?php
$big = random_bytes(600_000);
$file = tempnam(sys_get_temp_dir(), 'apus');
file_put_contents($file, str_repeat('f', 5000));
// What the task worker sees, bit by bit.
$seen = new Swoole\Atomic();
$server = new Swoole\Http\Server('127.0.0.1', 0, SWOOLE_PROCESS);
$server->set(['worker_num' => 1, 'task_worker_num' => 1, 'log_level' => SWOOLE_LOG_NONE]);
$server->on('request', function ($request, Swoole\Http\Response $response) use ($server) {
    switch ($request->server['request_uri']) {
        case '/begun':
            $response->trailer('X-Sum', '1');
            return $response->write('begun');
        case '/status':
            $response->header('X-Kept', 'yes');
            return $response->status(404);
        case '/failed':
            $response->write('half');
            throw new Exception('on the way');
        case '/nothing':
            return null;
        default:
            $response->detach();
            return $server->task([$response->fd, $request->server['request_uri']]);
    }
});
$server->on('task', function ($server, int $id, int $from, array $data) use ($big, $file, $seen) {
    [$fd, $path] = $data;
    $response = Swoole\Http\Response::create($server, $fd);
    $response->header('X-From', 'task');
    switch ($path) {
        case '/end':
            $results = [$response->fd === $fd, $response->isWritable(), $response->status(201, 'Made'),
                $response->end('ended'), $response->end('again'), $response->write('more'), $response->isWritable()];
            $seen->set(bindec(implode('', array_map(intval(...), $results))));
            break;
        case '/big':
            $response->write('first');
            $response->write($big);
            $response->end('last');
            break;
        case '/file':
            $response->sendfile($file, 10, 4000);
            break;
        case '/begun_there':
            $response->write('begun there');
            break;
        case '/close':
            $response->close();
    }
    return true;
});
$server->on('finish', fn () => null);
$server->on('workerstart', function ($server) use ($big, $seen) {
    if ($server->taskworker) {
        return;
    }
    go(function () use ($server, $big, $seen) {
        $get = function (string $path) use ($server): Swoole\Coroutine\Http\Client {
            $client = new Swoole\Coroutine\Http\Client('127.0.0.1', $server->port);
            $client->set(['timeout' => 20]);
            $client->get($path);
            return $client;
        };
        foreach (['/begun', '/status', '/nothing', '/end', '/begun_there'] as $path) {
            $client = $get($path);
            echo $path, ': ', $client->statusCode, ' ', trim($client->body), ' ', $client->headers['x-from'] ?? '-', ' ',
                $client->headers['x-kept'] ?? '-', "\n";
        }
        $client = $get('/big');
        var_dump($client->body === "first{$big}last");
        var_dump($get('/file')->body === str_repeat('f', 4000));
        var_dump($get('/failed')->statusCode < 0, $get('/close')->statusCode < 0);
        var_dump(Swoole\Http\Response::create($server, 99999));
        echo decbin($seen->get()), "\n";
        $server->shutdown();
    });
});
$server->start();
unlink($file);
?>
--EXPECTF--
/begun: 200 begun - -
/status: 404  - yes
/nothing: 500  - -
/end: 201 ended task -
/begun_there: 200 begun there task -
bool(true)
bool(true)

Fatal error: Uncaught Exception: on the way in %s:%d
Stack trace:
#0 %A
  thrown in %s on line %d
bool(true)
bool(true)
bool(false)
1111000
