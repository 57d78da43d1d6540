--TEST--
Swoole\Timer and Swoole\Event: false and a warning instead of an exception
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Event;
use Swoole\Timer;

$id = Timer::after(ms: 60_000, callback: fn () => 0);
var_dump(
    Timer::exists(timer_id: $id),
    Timer::info($id)['interval'] >= 0,
    [...Timer::list()] === [$id],
    Timer::clear($id),
    Timer::clear($id),
);
var_dump(
    Timer::tick(0, fn () => 0),
    swoole_last_error() === SWOOLE_ERROR_INVALID_PARAMS,
    swoole_timer_after(-1, fn () => 0),
);
$count = 0;
Timer::tick(1, function (int $id, string $text) use (&$count) {
    if (++$count === 3) {
        echo "$text $count\n";
        Timer::clear($id);
    }
}, 'ticks:');

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
var_dump(Event::add($a, function ($a) {
    echo fread($a, 100), "\n";
    Event::del($a);
}) > 0, swoole_event_isset($a), Event::add($a, fn () => 0), Event::isset($a, SWOOLE_EVENT_WRITE));
var_dump(Event::add($b, null, null, SWOOLE_EVENT_READ), Event::del($b));
fwrite($b, 'an event');
Event::defer(function () { echo "deferred\n"; });
Event::wait();
var_dump(
    (new ReflectionClass(Event::class))->isFinal(),
    (new ReflectionClass(Timer::class))->isFinal(),
    Timer::stats()['num'],
);
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)

Warning: Swoole\Timer::tick(): Argument #1 ($ms) must be between 1 and 2147483647 milliseconds, 0 given in %s on line %d

Warning: swoole_timer_after(): Argument #1 ($ms) must be between 1 and 2147483647 milliseconds, -1 given in %s on line %d
bool(false)
bool(true)
bool(false)

Warning: Apus\Event::add(): descriptor %d is watched already: use Event::set() in %s on line %d
bool(true)
bool(true)
bool(false)
bool(false)

Warning: Swoole\Event::add(): Argument #2 ($read_callback) must be a callback when Apus\EVENT_READ is watched, null given in %s on line %d
bool(false)
bool(false)
deferred
an event
ticks: 3
bool(false)
bool(false)
int(0)
