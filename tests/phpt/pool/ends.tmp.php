<?php
require __DIR__ . '/conn.inc';
use Apus\ConnectionPool;
use Apus\Coroutine;
use function Apus\go;
register_shutdown_function(fn() => print "shutdown\n");
$pool = (new ConnectionPool(fn() => new Conn, 2))->set(['min_idle' => 1, 'idle_timeout' => 0.01]);
function hold(ConnectionPool $pool): void
{
    go(fn() => $pool->use(fn() => Coroutine::sleep(1e6)));
    go(function () use ($pool) {
        $conn = $pool->get();
        try {
            Coroutine::sleep(1e6);
        } finally {
            echo "finally\n";
            $pool->put($conn);
        }
    });
    go(fn() => complain(fn() => $pool->get()));
}
Coroutine\run(fn() => 1); $held = $pool->get(); echo "end\n";
