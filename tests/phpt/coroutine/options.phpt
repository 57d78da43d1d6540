--TEST--
set() and getOptions(): all settings or none, errors name the setting
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Scheduler;
use function Apus\go;
use function Apus\Coroutine\run;

var_dump(Coroutine::getOptions()['max_coroutine'], Coroutine::getOptions()['stack_size']);
Coroutine::set(['max_coroutine' => 10, 'c_stack_size' => '128K']);
var_dump(Coroutine::getOptions()['max_coroutine'], Coroutine::getOptions()['stack_size'], Coroutine::stats()['c_stack_size']);
foreach ([['max_corotine' => 1], ['max_coroutine' => 0], ['max_coroutine' => 5, 'stack_size' => 1], ['max_coroutine' => new stdClass], [1]] as $bad) {
    try {
        Coroutine::set($bad);
        echo "accepted\n";
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
var_dump(Coroutine::getOptions()['max_coroutine']);
$scheduler = new Scheduler();
$scheduler->set(['max_coroutine' => 3]);
var_dump($scheduler->getOptions() === Coroutine::getOptions());
run(function () {
    go(fn() => Coroutine::sleep(0.001));
    go(fn() => Coroutine::sleep(0.001));
    try {
        go(fn() => print("one too many\n"));
    } catch (Coroutine\Exception $e) {
        echo $e->getMessage(), " ", $e->getCode() === Coroutine\Exception::TOO_MANY ? "ok" : "wrong", "\n";
    }
    Coroutine::sleep(0.1);
    go(fn() => print("room again\n"));
});
?>
--EXPECTF--
int(100000)
int(2097152)
int(10)
int(131072)
int(131072)
%Smax_corotine%Smax_coroutine%S
%Smax_coroutine%S
%Sstack_size%S
%Smax_coroutine%Sobject%S
%Snumeric key%S
int(10)
bool(true)
3 coroutines exist, which is the limit: raise max_coroutine, or bound what starts them ok
room again
