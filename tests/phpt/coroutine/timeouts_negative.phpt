--TEST--
A time-out that is negative or infinite is no limit, wherever one is given
--FILE--
<?php
use Apus\{Atomic, ConnectionPool, Coroutine, Lock, Queue};
use Apus\Coroutine\{Channel, Semaphore, Socket, WaitGroup};
use function Apus\Coroutine\{batch, run, select, timeout};
use function Apus\go;

function soon(callable $then): void
{
    go(function () use ($then): void {
        Coroutine::sleep(0.001);
        $then();
    });
}

/** What each call gives that has to wait for something. */
function results(float $forever): iterable
{
    $channel = new Channel;
    soon(fn() => $channel->push('pushed'));
    yield 'pop' => $channel->pop($forever);
    soon(fn() => $channel->push('selected'));
    yield 'select' => select(['it' => $channel], $forever)[1];
    $channel->push('full');
    soon(fn() => $channel->pop());
    yield 'push' => $channel->push('more', $forever);

    $semaphore = new Semaphore(1);
    $semaphore->acquire();
    soon(fn() => $semaphore->release());
    yield 'acquire' => $semaphore->acquire($forever);

    $group = new WaitGroup(1);
    soon(fn() => $group->done());
    yield 'wait group' => $group->wait($forever);

    foreach ([new Coroutine\Lock, new Coroutine\Lock(true), new Lock] as $lock) {
        $locked = new Channel;
        go(function () use ($lock, $locked): void {
            $lock->lock();
            $locked->push(true);
            Coroutine::sleep(0.001);
            $lock->unlock();
        });
        $locked->pop();
        yield $lock::class => $lock->lock(LOCK_EX, $forever);
    }

    $queue = new Queue(4096);
    soon(fn() => $queue->push('queued'));
    yield 'queue' => $queue->pop($forever);

    $atomic = new Atomic(0);
    soon(function () use ($atomic): void {
        $atomic->set(1);
        $atomic->wakeup();
    });
    yield 'atomic' => $atomic->wait($forever);

    $pool = new ConnectionPool(fn() => new stdClass, 1);
    $first = $pool->get();
    soon(function () use ($pool, $first): void {
        $pool->put($first);
    });
    yield 'pool' => $pool->get($forever) === $first;

    $server = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
    $server->bind('127.0.0.1');
    $server->listen();
    $client = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
    soon(fn() => $client->connect('127.0.0.1', $server->getsockname()['port'], $forever));
    $peer = $server->accept($forever);
    soon(fn() => $client->send('sent'));
    yield 'socket' => $peer->recv(4, $forever);

    yield 'join' => Coroutine::join([go(fn() => Coroutine::sleep(0.001))], $forever);
    yield 'batch' => batch([fn() => Coroutine::sleep(0.001)], $forever)[0];
    yield 'timeout' => timeout($forever, fn() => Coroutine::sleep(0.001));
}

run(function (): void {
    foreach ([-0.5, -INF, INF] as $forever) {
        foreach (results($forever) as $what => $result) {
            if (!$result) {
                echo "$what with $forever: ", var_export($result, true), "\n";
            }
        }
    }
    echo "done\n";
});
?>
--EXPECT--
done
