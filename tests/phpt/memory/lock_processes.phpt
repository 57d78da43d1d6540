--TEST--
Lock: between processes and coroutines, nobody two at once; a killed holder's is free, and the next is told
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use Apus\{Atomic, Lock};
use Apus\Coroutine;
use function Apus\Coroutine\{batch, run};

function child(callable $do): int
{
    if (($pid = pcntl_fork()) === 0) {
        $do();
        posix_kill(posix_getpid(), SIGKILL);
    }
    return $pid;
}

$file = tempnam(sys_get_temp_dir(), 'apus-lock');
foreach (['MUTEX', 'RWLOCK', 'SPINLOCK', 'SEM', 'FILELOCK'] as $name) {
    $type = constant("Apus\\$name");
    $lock = $type === Apus\FILELOCK ? new Lock($type, $file) : new Lock($type);
    $inside = new Atomic();
    $most = new Atomic();
    $rounds = new Atomic();
    $once = function (bool $switch) use ($lock, $inside, $most, $rounds) {
        for ($i = 0; $i < 20; $i++) {
            $lock->lock() || exit("not locked\n");
            $inside->add() > 1 && $most->add();
            $switch && Coroutine::sleep(0);
            $rounds->add();
            $inside->sub();
            $lock->unlock();
        }
    };
    $pids = [];
    foreach ([1, 2] as $_) {
        $pids[] = child(fn() => $once(false));
        $pids[] = child(fn() => run(fn() => batch(array_fill(0, 3, fn() => $once(true)))));
    }
    foreach ($pids as $pid) {
        pcntl_waitpid($pid, $status);
    }
    echo "$name: ", $rounds->get(), ' rounds, ', $most->get(), " together\n";

    // In a process that waits, and in one whose coroutine waits.
    $ready = new Atomic();
    $hold = function (int $operation) use ($lock, $ready) {
        $lock->lock($operation);
        $ready->set(1);
        for (;;) {
            sleep(1);
        }
    };
    $holder = function (int $operation) use ($hold, $ready) {
        $ready->set(0);
        $pid = child(fn() => $hold($operation));
        while ($ready->get() === 0) {
            usleep(100);
        }
        return $pid;
    };
    $state = fn() => json_encode([$lock->errCode, $lock->recovered()]);
    $now = new Atomic();
    $killer = function (int $pid) use ($now) {
        while ($now->get() === 0) {
            usleep(500);
        }
        posix_kill($pid, SIGKILL);
    };
    $pid = $holder(LOCK_EX);
    echo json_encode([$lock->trylock(), $lock->lockwait(0.002), $lock->errCode]), "\n";
    $now->set(1);
    $other = child(fn() => $killer($pid));
    echo 'outside: ', json_encode($lock->lock()), $state(), json_encode($lock->unlock()), $state(), json_encode($lock->lock()),
        $state(), "\n";
    $lock->unlock();
    pcntl_waitpid($other, $status);
    pcntl_waitpid($pid, $status);
    $pid = $holder(LOCK_EX);
    $now->set(0);
    $other = child(fn() => $killer($pid));
    run(function () use ($lock, $state, $now) {
        $ticks = 0;
        Apus\go(function () use (&$ticks, $now) {
            while ($ticks >= 0) {
                Coroutine::sleep(0.0005);
                $now->set((int) ($ticks++ > 0));
            }
        });
        echo 'inside: ', json_encode($lock->lock()), $state(), $ticks > 0 ? ' the loop ran' : ' the loop stood', "\n";
        $ticks = -2;
        $lock->unlock();
    });
    pcntl_waitpid($other, $status);
    pcntl_waitpid($pid, $status);
    $pid = $holder(LOCK_SH);
    posix_kill($pid, SIGKILL);
    echo 'shared: ', json_encode($lock->lock()), $state(), "\n";
    pcntl_waitpid($pid, $status);
    $lock->unlock();
    $pid = $holder(LOCK_EX);
    echo 'unlocked elsewhere: ', json_encode([$lock->unlock(), $lock->errCode]), "\n";
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}
unlink($file);

echo "sharing twice while another wants it alone:\n";
$lock = new Lock(Lock::RWLOCK);
$lock->lock_read();
$writer = child(function () use ($lock, $inside) {
    $lock->lock();
    $inside->set(42);
});
while ($lock->trylock_read()) {
    // It is not claimed yet. Code that shares it already may share it again at any time, so a coroutine asks, which
    // does not.
    $lock->unlock();
    $claimed = false;
    run(function () use ($lock, &$claimed) {
        $claimed = !$lock->trylock_read() || !$lock->unlock();
    });
    if ($claimed) {
        break;
    }
}
echo json_encode([$inside->get(), $lock->lock_read(), $lock->unlock(), $lock->unlock()]), "\n";
pcntl_waitpid($writer, $status);
echo $inside->get(), "\n";
?>
--EXPECT--
MUTEX: 160 rounds, 0 together
[false,false,110]
outside: true[130,true]true[0,true]true[0,false]
inside: true[130,true] the loop ran
shared: true[130,true]
unlocked elsewhere: [false,1]
RWLOCK: 160 rounds, 0 together
[false,false,110]
outside: true[130,true]true[0,true]true[0,false]
inside: true[130,true] the loop ran
shared: true[0,false]
unlocked elsewhere: [false,1]
SPINLOCK: 160 rounds, 0 together
[false,false,110]
outside: true[130,true]true[0,true]true[0,false]
inside: true[130,true] the loop ran
shared: true[130,true]
unlocked elsewhere: [false,1]
SEM: 160 rounds, 0 together
[false,false,110]
outside: true[130,true]true[0,true]true[0,false]
inside: true[130,true] the loop ran
shared: true[130,true]
unlocked elsewhere: [true,0]
FILELOCK: 160 rounds, 0 together
[false,false,110]
outside: true[130,true]true[0,true]true[0,false]
inside: true[130,true] the loop ran
shared: true[0,false]
unlocked elsewhere: [false,1]
sharing twice while another wants it alone:
[0,true,true,true]
42
