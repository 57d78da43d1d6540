--TEST--
Coroutine\Socket: one reader and one writer at once; a second one is refused by an exception that names both, and changes nothing
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\ConflictException;
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
run(function () {
    [$near, $far] = pair();
    $reader = go(fn() => show('the reader', $near->recv(), $near));
    $writer = go(fn() => show('the writer', $near->sendAll(str_repeat('x', 20_000_000)), $near));
    var_dump($near->getBoundCid(Apus\EVENT_READ) === $reader, $near->getBoundCid(Apus\EVENT_WRITE) === $writer);
    foreach ([fn() => $near->recvPacket(), fn() => $near->send('y')] as $call) {
        go(function () use ($call) {
            try {
                $call();
            } catch (ConflictException $e) {
                echo $e->getMessage(), "\n";
            }
        });
    }
    $received = strlen($far->recvAll(20_000_000, 30));
    Coroutine::join([$writer]);
    var_dump($received);
    $far->sendAll('done');
    Coroutine::join([$reader]);
    var_dump($near->getBoundCid(Apus\EVENT_READ), $near->getBoundCid(Apus\EVENT_WRITE));
    show('send', $near->send('z'), $near);
    show('recv', $far->recv(), $far);
});
?>
--EXPECT--
bool(true)
bool(true)
Coroutine\Socket::recvPacket() in coroutine 4 was refused: coroutine 2 is reading from this socket already, in Coroutine\Socket::recv(). Two coroutines must not read at once on one connection: give each its own, best from a pool, or let one do it for all and pass messages through a Channel
Coroutine\Socket::send() in coroutine 5 was refused: coroutine 3 is writing to this socket already, in Coroutine\Socket::sendAll(). Two coroutines must not write at once on one connection: give each its own, best from a pool, or let one do it for all and pass messages through a Channel
the writer: 20000000
int(20000000)
the reader: "done"
int(0)
int(0)
send: 1
recv: "z"
