--TEST--
Lock: a coroutine that ends while it holds one is unlocked, with a warning; a lock that its holder outlives is no matter
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Lock;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    $lock = new Lock;
    $holder = go(function () use ($lock) {
        $lock->lock();
        $lock->lock();
        Coroutine::sleep(0.001);
    });
    $ids = [];
    foreach (['a', 'b'] as $name) {
        $ids[] = go(function () use ($lock, $name) {
            var_dump($lock->lock());
            echo "$name has it\n";
            $lock->unlock();
        });
    }
    Coroutine::join($ids);
    Coroutine::join([go(function () use ($lock) {
        $lock->lock(LOCK_SH);
        throw new Coroutine\CanceledException('ends without unlock()');
    })]);
    var_dump($lock->lock());
    $lock->unlock();
    Coroutine::join([go(function () {
        $own = new Lock;
        $own->lock();
        unset($own);
        echo "its lock is gone\n";
    })]);
});
?>
--EXPECTF--
%s warning: coroutine 2 ended while it held a Coroutine\Lock, which was unlocked: unlock() belongs into finally
bool(true)
a has it
bool(true)
b has it
%s warning: coroutine 5 ended while it held a Coroutine\Lock, which was unlocked: unlock() belongs into finally
bool(true)
its lock is gone
