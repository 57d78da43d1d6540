--TEST--
A connection that is asked again and again stays registered: nothing that comes is missed, and nothing is told that has not come
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

/** A pair, and a coroutine at its other end that answers lines: `n` lines for "n", the end behind a line for "end". */
function pair(): array {
    [$here, $there] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    go(function () use ($there) {
        while (is_string($line = fgets($there))) {
            if ($line === "end\n") {
                break;
            }
            fwrite($there, str_repeat("answer\n", (int) $line));
        }
        if (is_string($line)) {
            fwrite($there, "last\n");
        }
        fclose($there);
    });
    return [$here];
}

function ask($here, int $lines): bool {
    fwrite($here, "$lines\n");
    for ($i = 0; $i < $lines; $i++) {
        if (fgets($here) !== "answer\n") {
            return false;
        }
    }
    return true;
}

run(function () {
    [$here] = pair();
    $right = 0;
    for ($i = 0; $i < 100; $i++) {
        $right += ask($here, 1 + $i % 5);
    }
    echo "$right answers\n";

    // Read four bytes at a time, so that each read fills its buffer but for the last.
    [$few] = pair();
    stream_set_chunk_size($few, 4);
    $right = 0;
    for ($i = 0; $i < 100; $i++) {
        $right += ask($few, 1 + $i % 5);
    }
    echo "$right answers in pieces\n";

    // What comes while nobody reads.
    for ($i = 0; $i < 20; $i++) {
        fwrite($here, "1\n");
        Coroutine::sleep(0.002);
    }
    for ($read = 0; $read < 20 && fgets($here) === "answer\n"; $read++);
    echo "$read lines later, ", ask($here, 3) ? 'and on' : 'not on', "\n";

    // Nothing comes: the time-out holds, and the next answer is taken.
    stream_set_timeout($here, 0, 30_000);
    var_dump(fgets($here), stream_get_meta_data($here)['timed_out']);
    stream_set_timeout($here, 60);
    var_dump(ask($here, 1));

    // An answer and the end in one.
    fwrite($here, "end\n");
    var_dump(fgets($here), fgets($here), feof($here));
    fclose($here);

    // One that waits to write meanwhile, and one that reads.
    [$both, $there] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    for ($i = 0; $i < 3; $i++) {
        go(fn () => fwrite($there, "x\n"));
        fgets($both);
    }
    $much = str_repeat('y', 2_000_000);
    go(function () use ($both, $much) { fwrite($both, $much); fwrite($both, "\n"); });
    go(function () use ($there, &$got) {
        Coroutine::sleep(0.01);
        fwrite($there, "z\n");
        $got = strlen(stream_get_line($there, 3_000_000, "\n"));
    });
    var_dump(fgets($both));
    for ($n = 0; $got === null && $n < 100_000; $n++) {
        usleep(100);
    }
    var_dump($got);
});
--EXPECT--
100 answers
100 answers in pieces
20 lines later, and on
bool(false)
bool(true)
bool(true)
string(5) "last
"
bool(false)
bool(true)
string(2) "z
"
int(2000000)
