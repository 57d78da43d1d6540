--TEST--
cancel() at every wait point: quietly and with an exception; isCanceled(); what cannot be cancelled
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\CanceledException;
use function Apus\go;
use function Apus\Coroutine\{run, batch, parallel};

$waits = [
    'sleep' => fn() => Coroutine::sleep(10),
    'yield' => fn() => Coroutine::yield(),
    'join' => fn() => Coroutine::join([1]),
    'join with time' => fn() => Coroutine::join([1], 10),
    'batch' => fn() => batch(['k' => fn() => Coroutine::sleep(10)]),
    'parallel' => fn() => parallel(2, fn() => Coroutine::sleep(10)),
];
run(function () use ($waits) {
    foreach ($waits as $name => $wait) {
        foreach ([false, true] as $throw) {
            $id = go(function () use ($name, $wait) {
                try {
                    $result = $wait();
                    echo "$name gave ", json_encode($result);
                } catch (CanceledException $e) {
                    echo "$name threw: ", $e->getMessage();
                } finally {
                    echo ", canceled: ", var_export(Coroutine::isCanceled(), true), "\n";
                }
                Coroutine::sleep(0.001);
                echo "  the next wait is whole: ", var_export(!Coroutine::isCanceled(), true), "\n";
            });
            $done = Coroutine::cancel($id, $throw);
            $again = Coroutine::cancel($id, $throw);
            echo var_export($done, true), " ", var_export($again, true), "\n";
            Coroutine::join([$id]);
        }
    }
    var_dump(Coroutine::cancel(Coroutine::getCid()), Coroutine::cancel(99999), Coroutine::isCanceled());
    echo "left: ", Coroutine::stats()['coroutine_num'], "\n";
});
?>
--EXPECT--
true false
sleep gave false, canceled: true
  the next wait is whole: true
true false
sleep threw: the coroutine was cancelled while it waited in Coroutine::sleep(), canceled: true
  the next wait is whole: true
true false
yield gave false, canceled: true
  the next wait is whole: true
true false
yield threw: the coroutine was cancelled while it waited in yield, canceled: true
  the next wait is whole: true
true false
join gave false, canceled: true
  the next wait is whole: true
true false
join threw: the coroutine was cancelled while it waited in Coroutine::join(), canceled: true
  the next wait is whole: true
true false
join with time gave false, canceled: true
  the next wait is whole: true
true false
join with time threw: the coroutine was cancelled while it waited in Coroutine::join(), canceled: true
  the next wait is whole: true
true false
batch gave {"k":null}, canceled: true
  the next wait is whole: true
true false
batch threw: the coroutine was cancelled while it waited in Coroutine\batch(), canceled: true
  the next wait is whole: true
true false
parallel gave null, canceled: true
  the next wait is whole: true
true false
parallel threw: the coroutine was cancelled while it waited in Coroutine\parallel(), canceled: true
  the next wait is whole: true
bool(false)
bool(false)
bool(false)
left: 1
