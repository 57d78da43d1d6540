--TEST--
Under the names of Swoole who waits at a channel or a wait group goes on before close() and done() return
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\Channel;
use Swoole\Coroutine\WaitGroup;

class Own extends Channel
{
}

Swoole\Coroutine\run(function () {
    $channel = new Own(1);
    go(function () use ($channel) {
        echo 'first ' . json_encode($channel->pop()) . ', ';
    });
    go(function () use ($channel) {
        echo 'second ' . json_encode($channel->pop()) . ', ';
    });
    echo json_encode($channel->close()), "\n";

    $full = new Channel(1);
    $full->push(1);
    go(function () use ($full) {
        echo 'push ' . json_encode($full->push(2)), ', ', $full->errCode === SWOOLE_CHANNEL_CLOSED ? 'closed, ' : '?';
    });
    echo json_encode($full->close()), ' ', json_encode($full->close()), "\n";

    $group = new WaitGroup(1);
    go(function () use ($group) {
        echo json_encode($group->wait()), ', ';
    });
    $group->done();
    echo "done\n";
});
?>
--EXPECT--
first false, second false, true
push false, closed, true false
true, done
