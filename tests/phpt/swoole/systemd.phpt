--TEST--
Swoole\Server: the host SYSTEMD stands for all sockets that the environment passes, and for an error where there is none
--SKIPIF--
<?php
if (!function_exists('posix_getpid') && !is_dir('/proc/self/fd')) die('skip no /proc');
?>
--INI--
apus.swoole_compat=1
--FILE--
<?php
$numbers = fn () => array_map(intval(...), array_diff(scandir('/proc/self/fd'), ['.', '..']));
$path = sys_get_temp_dir() . '/apus-systemd-' . getmypid() . '.sock';

// A file is no socket.
$file = fopen('/dev/null', 'r');
putenv('LISTEN_PID=' . getmypid());
putenv('LISTEN_FDS=1');
putenv('LISTEN_FDS_START=' . max($numbers()));
try {
    new Swoole\Server('SYSTEMD', 0);
} catch (Error $error) {
    echo get_class($error), ': ', $error->getMessage(), "\n";
}
fclose($file);

$links = fn () => array_filter(array_map(fn ($fd) => @readlink("/proc/self/fd/$fd"), array_combine($numbers(), $numbers())));
$before = $links();
$sockets = [
    stream_socket_server('tcp://127.0.0.1:0'),
    stream_socket_server('udp://127.0.0.1:0', $code, $text, STREAM_SERVER_BIND),
    stream_socket_server("unix://$path"),
];
$passed = array_filter(array_diff($links(), $before), fn ($link) => str_starts_with($link, 'socket:'));
putenv('LISTEN_FDS_START=' . min(array_keys($passed)));
putenv('LISTEN_FDS=3');
$server = new Swoole\Server('systemd', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
foreach ($server->ports as $port) {
    echo $port->type, ' ', $port->port > 0 ? 'port' : basename($port->host, '.sock') !== '', "\n";
}
[$tcp, $udp] = [$server->ports[0]->port, $server->ports[1]->port];
$server->on('receive', fn ($server, $fd, $reactor, $data) => $server->send($fd, "stream $data"));
$server->on('packet', fn ($server, $data, $from) => $server->sendto($from['address'], $from['port'], "packet $data"));
$server->on('workerstart', fn () => go(function () use ($server, $tcp, $udp, $path) {
    $places = [
        [SWOOLE_SOCK_TCP, '127.0.0.1', $tcp], [SWOOLE_SOCK_UDP, '127.0.0.1', $udp], [SWOOLE_SOCK_UNIX_STREAM, $path, 0],
    ];
    foreach ($places as [$kind, $host, $port]) {
        $client = new Swoole\Coroutine\Client($kind);
        $client->connect($host, $port, 20);
        $client->send((string) $kind);
        echo $client->recv(20), "\n";
    }
    $server->shutdown();
}));
$server->start();
@unlink($path);
?>
--EXPECT--
Error: failed to add systemd socket
1 port
2 port
5 1
stream 1
packet 2
stream 5
