--TEST--
Swoole\Process\Pool: what is written to a worker that reads its pipe itself is for that, and for the message event later
--INI--
apus.swoole_compat=1
--FILE--
<?php
$pool = new Swoole\Process\Pool(2, SWOOLE_IPC_UNIXSOCK, 0, true);
$pool->on('workerstart', function ($pool, $id) {
    if ($id === 0) {
        $pool->getProcess(1)->write('ask');
        echo 'read: ', $pool->getProcess()->read(), "\n";
    }
});
$pool->on('message', function ($pool, $data) {
    if ($data === 'ask') {
        Swoole\Coroutine::sleep(0.05);
        $pool->getProcess(0)->write('answer');
        Swoole\Coroutine::sleep(0.05);
        $pool->getProcess(0)->write('later');
        return;
    }
    echo "message: $data\n";
    $pool->shutdown();
});
$pool->start();
?>
--EXPECT--
read: answer
message: later
