--TEST--
accept() in coroutines of several processes: the listening socket is never made non-blocking, and nobody fails because another was faster
--EXTENSIONS--
pcntl
sockets
--FILE--
<?php
use function Apus\Coroutine\run;
use function Apus\go;

$context = stream_context_create(['socket' => ['backlog' => 4096]]);
$listener = stream_socket_server('tcp://127.0.0.1:0', $code, $why, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
$address = stream_socket_get_name($listener, false);

function descriptor_flags(string $kind): int
{
    foreach (glob('/proc/self/fd/*') as $fd) {
        if (str_starts_with((string) @readlink($fd), $kind)) {
            preg_match('/flags:\s+(\d+)/', file_get_contents('/proc/self/fdinfo/' . basename($fd)), $found);
            return octdec($found[1]);
        }
    }
    return -1;
}

// Who is told 'q' has seen enough. A failure before the time-out is one too many.
$accept = function () use ($listener) {
    $early = 0;
    for (;;) {
        $began = hrtime(true);
        $connection = @stream_socket_accept($listener, 20);
        if (!$connection) {
            $early += hrtime(true) - $began < 15e9;
        } elseif (fread($connection, 1) === 'q') {
            return "$early failed early\n";
        }
    }
};
$results = [];
foreach (['coroutines', 'coroutines', 'plain', 'coroutines'] as $kind) {
    $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    if (pcntl_fork() === 0) {
        $kind === 'plain' ? $result = $accept() : run(function () use ($accept, &$result) { $result = $accept(); });
        fwrite($pair[1], $result);
        exit;
    }
    fclose($pair[1]);
    $results[] = $pair[0];
}
for ($i = 0; $i < 6000; $i++) {
    fclose(stream_socket_client("tcp://$address"));
}
foreach ($results as $ignored) {
    $connection = stream_socket_client("tcp://$address");
    fwrite($connection, 'q');
    stream_socket_shutdown($connection, STREAM_SHUT_WR);
    fread($connection, 1);
}
foreach ($results as $result) {
    echo fgets($result);
}
echo descriptor_flags('socket:') & 04000 ? "non-blocking\n" : "blocking\n";

// The time-out of stream_socket_accept() holds though another process takes the connection that was announced.
run(function () use ($listener, $address) {
    go(function () use ($listener) {
        echo @stream_socket_accept($listener, 0.3) ? 'accepted' : 'timed out', "\n";
    });
    $client = stream_socket_client("tcp://$address");
    // Before the coroutine runs again: somebody else is faster.
    $socket = socket_import_stream($listener);
    socket_set_nonblock($socket);
    $taken = socket_accept($socket);
    socket_set_block($socket);
    echo $taken ? "taken\n" : "not taken\n";
});
?>
--EXPECT--
0 failed early
0 failed early
0 failed early
0 failed early
blocking
taken
timed out
