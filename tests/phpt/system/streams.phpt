--TEST--
System::fread(), fgets(), fwrite(): files, pipes, pairs of sockets, memory, filters; positions, big data, cancel, closing, arguments
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\{CanceledException, System};
use function Apus\{go, last_error, strerror};
use function Apus\Coroutine\run;

function show(mixed $result): void
{
    echo json_encode($result), $result === false ? ' ' . strerror(last_error()) : '', "\n";
}

function pair(): array
{
    return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
}

run(function () {
    echo "a file:\n";
    $path = tempnam(sys_get_temp_dir(), 'apus-streams-');
    $file = fopen($path, 'w+');
    show(System::fwrite($file, "one\ntwo\nthree\nrest"));
    show(System::fwrite($file, 'and more', 3));
    show(ftell($file));
    rewind($file);
    show(System::fgets($file));
    show(fgets($file));
    show(System::fread($file, 3));
    show(System::fwrite($file, 'XX'));
    show(System::fread($file, 1));
    show(ftell($file));
    show(System::fread($file));
    show(System::fread($file, 10));
    show([feof($file), System::fgets($file)]);
    show(file_get_contents($path));
    $append = fopen($path, 'a');
    show(System::fwrite($append, '+'));
    show(System::fwrite(fopen($path, 'r'), 'x'));
    show(substr(file_get_contents($path), -2));

    echo "20 MB:\n";
    $big = str_repeat("0123456789abcde\n", 20 << 16);
    $file = fopen($path, 'w+');
    show(System::fwrite($file, $big));
    rewind($file);
    var_dump(System::fread($file) === $big);
    rewind($file);
    for ($lines = 0; System::fgets($file) === "0123456789abcde\n" && $lines < 1000; $lines++);
    show([$lines, ftell($file)]);
    unlink($path);

    echo "a pair of sockets:\n";
    [$a, $b] = pair();
    $id = go(function () use ($a) {
        show(System::fgets($a));
        show(System::fgets($a));
        show(System::fread($a, 100));
        show(System::fread($a));
        var_dump(System::fgets($a), feof($a));
    });
    foreach (['li', "ne\nse", "cond\n", 'bytes', 'the rest'] as $piece) {
        Coroutine::sleep(0.005);
        echo "  $piece\n";
        System::fwrite($b, $piece);
    }
    Coroutine::sleep(0.005);
    fclose($b);
    Coroutine::join([$id]);

    echo "more than a socket takes:\n";
    [$a, $b] = pair();
    $id = go(function () use ($a, $big) { var_dump(System::fread($a) === $big); });
    show(System::fwrite($b, $big));
    fclose($b);
    Coroutine::join([$id]);

    echo "a pipe:\n";
    $pipe = popen('printf "x\ny"; sleep 0.02; printf z', 'r');
    show([System::fgets($pipe), System::fgets($pipe), System::fgets($pipe)]);
    pclose($pipe);

    echo "others:\n";
    $memory = fopen('php://memory', 'w+');
    show(System::fwrite($memory, "a\nb"));
    rewind($memory);
    show([System::fgets($memory), System::fread($memory)]);
    $file = tmpfile();
    stream_filter_append($file, 'string.rot13', STREAM_FILTER_WRITE);
    show(System::fwrite($file, 'nopq'));
    rewind($file);
    show(System::fread($file, 10));

    echo "cancel and closing:\n";
    [$a, $b] = pair();
    foreach ([fn() => System::fread($a, 1), fn() => System::fgets($a), fn() => System::fwrite($a, $big)] as $wait) {
        $id = go(fn() => show($wait()));
        Coroutine::cancel($id);
        Coroutine::join([$id]);
        $id = go(function () use ($wait) {
            try {
                $wait();
            } catch (CanceledException $e) {
                echo $e->getMessage(), "\n";
            }
        });
        Coroutine::cancel($id, true);
        Coroutine::join([$id]);
    }
    $id = go(fn() => show(System::fread($b, 1)));
    $other = go(fn() => show(System::fgets($b)));
    Coroutine::sleep(0.005);
    fclose($b);
    Coroutine::join([$id, $other]);
    $wrong = [
        fn() => System::fread($b, 1),
        fn() => System::fgets('x'),
        fn() => System::fwrite(1, 'x'),
        fn() => System::fread($a, -1),
    ];
    foreach ($wrong as $call) {
        try {
            $call();
            echo "no exception\n";
        } catch (ValueError | TypeError $e) {
            echo get_class($e), ' ', $e->getMessage(), "\n";
        }
    }
});
try {
    System::fread(STDIN, 1);
} catch (Apus\Coroutine\Exception $e) {
    echo $e->getCode(), "\n";
}
?>
--EXPECT--
a file:
18
3
21
"one\n"
"two\n"
"thr"
2
"\n"
14
"restand"
""
[true,false]
"one\ntwo\nthrXX\nrestand"
1
false Bad file descriptor
"d+"
20 MB:
20971520
bool(true)
[1000,16016]
a pair of sockets:
  li
  ne
se
"line\n"
  cond

"second\n"
  bytes
"bytes"
  the rest
"the rest"
bool(false)
bool(true)
more than a socket takes:
20971520
bool(true)
a pipe:
["x\n","yz",false]
others:
3
["a\n","b"]
4
"abcd"
cancel and closing:
false Operation canceled
the coroutine was cancelled while it waited in Coroutine\System::fread()
false Operation canceled
the coroutine was cancelled while it waited in Coroutine\System::fgets()
false Operation canceled
the coroutine was cancelled while it waited in Coroutine\System::fwrite()
false Bad file descriptor
false Bad file descriptor
TypeError Apus\Coroutine\System::fread(): Argument #1 ($handle) must be an open stream, resource given
TypeError Apus\Coroutine\System::fgets(): Argument #1 ($handle) must be an open stream, string given
TypeError Apus\Coroutine\System::fwrite(): Argument #1 ($handle) must be an open stream, int given
ValueError Apus\Coroutine\System::fread(): Argument #2 ($length) must be 0 or more bytes, -1 given
1
