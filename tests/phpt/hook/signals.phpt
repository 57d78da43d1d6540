--TEST--
While all coroutines wait, signal handlers run; a fork in a coroutine is refused, one after run() is not
--EXTENSIONS--
pcntl
posix
--INI--
error_reporting=E_ALL & ~E_WARNING
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () { echo 'handled in ', Coroutine::getCid() > 0 ? 'a coroutine' : 'the script', "\n"; });
run(function () {
    $me = getmypid();
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    exec("kill -USR1 $me");
    $done = false;
    pcntl_signal(SIGUSR2, function () use ($b) { fwrite($b, "from the handler\n"); });
    $kill = proc_open("sleep 0.05; kill -USR2 $me", [], $pipes);
    echo fgets($a);
    proc_close($kill);
    try {
        pcntl_fork();
    } catch (Coroutine\Exception $e) {
        echo $e->getCode() === Coroutine\Exception::CANNOT_FORK ? "CANNOT_FORK\n" : $e;
    }
});
$pid = pcntl_fork();
if ($pid === 0) {
    run(function () { go(function () { usleep(1_000); exit(3); }); });
    exit(4);
}
run(fn () => usleep(1_000));
pcntl_waitpid($pid, $status);
var_dump(pcntl_wexitstatus($status));
--EXPECT--
handled in a coroutine
from the handler
CANNOT_FORK
int(3)
