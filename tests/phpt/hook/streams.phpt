--TEST--
Reading, writing, accepting and connecting of streams let others run; big writes are whole
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

run(function () {
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($server, false);
    go(function () use ($server) {
        for ($i = 0; $i < 3; $i++) {
            $peer = stream_socket_accept($server, 10);
            go(function () use ($peer) {
                $line = fgets($peer);
                fwrite($peer, str_repeat($line, 200_000));
                fclose($peer);
            });
        }
    });
    for ($i = 0; $i < 3; $i++) {
        go(function () use ($address, $i) {
            $stream = stream_socket_client("tcp://$address");
            usleep((3 - $i) * 20_000);
            fwrite($stream, "number $i\n");
            $all = stream_get_contents($stream);
            echo "$i: ", strlen($all), ' ', $all === str_repeat("number $i\n", 200_000) ? 'right' : 'wrong', "\n";
        });
    }
});
run(function () {
    foreach ([STREAM_PF_UNIX, STREAM_PF_INET] as $family) {
        if (!$pair = @stream_socket_pair($family, STREAM_SOCK_STREAM, 0)) {
            continue;
        }
        [$a, $b] = $pair;
        go(function () use ($b) { echo fgets($b); fwrite($b, "pong\n"); });
        fwrite($a, "ping\n");
        echo fgets($a);
    }
});
--EXPECT--
2: 1800000 right
1: 1800000 right
0: 1800000 right
ping
pong
