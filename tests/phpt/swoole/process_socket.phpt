--TEST--
Swoole\Process::exportSocket(): a Swoole\Coroutine\Socket
--INI--
apus.swoole_compat=1
--FILE--
<?php
$process = new Swoole\Process(fn (Swoole\Process $process) => $process->write('from the child'));
$process->start();
Swoole\Coroutine\run(function () use ($process) {
    $socket = $process->exportSocket();
    var_dump(get_class($socket), $socket === $process->exportSocket(), $socket->recv());
});
var_dump(Swoole\Process::wait()['code']);
?>
--EXPECT--
string(23) "Swoole\Coroutine\Socket"
bool(true)
string(14) "from the child"
int(0)
