--TEST--
System::waitEvent(): streams, sockets and numbers; both directions, time-out, cancel, end, closing, read-ahead, files, arguments
--EXTENSIONS--
sockets
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, System};
use function Apus\{go, last_error, strerror};
use function Apus\Coroutine\run;
use const Apus\{EVENT_READ, EVENT_WRITE};

function show(mixed $result): void
{
    echo match ($result) {
        EVENT_READ => 'read', EVENT_WRITE => 'write', EVENT_READ | EVENT_WRITE => 'read and write', false => 'false ' . strerror(last_error()),
    }, "\n";
}

function pair(): array
{
    return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
}

run(function () {
    [$a, $b] = pair();
    show(System::waitEvent($a, EVENT_READ, 0.01));
    show(System::waitEvent($a, EVENT_READ, 0));
    show(System::waitEvent($a, EVENT_WRITE));
    show(System::waitEvent($a, EVENT_READ | EVENT_WRITE));
    fwrite($b, 'x');
    show(System::waitEvent($a));
    show(System::waitEvent($a, EVENT_READ | EVENT_WRITE));
    fread($a, 1);

    echo "something comes:\n";
    $id = go(fn() => show(System::waitEvent($a)));
    fwrite($b, "one\ntwo\n");
    Coroutine::join([$id]);
    echo "read ahead: ", fgets($a);
    show(System::waitEvent($a, EVENT_READ, 0));
    echo fgets($a);
    show(System::waitEvent($a, EVENT_READ, 0));

    echo "cancel:\n";
    $id = go(fn() => show(System::waitEvent($a)));
    Coroutine::cancel($id);
    Coroutine::join([$id]);
    $id = go(function () use ($a) {
        try {
            System::waitEvent($a);
        } catch (CanceledException $e) {
            echo $e->getMessage(), "\n";
        }
    });
    Coroutine::cancel($id, true);
    Coroutine::join([$id]);

    echo "the end of the other side:\n";
    $id = go(fn() => show(System::waitEvent($a, EVENT_READ, 5)));
    fclose($b);
    Coroutine::join([$id]);

    echo "closed meanwhile:\n";
    [$a, $b] = pair();
    $id = go(fn() => show(System::waitEvent($a, EVENT_READ, 5)));
    Coroutine::sleep(0.005);
    fclose($a);
    Coroutine::join([$id]);
    show(System::waitEvent($a));
    show(System::waitEvent(987654));

    echo "closed, and the number used again:\n";
    [$a, $b] = pair();
    $id = go(fn() => show(System::waitEvent($a, EVENT_READ, 5)));
    Coroutine::sleep(0.005);
    fclose($a);
    [$c, $d] = pair();
    fwrite($c, 'x');
    fwrite($d, 'x');
    Coroutine::join([$id]);

    echo "ext/sockets:\n";
    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $sockets);
    $id = go(fn() => show(System::waitEvent($sockets[0])));
    socket_write($sockets[1], 'x');
    Coroutine::join([$id]);
    socket_close($sockets[0]);
    show(System::waitEvent($sockets[0]));

    echo "others:\n";
    show(System::waitEvent(fopen(__FILE__, 'r'), EVENT_READ | EVENT_WRITE));
    show(System::waitEvent(0, EVENT_READ, 5));
    $pipe = popen('echo x', 'r');
    show(System::waitEvent($pipe, EVENT_READ, 5));
    pclose($pipe);

    echo "many:\n";
    $pairs = array_map(fn() => pair(), range(1, 100));
    $ready = 0;
    $ids = [];
    foreach ($pairs as [$a, $b]) {
        $ids[] = go(function () use ($a, &$ready) { $ready += System::waitEvent($a, EVENT_READ, 5) === EVENT_READ; });
    }
    foreach ($pairs as [$a, $b]) {
        fwrite($b, 'x');
    }
    Coroutine::join($ids);
    var_dump($ready);

    echo "arguments:\n";
    $wrong = [
        fn() => System::waitEvent($d, 0),
        fn() => System::waitEvent($d, 1),
        fn() => System::waitEvent(-1),
        fn() => System::waitEvent('1'),
        fn() => System::waitEvent(null),
    ];
    foreach ($wrong as $call) {
        try {
            $call();
            echo "no exception\n";
        } catch (ValueError | TypeError $e) {
            echo get_class($e), ' ', $e->getMessage(), "\n";
        }
    }
    show(System::waitEvent(new stdClass));
    show(System::waitEvent(fopen('php://memory', 'r')));
});
?>
--STDIN--
x
--EXPECT--
false Connection timed out
false Connection timed out
write
write
read
read and write
something comes:
read
read ahead: one
read
two
false Connection timed out
cancel:
false Operation canceled
the coroutine was cancelled while it waited in Coroutine\System::waitEvent()
the end of the other side:
read
closed meanwhile:
false Bad file descriptor
false Bad file descriptor
false Bad file descriptor
closed, and the number used again:
false Bad file descriptor
ext/sockets:
read
false Bad file descriptor
others:
read and write
read
read
many:
int(100)
arguments:
ValueError Apus\Coroutine\System::waitEvent(): Argument #2 ($events) must be Apus\EVENT_READ, Apus\EVENT_WRITE or both, 0 given
ValueError Apus\Coroutine\System::waitEvent(): Argument #2 ($events) must be Apus\EVENT_READ, Apus\EVENT_WRITE or both, 1 given
ValueError Apus\Coroutine\System::waitEvent(): Argument #1 ($socket) must be a descriptor of 0 or more, -1 given
TypeError Apus\Coroutine\System::waitEvent(): Argument #1 ($socket) must be a stream, a Socket or a descriptor (int), string given
TypeError Apus\Coroutine\System::waitEvent(): Argument #1 ($socket) must be a stream, a Socket or a descriptor (int), null given
false Bad file descriptor
false Bad file descriptor
