--TEST--
Swoole\Coroutine, System and Scheduler: names and numbers of the field over the same implementation
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;
use Swoole\Coroutine\System;

$scheduler = new Co\Scheduler();
$scheduler->set(['unknown there' => 1, 'max_coroutine' => 100]);
$scheduler->add(function () {
    var_dump(
        Coroutine::getContext() instanceof Coroutine\Context,
        Coroutine::getContext() instanceof Apus\Coroutine\Context,
    );
    var_dump(get_class(Coroutine::list()), count(Coroutine::list()), get_class(Swoole\Timer::list()));

    echo "-- cancelled waits: false, and the number there\n";
    $me = Coroutine::getCid();
    $cancel = fn (bool $throw = false) => Coroutine::create(function () use ($me, $throw) {
        System::sleep(0.001);
        var_dump(Coroutine::cancel($me, throw_exception: $throw));
    });
    $cancel();
    var_dump(System::sleep(100), swoole_last_error() === SWOOLE_ERROR_CO_CANCELED, Coroutine::isCanceled());
    $cancel();
    var_dump(Coroutine::yield(), swoole_last_error() === SWOOLE_ERROR_CO_CANCELED);
    $other = go(fn () => Coroutine::suspend());
    $cancel();
    var_dump(Coroutine::join(cid_array: [$other]), swoole_last_error() === SWOOLE_ERROR_CO_CANCELED);
    var_dump(Coroutine::join([$other], 0.001), swoole_last_error() === SWOOLE_ERROR_CO_TIMEDOUT);
    $cancel(true);
    try {
        Coroutine::sleep(100);
    } catch (Coroutine\CanceledException $e) {
        echo get_class($e), ' ', $e instanceof Apus\Coroutine\CanceledException ? 'is ours, too' : '', "\n";
    }
    Coroutine::resume($other);

    echo "-- what cannot be\n";
    var_dump(Coroutine::join([]), swoole_last_error() === SWOOLE_ERROR_INVALID_PARAMS);
    var_dump(Coroutine::join([$me]), swoole_last_error() === SWOOLE_ERROR_WRONG_OPERATION);
    var_dump(Coroutine::cancel(99), swoole_last_error() === SWOOLE_ERROR_CO_NOT_EXISTS);
    var_dump(Coroutine::cancel($me), swoole_last_error() === SWOOLE_ERROR_CO_CANNOT_CANCEL);
    var_dump(Coroutine::resume(99), Coroutine::set(['max_coroutine' => 'many']));
    $limit = Coroutine::getOptions()['max_coroutine'];
    Coroutine::set(['max_coroutine' => Coroutine::stats()['coroutine_num']]);
    var_dump(go(fn () => 1), Coroutine::create(fn () => 1));
    Coroutine::set(['max_coroutine' => $limit]);

    echo "-- what Apus has in System\n";
    var_dump(Coroutine::exec('echo from a shell')['output'], Coroutine::writeFile(__DIR__ . '/co.tmp', 'text'));
    var_dump(Coroutine::readFile(__DIR__ . '/co.tmp'), unlink(__DIR__ . '/co.tmp'), Coroutine::gethostbyname('127.0.0.1'));

    function shows(): void
    {
        Coroutine::printBackTrace();
    }
    shows();
});
var_dump($scheduler->start());
foreach ([Coroutine::class => 'create', Coroutine\Scheduler::class => 'parallel', System::class => 'getaddrinfo'] as $class => $name) {
    echo implode(', ', array_map(fn ($p) => $p->name, (new ReflectionMethod($class, $name))->getParameters())), "\n";
}
?>
--EXPECTF--
bool(true)
bool(true)
string(25) "Swoole\Coroutine\Iterator"
int(1)
string(21) "Swoole\Timer\Iterator"
-- cancelled waits: false, and the number there
bool(true)
bool(false)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(true)
Swoole\Coroutine\CanceledException is ours, too
-- what cannot be
bool(false)
bool(true)

Warning: Swoole\Coroutine::join(): can not join self in %s on line %d
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)

Warning: Swoole\Coroutine::resume(): can not resume the coroutine which is in IO operation or non-existent in %s on line %d

Warning: setting "max_coroutine" must be a whole number of coroutines from 1 to 10000000, "many" given in %s on line %d
bool(false)
NULL

Warning: go(): exceed max number of coroutine 1 in %s on line %d

Warning: Swoole\Coroutine::create(): exceed max number of coroutine 1 in %s on line %d
bool(false)
bool(false)
-- what Apus has in System
string(13) "from a shell
"
int(4)
string(4) "text"
bool(true)
string(9) "127.0.0.1"
#0 %s(55): shows()
#1 [internal function]: {closure%S}()
bool(true)
func, param
n, func, param
domain, family, socktype, protocol, service, timeout
