--TEST--
list(), exists(), stats(), getElapsed()
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $ids = [];
    for ($i = 0; $i < 4; $i++) {
        $ids[] = go(fn() => Coroutine::sleep(0.03));
    }
    $list = Coroutine::list();
    echo get_class($list), ": ", implode(",", iterator_to_array($list)), "\n";
    echo implode(",", iterator_to_array(Coroutine::listCoroutines())), "\n";
    var_dump(Coroutine::exists($ids[0]), Coroutine::exists(0), Coroutine::exists(-1));
    $stats = Coroutine::stats();
    echo $stats['coroutine_num'], " ", $stats['coroutine_peak_num'], " ", $stats['coroutine_last_cid'], " ", $stats['stack_num'], "\n";
    echo implode(" ", array_keys($stats)), "\n";
    Coroutine::join($ids);
    var_dump(Coroutine::exists($ids[0]), Coroutine::getElapsed() >= 20, Coroutine::getElapsed(99));
    $stats = Coroutine::stats();
    echo $stats['coroutine_num'], " ", $stats['coroutine_peak_num'], " ", $stats['stack_idle_num'], " ", $stats['switch_num'], "\n";
    go(fn() => 1);
    echo Coroutine::stats()['stack_num'], " stacks made\n";
});
?>
--EXPECT--
ArrayIterator: 1,2,3,4,5
1,2,3,4,5
bool(true)
bool(false)
bool(false)
5 5 5 5
coroutine_num coroutine_peak_num coroutine_last_cid c_stack_size stack_num stack_idle_num switch_num timer_num
bool(false)
bool(true)
int(-1)
1 5 4 10
5 stacks made
