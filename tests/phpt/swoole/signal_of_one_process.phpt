--TEST--
Swoole\Process::signal() in the one worker of a SWOOLE_BASE server hears the signals of the master, which is the same process there
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Process;

function serve(int $workers): void
{
    $server = new Swoole\Server('127.0.0.1', 0, SWOOLE_BASE);
    $server->set(['worker_num' => $workers, 'log_level' => SWOOLE_LOG_ERROR]);
    $server->on('receive', fn () => null);
    $master = getmypid();
    $server->on('workerstart', function (Swoole\Server $server, int $id) use ($master) {
        if ($id === 0) {
            Process::signal(SIGINT, function (int $signal) use ($server) {
                echo "the worker hears $signal\n";
                $server->shutdown();
            });
            Process::kill($master, SIGINT);
        }
    });
    $server->start();
    echo "ended\n";
}
serve(1);
// With more than one the master is another process there, too, and ends the server.
serve(2);
?>
--EXPECT--
the worker hears 2
ended
ended
