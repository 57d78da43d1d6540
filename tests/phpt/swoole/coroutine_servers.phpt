--TEST--
Swoole\Coroutine\Http\Server and Swoole\Coroutine\Server: handlers get objects of the same names
--INI--
apus.swoole_compat=1
--FILE--
<?php
Apus\Coroutine\run(function () {
    $server = new Swoole\Coroutine\Http\Server('127.0.0.1', 0);
    var_dump($server->set(['open_tcp_nodelay' => true]), $server->port > 0);
    $server->handle('/', function (Swoole\Http\Request $request, Swoole\Http\Response $response) {
        $response->end(get_class($response));
    });
    go(function () use ($server) {
        echo file_get_contents("http://127.0.0.1:$server->port/"), "\n";
        $server->shutdown();
    });
    var_dump($server->start());

    $server = new Swoole\Coroutine\Server('127.0.0.1');
    $server->handle(function (Swoole\Coroutine\Server\Connection $connection) {
        $connection->send('you said ' . $connection->recv());
        echo get_class($connection->exportSocket()), "\n";
        $connection->close();
    });
    go(function () use ($server) {
        $client = stream_socket_client("tcp://127.0.0.1:$server->port");
        fwrite($client, 'hello');
        echo stream_get_contents($client), "\n";
        $server->shutdown();
    });
    var_dump($server->start());
});
?>
--EXPECT--
bool(true)
bool(true)
Swoole\Http\Response
bool(true)
Swoole\Coroutine\Socket
you said hello
bool(true)
