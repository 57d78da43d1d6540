--TEST--
Coroutine\Http\Server: a fatal error and exit() end the script as PHP does; the request is answered with 500
--SKIPIF--
<?php
if (!extension_loaded('pcntl')) {
    die('skip needs pcntl');
}
?>
--FILE--
<?php
require __DIR__ . '/support.inc';

use Apus\Coroutine\Http\Server;
use function Apus\Coroutine\run;

foreach ([
    'memory' => function () { ini_set('memory_limit', '16M'); return str_repeat('x', 1 << 30); },
    'error' => fn() => trigger_error('raised', E_USER_ERROR),
    'exit' => fn() => exit(7),
] as $name => $end) {
    $server = new Server('127.0.0.1');
    $pid = pcntl_fork();
    if ($pid === 0) {
        fclose(STDERR);
        ini_set('display_errors', '0');
        ini_set('log_errors', '0');
        run(function () use ($server, $end) {
            $server->handle('/', $end);
            $server->start();
            echo "NOT REACHED\n";
        });
        echo "NOT REACHED\n";
        exit(0);
    }
    $socket = stream_socket_client("tcp://127.0.0.1:$server->port");
    fwrite($socket, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    $answer = (string) stream_get_contents($socket);
    pcntl_waitpid($pid, $status);
    echo "$name: ", strtok($answer, "\r"), ', status ', pcntl_wexitstatus($status), "\n";
    unset($server, $end);
}
?>
--EXPECT--
memory: HTTP/1.1 500 Internal Server Error, status 255
error: HTTP/1.1 500 Internal Server Error, status 255
exit: HTTP/1.1 500 Internal Server Error, status 7
