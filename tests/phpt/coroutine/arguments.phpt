--TEST--
Wrong arguments: PHP's own exceptions and words, and strict_types
--FILE--
<?php
declare(strict_types=1);
use Apus\Coroutine;
use Apus\Timer;
use Apus\Coroutine\Scheduler;

$calls = [
    fn() => Coroutine::create(),
    fn() => Coroutine::create('no_such_function'),
    fn() => Coroutine::create([new stdClass, 'nothing']),
    fn() => Apus\go(1),
    fn() => Coroutine::sleep(),
    fn() => Coroutine::sleep("1"),
    fn() => Coroutine::sleep(1, 2),
    fn() => Coroutine::sleep([]),
    fn() => Coroutine::resume("x"),
    fn() => Coroutine::exists(),
    fn() => Coroutine::exists(1.5),
    fn() => Coroutine::getCid(1),
    fn() => Coroutine::join(1),
    fn() => Coroutine::cancel(1, "yes"),
    fn() => Coroutine::set(null),
    fn() => Coroutine::defer("no_such_function"),
    fn() => Apus\Coroutine\run(),
    fn() => Apus\Coroutine\run("no_such_function"),
    fn() => Apus\Coroutine\batch("x"),
    fn() => Apus\Coroutine\parallel("2", fn() => 1),
    fn() => Timer::tick("1", fn() => 1),
    fn() => Timer::tick(0, fn() => 1),
    fn() => Timer::after(2147483648, fn() => 1),
    fn() => Timer::after(1, "no_such_function"),
    fn() => Timer::clear(),
    fn() => new Scheduler(1),
    fn() => (new Scheduler)->add(),
    fn() => (new Scheduler)->parallel(0, fn() => 1),
];
foreach ($calls as $call) {
    try {
        $call();
        echo "accepted\n";
    } catch (Throwable $e) {
        echo get_class($e), ": ", $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
ArgumentCountError: Apus\Coroutine::create() expects at least 1 argument, 0 given
TypeError: Apus\Coroutine::create(): Argument #1 ($callback) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Apus\Coroutine::create(): Argument #1 ($callback) must be a valid callback, class stdClass does not have a method "nothing"
TypeError: Apus\go(): Argument #1 ($callback) must be a valid callback, no array or string given
ArgumentCountError: Apus\Coroutine::sleep() expects exactly 1 argument, 0 given
TypeError: Apus\Coroutine::sleep(): Argument #1 ($seconds) must be of type float, string given
ArgumentCountError: Apus\Coroutine::sleep() expects exactly 1 argument, 2 given
TypeError: Apus\Coroutine::sleep(): Argument #1 ($seconds) must be of type float, array given
TypeError: Apus\Coroutine::resume(): Argument #1 ($cid) must be of type int, string given
ArgumentCountError: Apus\Coroutine::exists() expects exactly 1 argument, 0 given
TypeError: Apus\Coroutine::exists(): Argument #1 ($cid) must be of type int, float given
ArgumentCountError: Apus\Coroutine::getCid() expects exactly 0 arguments, 1 given
TypeError: Apus\Coroutine::join(): Argument #1 ($cids) must be of type array, int given
TypeError: Apus\Coroutine::cancel(): Argument #2 ($throwException) must be of type bool, string given
TypeError: Apus\Coroutine::set(): Argument #1 ($options) must be of type array, null given
TypeError: Apus\Coroutine::defer(): Argument #1 ($callback) must be a valid callback, function "no_such_function" not found or invalid function name
ArgumentCountError: Apus\Coroutine\run() expects at least 1 argument, 0 given
TypeError: Apus\Coroutine\run(): Argument #1 ($callback) must be a valid callback, function "no_such_function" not found or invalid function name
TypeError: Apus\Coroutine\batch(): Argument #1 ($tasks) must be of type array, string given
TypeError: Apus\Coroutine\parallel(): Argument #1 ($n) must be of type int, string given
TypeError: Apus\Timer::tick(): Argument #1 ($ms) must be of type int, string given
ValueError: Apus\Timer::tick(): Argument #1 ($ms) must be between 1 and 2147483647 milliseconds, 0 given
ValueError: Apus\Timer::after(): Argument #1 ($ms) must be between 1 and 2147483647 milliseconds, 2147483648 given
TypeError: Apus\Timer::after(): Argument #2 ($callback) must be a valid callback, function "no_such_function" not found or invalid function name
ArgumentCountError: Apus\Timer::clear() expects exactly 1 argument, 0 given
ArgumentCountError: Apus\Coroutine\Scheduler::__construct() expects exactly 0 arguments, 1 given
ArgumentCountError: Apus\Coroutine\Scheduler::add() expects at least 1 argument, 0 given
ValueError: Apus\Coroutine\Scheduler::parallel(): Argument #1 ($n) must be at least 1, 0 given
