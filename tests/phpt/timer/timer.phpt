--TEST--
tick(), after(), clear(), exists(), info(), list(), stats()
--FILE--
<?php
use Apus\Coroutine;
use Apus\Timer;
use function Apus\Coroutine\run;

var_dump(Timer::stats());
run(function () {
    $n = 0;
    $tick = Timer::tick(40, function (int $id, string ...$args) use (&$n) {
        $n++;
        echo "tick $n of $id: ", implode(",", $args), " in a coroutine: ", var_export(Coroutine::getCid() > 0, true), "\n";
        if ($n === 3) {
            var_dump(Timer::clear($id), Timer::clear($id));
        }
    }, "x", "y");
    $after = Timer::after(1, function (...$args) { echo "after: ", json_encode($args), "\n"; }, 1, null);
    $never = Timer::after(1, fn() => print("never\n"));
    var_dump($tick, Timer::exists($tick), Timer::exists(99), Timer::clear($never), Timer::exists($never));
    echo get_class(Timer::list()), " ", implode(",", iterator_to_array(Timer::list())), "\n";
    $info = Timer::info($tick);
    echo json_encode(array_diff_key($info, ['exec_msec' => 1])), " ", var_export($info['exec_msec'] <= 40, true), "\n";
    var_dump(Timer::info($after)['interval'], Timer::info(99));
    echo json_encode(Timer::stats()), "\n";
});
echo json_encode(Timer::stats()), "\n";
?>
--EXPECT--
array(3) {
  ["initialized"]=>
  bool(false)
  ["num"]=>
  int(0)
  ["round"]=>
  int(0)
}
int(1)
bool(true)
bool(false)
bool(true)
bool(false)
ArrayIterator 1,2
{"exec_count":0,"interval":40,"round":0,"removed":false} true
int(0)
NULL
{"initialized":true,"num":2,"round":0}
after: [1,null]
tick 1 of 1: x,y in a coroutine: true
tick 2 of 1: x,y in a coroutine: true
tick 3 of 1: x,y in a coroutine: true
bool(true)
bool(false)
{"initialized":true,"num":0,"round":4}
