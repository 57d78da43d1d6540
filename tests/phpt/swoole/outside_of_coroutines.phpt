--TEST--
What waits ends the script outside of coroutines, whatever it catches, and says where it was called
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Process;

$calls = [
    fn () => Co::sleep(0.001),
    fn () => (new Swoole\Coroutine\Channel())->pop(),
    fn () => (new Swoole\Coroutine\Client(SWOOLE_SOCK_TCP))->connect('127.0.0.1', 1),
    fn () => (new Swoole\Coroutine\Http\Client('127.0.0.1', 1))->get('/'),
    fn () => Co::setTimeLimit(1),
];
foreach ($calls as $call) {
    $process = new Process(function () use ($call): void {
        try {
            $call();
        } catch (Throwable $caught) {
            echo 'caught ', get_class($caught);
        }
        echo 'goes on';
    }, true);
    $process->start();
    $said = '';
    while (($more = $process->read()) != '') {
        $said .= $more;
    }
    $status = Process::wait();
    $lines = explode("\n", trim($said));
    echo preg_replace('~ in /.*~', '', $lines[0]), ' ', substr_count($said, 'Swoole\Process->start()'), " {$status['code']}\n";
}
?>
--EXPECT--
Fatal error: Uncaught Swoole\Error: API must be called in the coroutine 1 255
Fatal error: Uncaught Swoole\Error: API must be called in the coroutine 1 255
Fatal error: Uncaught Swoole\Error: API must be called in the coroutine 1 255
Fatal error: Uncaught Swoole\Error: API must be called in the coroutine 1 255
Fatal error: Uncaught Swoole\Error: API must be called in the coroutine 1 255
