--TEST--
What a function of an extension holds that is itself all of a coroutine: no PHP code has called it
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $reader = go('fgets', $a);
    try {
        echo fgets($a);
    } catch (Apus\Coroutine\ConflictException $e) {
        echo "refused\n";
    }
    fwrite($b, "line\n");
    Coroutine::join([$reader]);
    fwrite($b, "next\n");
    echo fgets($a);
});
?>
--EXPECT--
refused
next
