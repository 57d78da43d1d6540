--TEST--
Swoole\Process::daemon(): null leaves a standard descriptor to the other arguments; Response::trailer(): null is no field
--INI--
apus.swoole_compat=1
--FILE--
<?php
[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$process = new Swoole\Process(function () use ($theirs) {
    Swoole\Process::daemon(true, true, [null, $theirs, $theirs]);
    fwrite(STDOUT, "to the socket\n");
    fwrite(STDERR, "this, too\n");
});
$process->start();
Swoole\Process::wait();
fclose($theirs);
echo stream_get_contents($ours);

$server = new Swoole\Http\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR, 'open_http2_protocol' => true]);
$server->on('request', function (Swoole\Http\Request $request, Swoole\Http\Response $response) {
    var_dump(@$response->trailer('x-none', null), $response->trailer('x-some', ''));
    $response->write('whole');
    $response->end();
});
$server->on('workerstart', function (Swoole\Server $server) {
    go(function () use ($server) {
        $client = new Swoole\Coroutine\Http2\Client('127.0.0.1', $server->port);
        $client->connect();
        $client->send(new Swoole\Http2\Request());
        $response = $client->recv();
        var_dump($response->data, isset($response->headers['x-none']), isset($response->headers['x-some']));
        $server->shutdown();
    });
});
$server->start();
?>
--EXPECT--
to the socket
this, too
bool(true)
bool(true)
string(5) "whole"
bool(false)
bool(true)
