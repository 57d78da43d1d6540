--TEST--
Coroutine\Socket: time-outs of calls, of the socket, of the settings; none when negative
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

require __DIR__ . '/pair.inc';
run(function () {
    [$near, $far] = pair();
    show('of the call', $near->recv(1, 0.01), $near);
    $near->setOption(1, 20, ['sec' => 0, 'usec' => 10000]); // SO_RCVTIMEO
    show('SO_RCVTIMEO', $near->getOption(1, 20), $near);
    show('of the socket', $near->recv(), $near);
    $near->setProtocol(['read_timeout' => '20ms']);
    show('of the setting', $near->recvLine(), $near);
    show('of the setting', $near->recvPacket(), $near);
    Coroutine::set(['socket_timeout' => 0.01]);
    show('of the engine', $far->recv(), $far);
    go(function () use ($far) {
        Coroutine::sleep(0.05);
        $far->sendAll('late');
    });
    show('none', $near->recv(10, -1), $near);
    show('vector', $near->readVectorAll([1, 2], 0.01), $near);
    $near->setOption(1, 7, 1); // SO_SNDBUF
    $sent = $near->sendAll(str_repeat('x', 50_000_000), 0.05);
    var_dump($sent > 0 && $sent < 50_000_000, $near->errCode);
    $got = 0;
    while ($got < $sent) {
        $got += strlen($far->recv(1 << 20, 5));
    }
    var_dump($got === $sent);
    // A server that takes no connection: its queue is full.
    $listener = new Coroutine\Socket(Apus\AF_UNIX, Apus\SOCK_STREAM);
    $listener->bind($path = sys_get_temp_dir() . '/apus-full-' . getmypid() . '.sock');
    $listener->listen(0);
    $queued = new Coroutine\Socket(Apus\AF_UNIX, Apus\SOCK_STREAM);
    show('queued', $queued->connect($path), $queued);
    $late = new Coroutine\Socket(Apus\AF_UNIX, Apus\SOCK_STREAM);
    show('connect', $late->connect($path, 0, 0.02), $late);
    $id = go(fn() => show('waits until there is room', $late->connect($path, 0, 5), $late));
    $listener->accept();
    Coroutine::join([$id]);
    unlink($path);
});
?>
--EXPECT--
of the call: false [110 Connection timed out]
SO_RCVTIMEO: {"sec":0,"usec":10000}
of the socket: false [110 Connection timed out]
of the setting: false [110 Connection timed out]
of the setting: false [110 Connection timed out]
of the engine: false [110 Connection timed out]
none: "late"
vector: false [110 Connection timed out]
bool(true)
int(110)
bool(true)
queued: true
connect: false [110 Connection timed out]
waits until there is room: true
