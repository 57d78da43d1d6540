--TEST--
NAN is no time-out, wherever one is given
--FILE--
<?php
use Apus\{Atomic, Cache, ConnectionPool, Coroutine, Lock, MessageQueue, Process, Queue};
use Apus\Coroutine\{Barrier, Channel, Scope, Semaphore, Socket, System, WaitGroup};
use function Apus\Coroutine\{batch, run, select, timeout};

run(function (): void {
    $channel = new Channel;
    $barrier = Barrier::make();
    $lock = new Coroutine\Lock;
    $semaphore = new Semaphore(1);
    $group = new WaitGroup;
    $socket = new Socket(Apus\AF_INET, Apus\SOCK_STREAM, 0);
    $client = new Coroutine\Client(Apus\SOCK_STREAM);
    $process = new Process(fn() => null);
    $shared = new Lock;
    $queue = new Queue(4096);
    $atomic = new Atomic;
    $cache = new Cache(1 << 20);
    $pool = new ConnectionPool(fn() => new stdClass, 1);
    $calls = [
        fn() => Coroutine::sleep(NAN),
        fn() => Coroutine::join([], NAN),
        fn() => batch([], NAN),
        fn() => $channel->push(1, NAN),
        fn() => $channel->pop(NAN),
        fn() => $group->wait(NAN),
        function () use (&$barrier): void { Barrier::wait($barrier, NAN); },
        fn() => $lock->lock(LOCK_EX, NAN),
        fn() => $semaphore->acquire(NAN),
        fn() => Scope::run(fn() => 1, NAN),
        fn() => new Scope(NAN),
        fn() => select([$channel], NAN),
        fn() => timeout(NAN, fn() => 1),
        fn() => System::sleep(NAN),
        fn() => System::wait(NAN),
        fn() => System::waitSignal(SIGUSR1, NAN),
        fn() => $socket->accept(NAN),
        fn() => $socket->connect('127.0.0.1', 1, NAN),
        fn() => $socket->recv(1, NAN),
        fn() => $socket->recvLine(1, NAN),
        fn() => $socket->recvPacket(NAN),
        fn() => $socket->sendAll('x', NAN),
        fn() => $socket->readVector([1], NAN),
        fn() => $client->connect('127.0.0.1', 1, NAN),
        fn() => $client->recv(NAN),
        fn() => $client->send('x', NAN),
        fn() => $process->setTimeout(NAN),
        fn() => $shared->lock(LOCK_EX, NAN),
        fn() => $shared->lockwait(NAN),
        fn() => $queue->push(1, NAN),
        fn() => $queue->pop(NAN),
        fn() => $atomic->wait(NAN),
        fn() => $cache->remember('k', 1, fn() => 1, NAN),
        fn() => $pool->get(NAN),
        fn() => $pool->use(fn() => 1, NAN),
    ];
    foreach ($calls as $call) {
        try {
            $call();
            $line = (new ReflectionFunction($call))->getStartLine();
            echo "nothing is wrong with line $line: ", trim(file(__FILE__)[$line - 1]), "\n";
        } catch (Throwable $error) {
            echo $error::class, ': ', $error->getMessage(), "\n";
        }
    }
});
?>
--EXPECT--
ValueError: Apus\Coroutine::sleep(): Argument #1 ($seconds) must be 0 or more seconds, NaN given
ValueError: Apus\Coroutine::join(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\batch(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Channel::push(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Channel::pop(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\WaitGroup::wait(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Barrier::wait(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Lock::lock(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Semaphore::acquire(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Scope::run(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Scope::__construct(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\select(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\timeout(): Argument #1 ($seconds) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\System::sleep(): Argument #1 ($seconds) must be 0 or more seconds, NaN given
ValueError: Apus\Coroutine\System::wait(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\System::waitSignal(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Socket::accept(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Socket::connect(): Argument #3 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Socket::recv(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Socket::recvLine(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Socket::recvPacket(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Socket::sendAll(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Socket::readVector(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Client::connect(): Argument #3 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Client::recv(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Coroutine\Client::send(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Process::setTimeout(): Argument #1 ($seconds) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Lock::lock(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Lock::lockwait(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Queue::push(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Queue::pop(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Atomic::wait(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\Cache::remember(): Argument #4 ($wait) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\ConnectionPool::get(): Argument #1 ($timeout) must be a number of seconds (negative for no limit), NAN given
ValueError: Apus\ConnectionPool::use(): Argument #2 ($timeout) must be a number of seconds (negative for no limit), NAN given
