--TEST--
enable_coroutine off: timers of a script call their callbacks outside of coroutines
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;
use Swoole\Event;
use Swoole\Timer;

swoole_async_set(['enable_coroutine' => false]);
Timer::after(1, fn (string $given) => printf("after %d %s\n", Coroutine::getCid(), $given), 'given');
$rounds = 0;
Timer::tick(1, function (int $id) use (&$rounds) {
    printf("tick %d\n", Coroutine::getCid());
    // Nothing else runs meanwhile, and time passes.
    usleep(1000);
    if (++$rounds === 2) {
        Timer::clear($id);
    }
});
Event::wait();
var_dump(Timer::stats()['num']);
Coroutine::set(['enable_coroutine' => true]);
Timer::after(1, fn () => var_dump(Coroutine::getCid() > 0));
Event::wait();
Coroutine::set(['enable_coroutine' => false]);
Timer::after(1, fn () => throw new LogicException('not caught'));
Timer::after(20, fn () => print("never\n"));
Event::wait();
?>
--EXPECTF--
after -1 given
tick -1
tick -1
int(0)
bool(true)

Fatal error: Uncaught LogicException: not caught in %s:%d
Stack trace:
%A
  thrown in %s on line %d
