--TEST--
Swoole\Client::getSocket(): a Socket of ext/sockets for the connection's options; the connection stays the client's
--EXTENSIONS--
sockets
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = stream_socket_server('tcp://127.0.0.1:0');
$client = new Swoole\Client(SWOOLE_SOCK_TCP);
var_dump(@$client->getSocket());
$client->connect('127.0.0.1', (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1));
$peer = stream_socket_accept($server);
$socket = $client->getSocket();
var_dump(get_class($socket), socket_get_option($socket, SOL_SOCKET, SO_KEEPALIVE));
socket_set_option($socket, SOL_SOCKET, SO_KEEPALIVE, 1);
socket_getpeername($socket, $address);
var_dump($address, socket_get_option($client->getSocket(), SOL_SOCKET, SO_KEEPALIVE));
socket_close($socket);
unset($socket);
var_dump($client->send('still there'), fread($peer, 100));
?>
--EXPECT--
bool(false)
string(6) "Socket"
int(0)
string(9) "127.0.0.1"
int(1)
int(11)
string(11) "still there"
