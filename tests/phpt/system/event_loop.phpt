--TEST--
Event: wait(), dispatch(), defer(), cycle(), exit(), rshutdown(); order, exceptions, nesting
--FILE--
<?php
use Apus\{Coroutine, Event, Timer};
use function Apus\go;
use function Apus\Coroutine\run;

echo "wait() with nothing to do\n";
Event::wait();

echo "cycle:\n";
$n = 0;
var_dump(Event::cycle(null));
var_dump(Event::cycle(function () use (&$n) {
    echo "cycle $n in a coroutine: ", var_export(Coroutine::getCid() > 0, true), "\n";
    if (++$n === 3) {
        var_dump(Event::cycle(null), Event::cycle(null));
    }
}));
Timer::after(30, function () {
    echo "timer 1\n";
    Timer::after(30, fn() => print("timer 2\n"));
    Event::defer(function () { echo "deferred\n"; });
});
Event::wait();

echo "defer:\n";
Event::defer(fn() => print("1 "));
Event::defer(function () { Coroutine::sleep(0.01); echo "after sleeping\n"; });
Event::defer(fn() => print("2\n"));
echo "not yet\n";
Event::wait();

echo "dispatch:\n";
$id = Timer::tick(10, fn() => print("tick\n"));
for ($i = 0; $i < 3; $i++) {
    echo "turn $i\n";
    var_dump(Event::dispatch());
}
Timer::clear($id);
var_dump(Event::dispatch());

echo "exit:\n";
[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
Event::add($a, fn() => print("never\n"));
Timer::tick(1000, fn() => print("never\n"));
go(function () {
    try {
        Coroutine::sleep(1000);
    } finally {
        echo "cancelled\n";
    }
});
Timer::after(5, function () {
    Event::exit();
    echo "exit returns\n";
});
Event::wait();
var_dump(Event::isset($a), Timer::stats()['num']);

echo "inside a coroutine:\n";
run(function () {
    foreach (['wait', 'dispatch', 'rshutdown'] as $method) {
        try {
            Event::$method();
        } catch (Coroutine\Exception $e) {
            echo $e->getCode() === Coroutine\Exception::NESTED_RUN ? $e->getMessage() : $e->getCode(), "\n";
        }
    }
});

echo "exceptions end the loop and what it watches:\n";
foreach (['wait', 'dispatch'] as $method) {
    Event::add($a, function () { throw new LogicException('from a callback'); });
    fwrite($b, 'x');
    try {
        Event::$method();
    } catch (LogicException $e) {
        echo "$method: ", $e->getMessage(), "\n";
    }
    var_dump(Event::isset($a));
}

echo "arguments:\n";
$wrong = [
    fn() => Event::add($a),
    fn() => Event::add($a, fn() => 0, null, Apus\EVENT_READ | Apus\EVENT_WRITE),
    fn() => Event::add($a, fn() => 0, null, 1),
    fn() => Event::add($a, 'no such function'),
    fn() => Event::add('x', fn() => 0),
    fn() => Event::add(-1, fn() => 0),
    fn() => Event::isset($a, 3),
    fn() => Event::write($a, ''),
    fn() => Event::defer(1),
    fn() => Event::cycle('no such function'),
];
foreach ($wrong as $call) {
    try {
        $call();
        echo "no exception\n";
    } catch (ValueError | TypeError $e) {
        echo get_class($e), ' ', $e->getMessage(), "\n";
    }
}
Event::add($a, fn() => 0);
var_dump(
    Event::add($a, fn() => 0),
    Event::set($b),
    Event::write($b, 'x'),
    Event::del($b),
    Event::add(987654, fn() => 0),
);
Event::del($a);

echo "left for the end of the script:\n";
Event::add($a, function ($a) { echo strlen(fread($a, 10)), "\n"; Event::del($a); });
?>
--EXPECTF--
wait() with nothing to do
cycle:
bool(false)
bool(true)
cycle 0 in a coroutine: true
timer 1
deferred
cycle 1 in a coroutine: true
timer 2
cycle 2 in a coroutine: true
bool(true)
bool(false)
defer:
not yet
1 2
after sleeping
dispatch:
turn 0
tick
bool(true)
turn 1
tick
bool(true)
turn 2
tick
bool(true)
bool(true)
exit:
exit returns
cancelled
bool(false)
int(0)
inside a coroutine:
Event::wait() cannot be called inside a coroutine: the event loop that it would run runs already
Event::dispatch() cannot be called inside a coroutine: the event loop that it would run runs already
Event::rshutdown() cannot be called inside a coroutine: the event loop that it would run runs already
exceptions end the loop and what it watches:
wait: from a callback
bool(false)
dispatch: from a callback
bool(false)
arguments:
ValueError Apus\Event::add(): Argument #2 ($read_callback) must be a callback when Apus\EVENT_READ is watched, null given
ValueError Apus\Event::add(): Argument #3 ($write_callback) must be a callback when Apus\EVENT_WRITE is watched, null given
ValueError Apus\Event::add(): Argument #4 ($events) must be Apus\EVENT_READ, Apus\EVENT_WRITE or both, 1 given
TypeError Apus\Event::add(): Argument #2 ($read_callback) must be a valid callback, function "no such function" not found or invalid function name
TypeError Apus\Event::add(): Argument #1 ($fd) must be a stream, a Socket or a descriptor (int), string given
ValueError Apus\Event::add(): Argument #1 ($fd) must be a descriptor of 0 or more, -1 given
ValueError Apus\Event::isset(): Argument #2 ($events) must be Apus\EVENT_READ, Apus\EVENT_WRITE or both, 3 given
ValueError Apus\Event::write(): Argument #2 ($data) cannot be empty
TypeError Apus\Event::defer(): Argument #1 ($callback) must be a valid callback, no array or string given
TypeError Apus\Event::cycle(): Argument #1 ($callback) must be a valid callback, function "no such function" not found or invalid function name

Warning: Apus\Event::add(): descriptor %d is watched already: use Event::set() in %s on line %d

Warning: Apus\Event::set(): the descriptor is not watched: use Event::add() first in %s on line %d

Warning: Apus\Event::write(): the descriptor is not watched: use Event::add() first in %s on line %d
bool(false)
bool(false)
bool(false)
bool(false)
bool(false)
left for the end of the script:
2
