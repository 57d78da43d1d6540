--TEST--
Coroutine\Socket: large writes through small kernel buffers arrive whole and in order, both ways at once
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
run(function () {
    [$near, $far] = pair(Apus\AF_UNIX);
    foreach ([$near, $far] as $end) {
        $end->setOption(1, 7, 4096); // SO_SNDBUF
    }
    $data = implode(',', range(1, 450_000)); // 3 million bytes
    $ids = [];
    foreach ([[$near, $far], [$far, $near]] as [$from, $to]) {
        $ids[] = go(fn() => var_dump($from->sendAll($data) === strlen($data)));
        $ids[] = go(fn() => var_dump($to->recvAll(strlen($data)) === $data));
    }
    Coroutine::join($ids);
    // send() takes what fits.
    $sent = $near->send($data);
    var_dump($sent > 0 && $sent < strlen($data));
    var_dump($far->recvAll($sent) === substr($data, 0, $sent));
});
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
