--TEST--
Process: in coroutines read(), write() and wait() let others run; no process is made there; exportSocket()
--FILE--
<?php
use Apus\Coroutine;
use Apus\Process;
use function Apus\go;
use function Apus\Coroutine\run;

$echo = function (Process $p) {
    while (($message = $p->read()) !== '' && $message !== 'stop') {
        $p->write("echo of $message");
    }
};
$one = new Process($echo);
$two = new Process($echo, false, Apus\SOCK_DGRAM, true);
$three = new Process(function (Process $p) {
    $socket = $p->exportSocket();
    $where = Coroutine::getCid() > 0 ? 'coroutine' : 'outside';
    while (($message = $socket->recv(65536, 5)) && $message !== 'stop') {
        go(fn() => $socket->send("$where: $message"));
    }
}, false, Apus\SOCK_DGRAM);
$three->set(['enable_coroutine' => true]);
$pids = [$one->start(), $two->start(), $three->start()];
run(function () use ($one, $two, $three, $pids) {
    $turns = 0;
    $ticker = go(function () use (&$turns) {
        while (Coroutine::sleep(0.001)) {
            $turns++;
        }
    });
    $got = Coroutine\batch(array_map(fn($process) => function () use ($process) {
        for ($i = 0; $i < 100; $i++) {
            $process->write("$i");
            if ($process->read() !== "echo of $i") {
                return 'wrong';
            }
        }
        return 'right';
    }, [$one, $two]));
    var_dump($got);

    $socket = $three->exportSocket();
    var_dump($socket === $three->exportSocket(), $socket instanceof Coroutine\Socket);
    $socket->send('one');
    $socket->send('two');
    $answers = [$socket->recv(), $socket->recv()];
    sort($answers);
    var_dump($answers, $socket->recv(65536, 0.01), $socket->errCode === 110);

    try {
        (new Process(fn() => 1))->start();
    } catch (Coroutine\Exception $e) {
        var_dump($e->getCode() === Coroutine\Exception::CANNOT_FORK);
    }
    try {
        Process::daemon();
    } catch (Coroutine\Exception $e) {
        var_dump($e->getCode() === Coroutine\Exception::CANNOT_FORK);
    }
    var_dump(Process::wait(false));
    // A wait that is broken off takes nothing.
    $reader = go(function () use ($one) {
        var_dump($one->read());
    });
    Coroutine::cancel($reader);
    foreach ([$one, $two] as $process) {
        $process->write('stop');
    }
    $socket->send('stop');
    $before = $turns;
    $ended = [];
    while ($end = Process::wait()) {
        $ended[] = $end['pid'];
    }
    sort($ended);
    sort($pids);
    var_dump($ended === $pids, $one->read());
    Coroutine::cancel($ticker);
    var_dump($turns > 0);
});

echo "children have loops of their own\n";
$process = new Process(function (Process $p) {
    run(function () use ($p) {
        Coroutine\batch([fn() => Coroutine::sleep(0.002), fn() => Coroutine::sleep(0.001)]);
        $p->write('the child ran');
    });
    go(function () {
        Coroutine::sleep(0.001);
        echo "left over\n";
    });
});
Apus\Timer::after(20, fn() => print("the parent's timer\n"));
$process->start();
var_dump($process->read());
Process::wait();
?>
--EXPECT--
array(2) {
  [0]=>
  string(5) "right"
  [1]=>
  string(5) "right"
}
bool(true)
bool(true)
array(2) {
  [0]=>
  string(14) "coroutine: one"
  [1]=>
  string(14) "coroutine: two"
}
bool(false)
bool(true)
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
string(0) ""
bool(true)
children have loops of their own
string(13) "the child ran"
left over
the parent's timer
