--TEST--
Two coroutines in one stream: the second is refused before anything happens, reading beside writing is not
--EXTENSIONS--
sockets
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

run(function () {
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $reader = go(function () use ($a) { $line = fgets($a); echo "first: $line"; });
    foreach ([
        'fgets' => fn () => fgets($a),
        'fread' => fn () => fread($a, 100_000),
        'fclose' => fn () => fclose($a),
    ] as $name => $use) {
        try {
            $use();
            echo "$name went through\n";
        } catch (Coroutine\ConflictException $e) {
            echo $e->getMessage(), "\n";
        }
    }
    fwrite($a, "written meanwhile\n");
    echo fgets($b);
    fwrite($b, "for the first\n");
    usleep(20_000);
    fwrite($b, "for the second\n");
    echo fgets($a);
    fclose($a);
    // A copy of the same socket, which no table of ours knows: the descriptors are compared.
    socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
    go(fn () => socket_read($pair[0], 5) . print("read\n"));
    try {
        socket_recv($pair[0], $data, 5, 0);
    } catch (Coroutine\ConflictException $e) {
        echo get_class($e), "\n";
    }
    socket_write($pair[1], 'hello');
});
--EXPECT--
coroutine 1 calls fgets() on a connection or stream in which coroutine 2 waits in fgets(): give each coroutine a connection of its own, best from a pool; to end a wait, cancel its coroutine
coroutine 1 calls fread() on a connection or stream in which coroutine 2 waits in fgets(): give each coroutine a connection of its own, best from a pool; to end a wait, cancel its coroutine
coroutine 1 calls fclose() on a connection or stream in which coroutine 2 waits in fgets(): give each coroutine a connection of its own, best from a pool; to end a wait, cancel its coroutine
written meanwhile
first: for the first
for the second
Apus\Coroutine\ConflictException
read
