--TEST--
ConnectionPool: scripts that end in the middle of its use
--FILE--
<?php
$begin = <<<'PHP'
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
PHP;
foreach ([
    'exit' => 'Coroutine\run(function () use ($pool) { hold($pool); exit("exit\n"); });',
    'uncaught' => 'Coroutine\run(function () use ($pool) { hold($pool); throw new Exception("uncaught"); });',
    'bailout' => 'Coroutine\run(function () use ($pool) { hold($pool); eval("function hold() {}"); });',
    'in use()' => 'Coroutine\run(function () use ($pool) { $pool->use(function () { eval("function hold() {}"); }); });',
    'in the constructor' => 'Coroutine\run(function () { (new ConnectionPool(fn() => eval("function hold() {}")))->get(); });',
    'exit in a check' => 'Coroutine\run(function () use ($pool) { $pool->set(["check_idle" => 0, "check" => fn() => exit("exit\n")]); $pool->put($pool->get()); $pool->get(); echo "not here\n"; });',
    'held outside' => 'Coroutine\run(fn() => 1); $held = $pool->get(); echo "end\n";',
] as $what => $code) {
    echo "== $what\n";
    $file = __DIR__ . '/ends.tmp.php';
    file_put_contents($file, "<?php\n$begin\n$code\n");
    $extension = escapeshellarg('extension=' . getenv('APUS_SO'));
    exec(escapeshellarg(PHP_BINARY) . " -n -d $extension -d log_errors=0 -d display_errors=1 $file 2>&1", $output, $status);
    foreach ($output as $line) {
        if (preg_match('/^(PHP )?(Fatal error|Warning)|Uncaught/', $line)) {
            $line = preg_replace('/ in \S+(:| on line )\d+.*/', '', $line);
        }
        if ($line !== '' && !preg_match('/^(#\d|Stack trace| +thrown)/', $line)) {
            echo $line, "\n";
        }
    }
    echo "status $status\n";
    $output = [];
}
?>
--CLEAN--
<?php @unlink(__DIR__ . '/ends.tmp.php'); ?>
--EXPECTF--
== exit
made 1
made 2
exit
shutdown
closed 1
finally
closed 2
Apus\Coroutine\CanceledException 0: the coroutine was cancelled while it waited in ConnectionPool::get()
status 0
== uncaught
made 1
made 2
closed 1
finally
closed 2
Apus\Coroutine\CanceledException 0: the coroutine was cancelled while it waited in ConnectionPool::get()
Fatal error: Uncaught Exception: uncaught
shutdown
status 255
== bailout
made 1
made 2
Fatal error: Cannot redeclare %Shold() (previously declared
shutdown
finally
Apus\Coroutine\CanceledException 0: the coroutine was cancelled while it waited in ConnectionPool::get()
status 255
== in use()
made 1
Fatal error: Cannot redeclare %Shold() (previously declared
shutdown
status 255
== in the constructor
Fatal error: Cannot redeclare %Shold() (previously declared
shutdown
status 255
== exit in a check
made 1
exit
closed 1
shutdown
status 0
== held outside
made 1
end
shutdown
closed 1
status 0
