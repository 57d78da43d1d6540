--TEST--
Lock in coroutines: waiting, cancelling, who would wait for itself
--FILE--
<?php
use Apus\{Coroutine, Lock};
use function Apus\Coroutine\run;
use function Apus\go;

$lock = new Lock(Lock::RWLOCK);
run(function () use ($lock) {
    var_dump($lock->lock(), $lock->lock(), $lock->errCode);
    go(function () use ($lock) {
        var_dump($lock->lock(LOCK_EX, 0.002), $lock->errCode);
        echo "another may unlock: ";
        var_dump($lock->unlock());
    });
    Coroutine::sleep(0.01);
    var_dump($lock->lock_read(), $lock->lock_read());
    $writer = go(function () use ($lock) {
        $locked = $lock->lock();
        echo 'cancelled: ', json_encode([$locked, $lock->errCode]), "\n";
    });
    Coroutine::sleep(0.001);
    go(fn() => print('a writer waits: ' . json_encode($lock->trylock_read())));
    echo ', who shares it already may again: ', json_encode([$lock->trylock_read(), $lock->unlock()]), "\n";
    go(function () use ($lock) {
        $locked = $lock->lock_read();
        echo 'the reader: ', json_encode($locked), "\n";
        $lock->unlock();
    });
    Coroutine::sleep(0.001);
    Coroutine::cancel($writer);
    Coroutine::sleep(0.005);
    $other = go(function () use ($lock) {
        try {
            $lock->lock();
        } catch (Coroutine\CanceledException $exception) {
            echo $exception->getMessage(), "\n";
        }
    });
    Coroutine::cancel($other, true);
    Coroutine::sleep(0.001);
    $lock->unlock();
    $lock->unlock();
    var_dump($lock->unlock(), $lock->trylock(), $lock->unlock());
});
$semaphore = new Lock(Lock::SEM);
run(function () use ($semaphore) {
    $semaphore->lock();
    go(function () use ($semaphore) {
        Coroutine::sleep(0.002);
        $semaphore->unlock();
    });
    var_dump($semaphore->lock());
});
?>
--EXPECT--
bool(true)
bool(false)
int(35)
bool(false)
int(110)
another may unlock: bool(true)
bool(true)
bool(true)
a writer waits: false, who shares it already may again: [true,true]
cancelled: [false,125]
the reader: true
the coroutine was cancelled while it waited in Lock::lock()
bool(false)
bool(true)
bool(true)
bool(true)
