--TEST--
Swoole\Server::getSocket(), Port::getSocket(): the options of a port before start()
--INI--
apus.swoole_compat=1
--EXTENSIONS--
sockets
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0);
$second = $server->listen('127.0.0.1', 0, SWOOLE_SOCK_UDP);
foreach ([$server->getSocket(), $server->getSocket(1), $second->getSocket()] as $socket) {
    echo get_class($socket), ' ', socket_get_option($socket, SOL_SOCKET, SO_TYPE), "\n";
}
var_dump(socket_set_option($second->getSocket(), SOL_SOCKET, SO_RCVBUF, 8192));
var_dump(socket_get_option($server->getSocket(1), SOL_SOCKET, SO_RCVBUF) < 20000);
unset($socket);
var_dump($server->getSocket(2), $server->getSocket(-1));
$server->on('receive', fn () => null);
$server->on('packet', fn () => null);
$server->set(['worker_num' => 1, 'document_root' => __DIR__, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('workerstart', function (Swoole\Server $server) {
    var_dump($server->getSocket());
    $client = stream_socket_client("tcp://127.0.0.1:$server->port");
    var_dump(is_resource($client));
    $server->shutdown();
});
$server->start();
?>
--EXPECTF--
Socket 1
Socket 2
Socket 2
bool(true)
bool(true)
bool(false)
bool(false)

Warning: Swoole\Server::getSocket(): getSocket() works before start() in %s on line %d
bool(false)
bool(true)
