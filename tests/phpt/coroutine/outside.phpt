--TEST--
What waits needs a coroutine: outside, it throws NOT_IN_COROUTINE and says what to do
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\{run, parallel};

foreach ([
    fn() => Coroutine::sleep(1),
    fn() => Coroutine::yield(),
    fn() => Coroutine::join([]),
    fn() => parallel(2, fn() => print("not called\n")),
] as $call) {
    try {
        $call();
    } catch (Coroutine\Exception $e) {
        echo $e->getCode() === Coroutine\Exception::NOT_IN_COROUTINE ? "NOT_IN_COROUTINE" : "wrong", " ", $e->getMessage(), "\n";
    }
}
var_dump(
    Coroutine::resume(1),
    Coroutine::cancel(1),
    Coroutine::exists(1),
    Coroutine::isCanceled(),
    count(Coroutine::list()),
);
// In a Fiber of the script's own, outside coroutines.
(new Fiber(function () {
    try {
        Coroutine::sleep(1);
    } catch (Coroutine\Exception $e) {
        echo "in a Fiber: ", $e->getCode(), "\n";
    }
    run(function () {
        Coroutine::sleep(0.001);
        echo "run() in a Fiber\n";
    });
}))->start();
run(function () {
    foreach ([fn() => run(fn() => 1), fn() => (new Coroutine\Scheduler)->start()] as $call) {
        try {
            $call();
        } catch (Coroutine\Exception $e) {
            echo $e->getCode() === Coroutine\Exception::NESTED_RUN ? "NESTED_RUN" : "wrong", "\n";
        }
    }
});
var_dump(is_subclass_of('Apus\Coroutine\Exception', 'Apus\Exception'), is_subclass_of('Apus\Exception', 'RuntimeException'));
?>
--EXPECT--
NOT_IN_COROUTINE Coroutine::sleep() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
NOT_IN_COROUTINE yield waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
NOT_IN_COROUTINE Coroutine::join() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
NOT_IN_COROUTINE Coroutine\parallel() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
bool(false)
bool(false)
bool(false)
bool(false)
int(0)
in a Fiber: 1
run() in a Fiber
NESTED_RUN
NESTED_RUN
bool(true)
bool(true)
