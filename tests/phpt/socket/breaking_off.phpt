--TEST--
Coroutine\Socket: close(), cancel() and Coroutine::cancel() end a wait; a number that is used anew wakes nobody of before
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\CanceledException;
use Apus\Coroutine\Socket;
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
run(function () {
    [$near, $far] = pair();
    go(fn() => show('cancelled', $near->recv(), $near));
    var_dump($near->cancel(Apus\EVENT_WRITE), $near->cancel(), $near->cancel());
    // The one that was cancelled has not run yet, and is not in the way.
    show('another reader', $near->recv(10, 0.01), $near);

    $id = go(fn() => show('coroutine cancelled', $near->recv(), $near));
    var_dump(Coroutine::cancel($id));
    Coroutine::join([$id]);
    $id = go(function () use ($near) {
        try {
            $near->recvAll(10);
        } catch (CanceledException $e) {
            echo $e->getMessage(), "\n";
        }
    });
    $far->sendAll('abc');
    Coroutine::sleep(0.01);
    Coroutine::cancel($id, true);
    Coroutine::join([$id]);
    show('what had come', $near->recv(10, 0.01), $near);

    $fd = $near->fd;
    $id = go(fn() => show('closed', $near->recv(), $near));
    var_dump($near->close());
    // The system gives the lowest free number.
    do {
        $sockets[] = $next = new Socket(Apus\AF_INET, Apus\SOCK_DGRAM);
    } while ($next->fd < $fd);
    var_dump($next->fd === $fd);
    $next->bind('127.0.0.1');
    $other = go(fn() => show('the same number', $next->recv(), $next));
    Coroutine::join([$id]);
    $next->sendto('127.0.0.1', $next->getsockname()['port'], 'mine');
    Coroutine::join([$other]);

    $listener = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
    $listener->bind('127.0.0.1');
    $listener->listen();
    $id = go(fn() => show('accept', $listener->accept(), $listener));
    $listener->close();
    Coroutine::join([$id]);

    // A packet reader that the peer resets.
    [$near, $far] = pair();
    $far->setOption(1, 13, ['l_onoff' => 1, 'l_linger' => 0]); // SO_LINGER: close() resets.
    $id = go(fn() => show('reset', $near->recv(), $near));
    $far->close();
    Coroutine::join([$id]);
    show('send', $near->send('x'), $near);
});
?>
--EXPECT--
bool(false)
bool(true)
bool(false)
cancelled: false [125 Operation canceled]
another reader: false [110 Connection timed out]
bool(true)
coroutine cancelled: false [125 Operation canceled]
the coroutine was cancelled while it waited in Coroutine\Socket::recvAll()
what had come: "abc"
bool(true)
bool(true)
closed: false [125 Operation canceled]
the same number: "mine"
accept: false [125 Operation canceled]
reset: false [104 Connection reset by peer]
send: false [32 Broken pipe]
