--TEST--
A wait that is cancelled breaks off its own call, and nobody else's
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

function pair(): array
{
    return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
}
foreach ([false, true] as $throw) {
    run(function () use ($throw) {
        [$idle, $other] = pair();
        [$a, $b] = pair();
        $inside = new Channel(1);
        $go = new Channel(1);
        // A callback of PDO's waits, is cancelled in that, and goes on: waiting for something else.
        $cid = go(function () use ($idle, $a, $inside, $go) {
            $pdo = new PDO('sqlite::memory:');
            @$pdo->sqliteCreateFunction('wait', function () use ($idle, $a, $inside, $go) {
                try {
                    $inside->push(true);
                    $line = @fgets($idle);
                    echo 'cancelled: ', json_encode($line), "\n";
                } catch (Coroutine\CanceledException) {
                    echo "cancelled: thrown\n";
                }
                $inside->push(true);
                $go->pop();
                return fgets($a);
            });
            $got = $pdo->query('select wait()')->fetchColumn();
            echo 'the callback: ', json_encode($got), "\n";
        });
        $inside->pop();
        Coroutine::cancel($cid, $throw);
        $inside->pop();
        // It is still in that call.
        [$c, $d] = pair();
        $end = new Channel(1);
        go(function () use ($c, $end) { $line = fgets($c); echo 'another coroutine: ', $line; $end->push(true); });
        fwrite($d, "its line\n");
        $end->pop();
        $go->push(true);
        fwrite($b, 'went on');
        fclose($b);
        Coroutine::join([$cid]);
    });
}
// The error handler that runs in a function that was broken off waits.
run(function () {
    $go = new Channel(1);
    $in = new Channel(1);
    set_error_handler(function () use ($go, $in) { $in->push(true); $go->pop(); return true; });
    $cid = go(function () {
        $process = proc_open('exec cat', [['pipe', 'r'], ['pipe', 'w']], $pipes);
        $read = fread($pipes[1], 10);
        echo 'the broken one: ', json_encode($read), "\n";
    });
    usleep(1_000);
    Coroutine::cancel($cid);
    $in->pop();
    [$a, $b] = pair();
    fwrite($b, "its line\n");
    echo 'beside it: ', fgets($a);
    $pipe = popen('echo out', 'r');
    echo 'beside it: ', fgets($pipe);
    $go->push(true);
    Coroutine::join([$cid]);
});
--EXPECT--
cancelled: false
another coroutine: its line
the callback: "went on"
cancelled: thrown
another coroutine: its line
the callback: "went on"
beside it: its line
beside it: out
the broken one: false
