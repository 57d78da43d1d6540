--TEST--
A signal for which the master has no callback is told in the words there
--INI--
apus.swoole_compat=1
--FILE--
<?php
$log = tempnam(sys_get_temp_dir(), 'apus');
$server = new Swoole\Server('127.0.0.1', 0, SWOOLE_PROCESS, SWOOLE_SOCK_UDP);
$server->set(['worker_num' => 1, 'log_file' => $log]);
$server->on('packet', fn () => null);
$server->on('workerstart', function (Swoole\Server $server) use ($log) {
    // SIGPIPE
    Swoole\Process::kill($server->master_pid, 13);
    $until = hrtime(true) + 30e9;
    while (!preg_match('/^\[.*?\](.*Unable to find.*)$/m', file_get_contents($log), $said) && hrtime(true) < $until) {
        Co::sleep(0.001);
    }
    echo $said[1] ?? 'nothing was told', "\n";
    unlink($log);
    $server->shutdown();
});
$server->start();
?>
--EXPECT--
	WARNING	signal_dispatch() (ERRNO 721): Unable to find callback function for signal Broken pipe: 13
