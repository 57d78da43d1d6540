--TEST--
Swoole\Server::send() on connections of HTTP and WebSocket sends bytes as they are, from any process
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Http\Client;
use Swoole\Coroutine\Socket;
use Swoole\WebSocket\Frame;

$server = new Swoole\WebSocket\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'task_worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('request', function ($request, $response) use ($server) {
    $response->header('Content-Length', '5');
    $response->end('12345');
    var_dump($server->send($request->fd, 'after'));
    $server->task([$request->fd, 'by a task']);
});
$server->on('message', function ($server, $frame) {
    var_dump($server->send($frame->fd, Frame::pack('packed')));
    $server->task([$frame->fd, Frame::pack('by a task')]);
});
$server->on('task', function ($server, int $id, int $source, array $data) {
    $server->send(...$data);
});
$server->on('workerstart', function ($server, int $id) {
    if ($id !== 0) {
        return;
    }
    go(function () use ($server) {
        $socket = new Socket(AF_INET, SOCK_STREAM, 0);
        $socket->connect('127.0.0.1', $server->port);
        $socket->sendAll("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        $answer = '';
        while (!str_ends_with($answer, 'by a task') && ($more = $socket->recv()) !== '' && $more !== false) {
            $answer .= $more;
        }
        echo substr($answer, strpos($answer, "\r\n\r\n") + 4), "\n";
        $socket->close();
        $client = new Client('127.0.0.1', $server->port);
        $client->upgrade('/');
        $client->push('go');
        echo $client->recv()->data, ', ', $client->recv()->data, "\n";
        $client->close();
        var_dump($server->send(9_000_000, 'nobody'));
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
bool(true)
12345afterby a task
bool(true)
packed, by a task
bool(false)
