--TEST--
ConnectionPool: subclasses, a proxy class, and use outside coroutines
--FILE--
<?php
require __DIR__ . '/conn.inc';
Conn::$quiet = true;
use Apus\ConnectionPool;
use Apus\Coroutine;

class Proxy
{
    public readonly Conn $inner;

    public function __construct(callable $constructor)
    {
        $this->inner = $constructor();
    }
}

class MyPool extends ConnectionPool
{
    public function __construct()
    {
        parent::__construct(fn() => new Conn, 1);
    }

    public function get(float $timeout = -1): mixed
    {
        echo "get of {$this->size}\n";
        return parent::get($timeout);
    }
}

echo "outside coroutines\n";
$pool = new ConnectionPool(fn() => new Conn, 1, Proxy::class);
$conn = $pool->get();
var_dump(get_class($conn), $conn->inner->id);
complain(fn() => $pool->get());
$pool->put($conn);
var_dump($pool->use(fn($conn) => $conn->inner->id));
$pool->get();
$pool->put(null);
shown($pool, 'in_use', 'idle', 'created', 'replaced');
complain(fn() => (new ConnectionPool(fn() => 1, 1, 'NoSuchClass'))->get());
complain(fn() => (new ConnectionPool(fn() => 1, 1, 'Countable'))->get());

echo "inside\n";
Coroutine\run(function () {
    $pool = new MyPool;
    $conn = $pool->get();
    complain(fn() => $pool->get(0.01));
    $pool->put($conn);
    $pool->use(fn() => print "used\n");
    shown($pool, 'in_use', 'idle', 'created');
});

echo "one that stays between two loops\n";
$pool = new ConnectionPool(fn() => new Conn, 1);
Coroutine\run(fn() => $pool->put($pool->get()));
Coroutine\run(fn() => $pool->put($pool->get()));
shown($pool, 'in_use', 'idle', 'created');

echo "one that is let go of while others wait is found before they are taken for dead\n";
Coroutine\run(function () use ($pool) {
    $conn = $pool->get();
    $waiter = Apus\go(fn() => $pool->use(fn($mine) => print "got {$mine->id}\n"));
    $conn = null;
    Coroutine::join([$waiter]);
});

echo "a deadlock is found\n";
complain(fn() => Coroutine\run(function () use ($pool) {
    $conn = $pool->get();
    $pool->get();
}));
?>
--EXPECTF--
outside coroutines
string(5) "Proxy"
int(1)
Apus\Coroutine\Exception 1: ConnectionPool::get() waits and needs a coroutine: call it inside Apus\Coroutine\run() or Apus\go()
int(1)
{"in_use":0,"idle":0,"created":1,"replaced":1}
Apus\ConnectionPool\Exception 403: the pool could not make a connection: Class "NoSuchClass" does not exist
Apus\ConnectionPool\Exception 403: the pool could not make a connection: Cannot instantiate interface Countable
inside
get of 1
get of 1
Apus\ConnectionPool\Exception 401: no connection came free within %s
used
{"in_use":0,"idle":1,"created":1}
one that stays between two loops
{"in_use":0,"idle":1,"created":1}
one that is let go of while others wait is found before they are taken for dead

Warning: Apus\ConnectionPool: a connection was never given back: coroutine %d, taken at %ssubclass.php:%d 0.%d s ago. It was closed; use put() in a finally block, or use() in %s on line %d
got %d
a deadlock is found
Apus\Coroutine\DeadlockException 0: all 1 coroutines wait for each other, none can go on (deadlock):
coroutine %d (made by -1) waits in ConnectionPool::get():
%A
