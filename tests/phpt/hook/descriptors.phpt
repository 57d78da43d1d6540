--TEST--
A descriptor that is closed and used again wakes nobody who waited for the old one
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

run(function () {
    // The number of a closed stream is the next one's.
    for ($i = 0; $i < 50; $i++) {
        [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $old = go(function () use ($a) { fgets($a); });
        Coroutine::cancel($old);
        usleep(0);
        fclose($a);
        fclose($b);
        [$c, $d] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $got = null;
        go(function () use ($c, &$got) { $got = fgets($c); });
        fwrite($d, "new $i\n");
        for ($n = 0; $got === null && $n < 100_000; $n++) {
            usleep(100);
        }
        if ($got !== "new $i\n") {
            echo "$i: ", var_export($got, true), "\n";
        }
        fclose($c);
        fclose($d);
    }
    // The other end closes while somebody waits.
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    go(function () use ($b) { usleep(1_000); fclose($b); });
    var_dump(fgets($a), feof($a));
});
--EXPECT--
bool(false)
bool(true)
