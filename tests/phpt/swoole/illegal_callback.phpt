--TEST--
Swoole\Process: a process whose callback was taken away does not start
--INI--
apus.swoole_compat=1
--FILE--
<?php
class Mine extends Swoole\Process
{
}
foreach ([Swoole\Process::class, Mine::class] as $class) {
    $process = new $class(function () {
        echo "runs\n";
    });
    $property = new ReflectionProperty(Swoole\Process::class, 'callback');
    var_dump($property->getValue($process) instanceof Closure);
    $process->start();
    Swoole\Process::wait();
    $property->setValue($process, null);
    var_dump($process->start());
}
?>
--EXPECTF--
bool(true)
runs

Warning: Swoole\Process::start(): illegal callback function in %s on line %d
bool(false)
bool(true)
runs

Warning: Swoole\Process::start(): illegal callback function in %s on line %d
bool(false)
