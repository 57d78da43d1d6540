--TEST--
Event: add(), set(), del(), isset(), write(): coroutines, level-triggered, both directions, ends, closing, many
--EXTENSIONS--
sockets
--FILE--
<?php
use Apus\{Coroutine, Event, Timer};
use Apus\Coroutine\System;
use function Apus\{go, last_error, strerror};
use function Apus\Coroutine\run;
use const Apus\{EVENT_READ, EVENT_WRITE};

function pair(): array
{
    return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
}

echo "what is not read comes again, each time in a coroutine:\n";
[$a, $b] = pair();
var_dump(Event::add($a, function ($stream) use ($a) {
    static $cids = [];
    var_dump($stream === $a);
    $cids[] = Coroutine::getCid();
    echo $data = fread($stream, 2), "\n";
    if ($data === '') {
        var_dump(
            count($cids) === count(array_unique($cids)) && min($cids) > 0,
            Event::del($stream),
            Event::isset($stream),
        );
    }
}) > 2);
var_dump(Event::isset($a), Event::isset($a, EVENT_READ), Event::isset($a, EVENT_WRITE), Event::isset($b));
fwrite($b, 'abcd!');
stream_socket_shutdown($b, STREAM_SHUT_WR);
Event::wait();

echo "what PHP has read ahead comes again, too:\n";
run(function () {
    [$a, $b] = pair();
    fwrite($b, "one\ntwo\nthree\n");
    Event::add($a, function ($a) {
        echo $line = fgets($a);
        if ($line === "three\n") {
            Event::del($a);
        }
    });
});

echo "writing, then reading:\n";
run(function () {
    [$a, $b] = pair();
    Event::add($a, null, function ($a) {
        fwrite($a, 'request');
        var_dump(Event::set($a, function ($a) {
            echo fread($a, 100), "\n";
            Event::del($a);
        }, null, EVENT_READ));
    }, EVENT_WRITE);
    Event::add($b, function ($b) {
        echo $got = fread($b, 100), "\n";
        fwrite($b, "answer to $got");
        Event::del($b);
    });
});

echo "set(0) pauses:\n";
run(function () {
    [$a, $b] = pair();
    $n = 0;
    Event::add($a, function ($a) use (&$n) { $n++; fread($a, 100); });
    Event::set($a);
    fwrite($b, 'x');
    Coroutine::sleep(0.01);
    var_dump($n, Event::isset($a));
    Event::set($a, null, null, EVENT_READ);
    Coroutine::sleep(0.01);
    var_dump($n);
    Event::del($a);
});

echo "a callback that waits before it reads is called once:\n";
run(function () {
    [$a, $b] = pair();
    Event::add($a, function ($a) {
        echo "called\n";
        Coroutine::sleep(0.03);
        echo fread($a, 100), "\n";
        Event::del($a);
    });
    fwrite($b, 'x');
    Coroutine::sleep(0.02);
    fwrite($b, 'y');
    Event::isset($a) or print("gone\n");
});

echo "a callback that wants more than came:\n";
run(function () {
    [$a, $b] = pair();
    $calls = 0;
    Event::add($a, function ($a) use (&$calls) {
        $calls++;
        echo json_encode(fgets($a)), "\n";
        Event::del($a);
    });
    foreach (['l', 'i', "ne\n"] as $piece) {
        fwrite($b, $piece);
        Coroutine::sleep(0.01);
    }
    var_dump($calls);
});

echo "ext/sockets and numbers:\n";
run(function () {
    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $sockets);
    $fd = Event::add($sockets[0], function ($socket) {
        echo get_class($socket), ' ', socket_read($socket, 100), "\n";
        Event::del($socket);
    });
    var_dump(Event::isset($fd));
    socket_write($sockets[1], 'x');
    Coroutine::sleep(0.01);
    $fd = Event::add($sockets[1], fn() => 0);
    var_dump(Event::del($fd), Event::del($fd), Event::add($fd, function (int $fd) use ($sockets) {
        echo socket_read($sockets[1], 100), "\n";
        var_dump(Event::del($fd));
    }) === $fd);
    socket_write($sockets[0], 'y');
});

echo "write():\n";
run(function () {
    [$a, $b] = pair();
    Event::add($a, fn() => 0);
    $big = str_repeat('0123456789', 400_000);
    var_dump(Event::write($a, 'begin'), Event::write($a, $big), Event::write($a, 'end'));
    var_dump(Event::write($a, $big . $big), strerror(last_error()));
    $got = '';
    while (!str_ends_with($got, 'end')) {
        $got .= System::fread($b, 65536);
    }
    var_dump($got === "begin{$big}end");
    fclose($b);
    var_dump(Event::write($a, 'x'), strerror(last_error()));
    Event::del($a);
});

echo "the directions do not wait for each other:\n";
run(function () {
    [$a, $b] = pair();
    $other = null;
    Event::add($a, function ($a) use (&$other) {
        echo "read ", fread($a, 10), "\n";
        Coroutine::resume($other);
    }, function ($a) use (&$other) {
        echo "write\n";
        $other = Coroutine::getCid();
        Coroutine::yield();
        Event::set($a);
        echo "both\n";
    }, EVENT_READ | EVENT_WRITE);
    Coroutine::sleep(0.01);
    Event::write($a, str_repeat('x', 1_000_000));
    fwrite($b, 'y');
    var_dump(strlen(System::fread($b, 1)) + strlen(stream_get_contents($b, 999_999)));
    Event::del($a);
});

echo "closing:\n";
run(function () {
    // Closed while it is watched: nothing is left that run() would wait for, and the other side sees the end.
    [$a, $b] = pair();
    Event::add($a, fn() => print("never\n"));
    Coroutine::sleep(0.005);
    fclose($a);
    var_dump(fread($b, 1), feof($b));
    // Its number means another stream now.
    [$c, $d] = pair();
    Event::add($c, function ($c) { echo fread($c, 1), "\n"; Event::del($c); });
    fwrite($d, 'z');
    Coroutine::sleep(0.01);
    // del() after fclose().
    [$e, $f] = pair();
    Event::add($e, fn() => print("never\n"));
    fclose($e);
    var_dump(Event::del($e), Event::del($e));
    // The other side is closed.
    [$g, $h] = pair();
    Event::add($g, function ($g) { var_dump(fread($g, 1)); fclose($g); });
    fclose($h);
});

echo "many:\n";
run(function () {
    $sum = 0;
    for ($i = 1; $i <= 100; $i++) {
        [$a, $b] = pair();
        Event::add($a, function ($a) use (&$sum) { $sum += (int) fread($a, 100); Event::del($a); fclose($a); });
        fwrite($b, (string) $i);
        $kept[] = $b;
    }
    while ($sum < 5050) {
        Coroutine::sleep(0.001);
    }
    var_dump($sum);
});
?>
--EXPECT--
what is not read comes again, each time in a coroutine:
bool(true)
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
ab
bool(true)
cd
bool(true)
!
bool(true)

bool(true)
bool(true)
bool(false)
what PHP has read ahead comes again, too:
one
two
three
writing, then reading:
bool(true)
request
answer to request
set(0) pauses:
int(0)
bool(false)
int(1)
a callback that waits before it reads is called once:
called
xy
a callback that wants more than came:
"line\n"
int(1)
ext/sockets and numbers:
bool(true)
Socket x
bool(true)
bool(false)
bool(true)
y
bool(true)
write():
bool(true)
bool(true)
bool(true)
bool(false)
string(25) "No buffer space available"
bool(true)
bool(false)
string(11) "Broken pipe"
the directions do not wait for each other:
write
read y
both
int(1000000)
closing:
string(0) ""
bool(true)
z
bool(true)
bool(false)
string(0) ""
many:
int(5050)
