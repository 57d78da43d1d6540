--TEST--
Server: an IPv6 address
--SKIPIF--
<?php @stream_socket_server('tcp://[::1]:0') || die('skip needs IPv6'); ?>
--FILE--
<?php
use Apus\Http\Server;

$server = new Server('::1', 0, Apus\PROCESS, Apus\SOCK_TCP6);
var_dump($server->host, $server->port > 0, $server->mode, $server->type);
var_dump((new Server('[::1]', 0))->host);
?>
--EXPECT--
string(3) "::1"
bool(true)
int(2)
int(3)
string(3) "::1"
