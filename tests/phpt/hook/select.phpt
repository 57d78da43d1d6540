--TEST--
stream_select() waits for any of several streams, with its time-out
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

run(function () {
    $pairs = array_map(fn () => stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0), range(0, 9));
    $read = array_column($pairs, 0);
    $write = $except = null;
    $begun = microtime(true);
    var_dump(stream_select($read, $write, $except, 0, 50_000), $read);
    echo microtime(true) - $begun >= 0.05 ? "in time\n" : "early\n";
    go(function () use ($pairs) { usleep(20_000); fwrite($pairs[7][1], 'x'); });
    $read = array_column($pairs, 0);
    var_dump(stream_select($read, $write, $except, 10), array_keys($read));
    $write = [$pairs[0][0]];
    $read = null;
    var_dump(stream_select($read, $write, $except, 10));
});
--EXPECT--
int(0)
array(0) {
}
in time
int(1)
array(1) {
  [0]=>
  int(7)
}
int(1)
