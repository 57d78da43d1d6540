--TEST--
Coroutines that wait for each other at a channel, a lock, a wait group, a semaphore, a barrier or a scope are reported; a deadline makes it none
--FILE--
<?php
use Apus\Coroutine\{Barrier, Channel, DeadlockException, Lock, Scope, Semaphore, TimeoutException, WaitGroup};
use function Apus\go;
use function Apus\Coroutine\{run, select, timeout};

$keep = null;
$stuck = [
    'pop' => fn() => (new Channel)->pop(),
    'push' => function () { $c = new Channel; $c->push(1); $c->push(2); },
    'select' => fn() => select([new Channel, new Channel]),
    'wait group' => fn() => (new WaitGroup(1))->wait(),
    'lock' => function () {
        [$a, $b] = [new Lock, new Lock];
        go(function () use ($a, $b) {
            $a->lock();
            Apus\Coroutine::sleep(0.001);
            try { $b->lock() && $b->unlock(); } finally { $a->unlock(); }
        });
        $b->lock();
        Apus\Coroutine::sleep(0.001);
        try { $a->lock() && $a->unlock(); } finally { $b->unlock(); }
    },
    'semaphore' => function () { $s = new Semaphore(1); $s->acquire(); $s->acquire(); },
    'barrier' => function () use (&$keep) { $keep = Barrier::make(); $b = $keep; Barrier::wait($b); },
    'scope' => fn() => Scope::run(fn(Scope $s) => $s->spawn(fn() => (new Channel)->pop())),
];
foreach ($stuck as $name => $function) {
    try {
        run($function);
        echo "$name: no deadlock\n";
    } catch (DeadlockException $e) {
        preg_match_all('/waits in (\S+)/', $e->getMessage(), $found);
        echo "$name: ", implode(', ', $found[1]), "\n";
    }
}
$keep = null;
run(function () {
    try {
        timeout(0.01, fn() => (new Channel)->pop());
    } catch (TimeoutException $e) {
        echo $e->getMessage(), "\n";
    }
});
?>
--EXPECT--
pop: Coroutine\Channel::pop():
push: Coroutine\Channel::push():
select: Coroutine\select():
wait group: Coroutine\WaitGroup::wait():
lock: Coroutine\Lock::lock():, Coroutine\Lock::lock():
semaphore: Coroutine\Semaphore::acquire():
barrier: Coroutine\Barrier::wait():
scope: Coroutine\Scope::run():, Coroutine\Channel::pop():
the time was over while the coroutine waited in Coroutine\Channel::pop()
