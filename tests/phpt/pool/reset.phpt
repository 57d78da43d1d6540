--TEST--
ConnectionPool: what runs when a connection comes back, and handlers and destructors that throw
--FILE--
<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Coroutine;

Coroutine\run(function () {
    $pool = (new ConnectionPool(fn() => new Conn, 1))->set(['reset' => function (Conn $conn) {
        echo "reset {$conn->id}\n";
        return $conn->dead ? false : null;
    }]);
    $conn = $pool->get();
    $pool->put($conn);
    $conn = $pool->get();
    $conn->dead = true;
    $pool->put($conn);
    $conn = null;
    shown($pool, 'in_use', 'idle', 'created', 'replaced');
    $pool->set(['reset' => fn() => throw new Exception('hidden')]);
    $pool->put($pool->get());
    shown($pool, 'in_use', 'idle', 'created', 'replaced');

    echo "a cancelled reset\n";
    $pool->set(['reset' => fn() => Coroutine::sleep(1e6)]);
    $cid = Apus\go(fn() => complain(fn() => $pool->put($pool->get())));
    Coroutine::cancel($cid, true);
    Coroutine::join([$cid]);
    shown($pool, 'in_use', 'idle');
    $pool->set(['reset' => fn() => Coroutine::sleep(1e6) || true]);
    $cid = Apus\go(fn() => $pool->put($pool->get()));
    Coroutine::cancel($cid);
    Coroutine::join([$cid]);
    shown($pool, 'in_use', 'idle');
    Conn::$quiet = true;

    echo "a destructor that throws\n";
    $pool = new ConnectionPool(fn() => new class {
        public function __destruct() { throw new Exception('from the destructor'); }
    }, 1);
    $pool->get();
    complain(fn() => $pool->put(null));
    shown($pool, 'in_use', 'idle', 'created', 'replaced');

    echo "warnings that are exceptions\n";
    set_error_handler(fn($code, $text) => throw new ErrorException($text, $code));
    $pool = new ConnectionPool(fn() => new Conn, 1);
    $conn = $pool->get();
    $conn = null;
    complain(fn() => $pool->get());
    $pool->put($pool->get());
    shown($pool, 'in_use', 'idle', 'created', 'replaced', 'lost');
});
?>
--EXPECTF--
made 1
reset 1
reset 1
closed 1
{"in_use":0,"idle":0,"created":1,"replaced":1}
made 2
closed 2
{"in_use":0,"idle":0,"created":2,"replaced":2}
a cancelled reset
made 3
Apus\Coroutine\CanceledException 0: the coroutine was cancelled while it waited in Coroutine::sleep()
closed 3
{"in_use":0,"idle":0}
made 4
closed 4
{"in_use":0,"idle":0}
a destructor that throws
Exception 0: from the destructor
{"in_use":0,"idle":0,"created":1,"replaced":1}
warnings that are exceptions
ErrorException 512: Apus\ConnectionPool: a connection was never given back: coroutine 1, taken at %sreset.php:%d 0.%d s ago. It was closed; use put() in a finally block, or use()
{"in_use":0,"idle":1,"created":2,"replaced":1,"lost":1}
