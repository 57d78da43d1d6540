--TEST--
Swoole\Process::signal() in the master: the handler runs in place of what the signal means to the server
--INI--
apus.swoole_compat=1
--FILE--
<?php
$server = new Swoole\Server('127.0.0.1', 0);
$server->set(['worker_num' => 1, 'log_level' => SWOOLE_LOG_ERROR]);
$server->on('receive', fn () => null);
$came = [];
$server->on('managerstart', function (Swoole\Server $server) use (&$came) {
    foreach ([SIGINT, SIGUSR1, SIGTERM] as $signal) {
        Swoole\Process::signal($signal, function (int $number) use ($server, &$came) {
            $came[] = $number;
            if ($number === SIGTERM) {
                $server->shutdown();
            }
        });
    }
    go(function () use (&$came) {
        foreach ([SIGINT, SIGUSR1, SIGTERM] as $place => $signal) {
            Swoole\Process::kill(getmypid(), $signal);
            while (count($came) === $place) {
                usleep(1000);
            }
        }
    });
});
$server->on('beforereload', fn () => print("no reload was asked for\n"));
var_dump($server->start());
var_dump($came === [SIGINT, SIGUSR1, SIGTERM]);
?>
--EXPECT--
bool(true)
bool(true)
