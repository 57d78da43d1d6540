--TEST--
Time-outs of streams and sockets fire in coroutines as they do outside
--EXTENSIONS--
sockets
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

function look(): void
{
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    stream_set_timeout($a, 0, 30_000);
    var_dump(fgets($a), stream_get_meta_data($a)['timed_out']);
    stream_set_blocking($a, false);
    var_dump(fread($a, 10));
    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    socket_set_option($pair[0], SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 30_000]);
    var_dump(@socket_read($pair[0], 10), socket_strerror(socket_last_error($pair[0])));
    socket_set_option($pair[0], SOL_SOCKET, SO_SNDTIMEO, ['sec' => 0, 'usec' => 30_000]);
    $sent = 0;
    while (($n = @socket_write($pair[0], str_repeat('x', 65536))) > 0) { $sent += $n; }
    var_dump($n, $sent > 0, socket_strerror(socket_last_error($pair[0])));
    socket_set_nonblock($pair[1]);
    socket_recv($pair[1], $data, 10, MSG_WAITALL);
    var_dump($data);
}
ob_start();
look();
$outside = ob_get_clean();
$inside = '';
run(function () use (&$inside) { ob_start(); look(); $inside = ob_get_clean(); });
echo $inside === $outside ? "the same\n" : "DIFFERENT:\n$outside---\n", $inside;
--EXPECT--
the same
bool(false)
bool(true)
string(0) ""
bool(false)
string(32) "Resource temporarily unavailable"
bool(false)
bool(true)
string(32) "Resource temporarily unavailable"
string(10) "xxxxxxxxxx"
