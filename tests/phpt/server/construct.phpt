--TEST--
Server: the constructor binds at once; its errors say what is wrong
--FILE--
<?php
require __DIR__ . '/../http/server.inc';

use Apus\Http\Server;

$server = new Server('127.0.0.1', 0);
var_dump(
    $server->host,
    $server->port > 0,
    $server->type,
    $server->mode,
    count($server->ports),
    $server->setting,
    $server->worker_id,
    $server->master_pid,
    $server->taskworker,
);
var_dump($server instanceof Apus\Server, $server->getMasterPid(), $server->getWorkerId(), count($server->connections));
$path = sys_get_temp_dir() . '/apus-construct-' . getmypid() . '.sock';
$unix = new Server($path, 0, Apus\BASE, Apus\SOCK_UNIX_STREAM);
var_dump($unix->host === $path, $unix->port, filetype($path));
unset($unix);
var_dump(file_exists($path));

$port = $server->port;
attempt(function () use ($port): void {
    try {
        new Server('127.0.0.1', $port);
    } catch (Apus\Server\Exception $error) {
        throw new Apus\Server\Exception(str_replace((string) $port, 'PORT', $error->getMessage()), $error->getCode());
    }
});
attempt(fn () => new Server('192.0.2.1', 0));
try {
    new Server('no.such.host.invalid', 0);
} catch (Apus\Server\Exception $error) {
    // The resolver's own words follow.
    echo strstr($error->getMessage(), ': ', true), "\n";
}
attempt(fn () => new Server('127.0.0.1', 65536));
attempt(fn () => new Server('127.0.0.1', -1));
attempt(fn () => new Server('127.0.0.1', 0, Apus\BASE, Apus\SOCK_UDP | 512));
attempt(fn () => new Server('127.0.0.1', 0, Apus\BASE, 77));
attempt(fn () => new Server('', 0, Apus\BASE, Apus\SOCK_UNIX_STREAM));
attempt(fn () => new Server('/no/such/folder/socket', 0, Apus\BASE, Apus\SOCK_UNIX_STREAM));
attempt(fn () => new Server(str_repeat('/long', 50), 0, Apus\BASE, Apus\SOCK_UNIX_STREAM));
attempt(fn () => new Server([], 0));
foreach ([Apus\SOCK_TCP, Apus\SOCK_UDP, Apus\SOCK_TCP6, Apus\SOCK_UDP6] as $kind) {
    $raw = new Apus\Server(in_array($kind, [Apus\SOCK_TCP, Apus\SOCK_UDP]) ? '127.0.0.1' : '::1', 0, sockType: $kind);
    echo "$raw->type $raw->host ", $raw->port > 0 ? 'bound' : 'not bound', "\n";
}
$raw = new Apus\Server($path, 0, Apus\BASE, Apus\SOCK_UNIX_DGRAM);
echo "$raw->type ", filetype($path), "\n";
unset($raw);
var_dump(file_exists($path));
attempt(fn () => clone $server);
attempt(fn () => serialize($server));
attempt(fn () => (new Apus\Server\Port())->on('request', 'strlen'));
attempt(fn () => (new ReflectionClass(Server::class))->newInstanceWithoutConstructor()->set([]));
?>
--EXPECT--
string(9) "127.0.0.1"
bool(true)
int(1)
int(1)
int(1)
NULL
int(-1)
int(0)
bool(false)
bool(true)
bool(false)
bool(false)
int(0)
bool(true)
int(0)
string(6) "socket"
bool(false)
Apus\Server\Exception 101: cannot listen on 127.0.0.1:PORT: Address already in use (os error 98) (stop the process that holds it, or choose another port)
Apus\Server\Exception 101: cannot listen on 192.0.2.1:0: Cannot assign requested address (os error 99) (no interface has this address)
host "no.such.host.invalid" is neither an address nor a known name
Apus\Server\Exception 101: a port lies between 0 and 65535, 65536 given
Apus\Server\Exception 101: a port lies between 0 and 65535, -1 given
Apus\Server\Exception 101: TLS over datagrams (DTLS) is not in this version of Apus
Apus\Server\Exception 101: 77 is no kind of socket: use Apus\SOCK_TCP, SOCK_TCP6, SOCK_UDP, SOCK_UDP6, SOCK_UNIX_STREAM or SOCK_UNIX_DGRAM
Apus\Server\Exception 101: a Unix socket needs a path as its host
Apus\Server\Exception 101: cannot listen on unix:/no/such/folder/socket: No such file or directory (os error 2)
Apus\Server\Exception 101: cannot listen on unix:/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long/long: path must be shorter than SUN_LEN
TypeError: Apus\Http\Server::__construct(): Argument #1 ($host) must be of type string, array given
1 127.0.0.1 bound
2 127.0.0.1 bound
3 ::1 bound
4 ::1 bound
6 socket
bool(false)
Error: Trying to clone an uncloneable object of class Apus\Http\Server
Exception: Serialization of 'Apus\Http\Server' is not allowed
Error: Apus\Server\Port was not constructed: call parent::__construct() first
Error: Apus\Server was not constructed: call parent::__construct() first
