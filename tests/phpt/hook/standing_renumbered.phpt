--TEST--
A connection that stays registered, whose number becomes another file without anybody being told, is waited for
--EXTENSIONS--
ffi
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

run(function () {
    $c = FFI::cdef('int dup2(int from, int to);', 'libc.so.6');
    $is_socket = fn (string $path): bool => str_starts_with((string) @readlink($path), 'socket:');
    $numbers = fn (): array => array_map('basename', array_filter(glob('/proc/self/fd/*'), $is_socket));
    $before = $numbers();
    [$old, $peer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    [$number] = array_values(array_diff($numbers(), $before));
    for ($i = 0; $i < 3; $i++) {
        go(fn () => fwrite($peer, "x\n"));
        fgets($old);
    }
    $before = $numbers();
    [$new, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    [$of] = array_values(array_diff($numbers(), $before));
    $c->dup2((int) $of, (int) $number);
    go(function () use ($other) { Coroutine::sleep(0.005); fwrite($other, "new\n"); });
    echo fgets($old);
});
--EXPECT--
new
