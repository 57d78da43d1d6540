--TEST--
Cancelling in the middle of a blocking function: the whole call ends, and what comes next works
--FILE--
<?php
use Apus\Coroutine;
use function Apus\Coroutine\run;
use function Apus\go;

function idle()
{
    static $others = [];
    [$idle, $others[]] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    return $idle;
}
$ways = [
    'usleep' => fn () => usleep(20_000_000),
    'time_sleep_until' => fn () => time_sleep_until(microtime(true) + 20),
    'fgets' => fn () => fgets(idle()),
    'stream_get_contents' => fn () => stream_get_contents(idle()),
    'stream_select' => function () { $r = [idle()]; $w = $e = null; return @stream_select($r, $w, $e, 20); },
    'exec' => fn () => @exec('sleep 20'),
    'accept' => fn () => @stream_socket_accept(stream_socket_server('tcp://127.0.0.1:0'), 20),
    'flock' => function () {
        $a = tmpfile();
        $b = fopen(stream_get_meta_data($a)['uri'], 'r');
        flock($a, LOCK_EX);
        return flock($b, LOCK_EX);
    },
];
foreach ($ways as $name => $way) {
    foreach ([false, true] as $throw) {
        $begun = microtime(true);
        $said = '';
        run(function () use ($way, $throw, &$said) {
            $cid = go(function () use ($way, &$said) {
                try {
                    $said = json_encode($way());
                } catch (Coroutine\CanceledException $e) {
                    $said = 'thrown';
                }
                usleep(1_000);
                $said .= ', went on';
            });
            usleep(20_000);
            var_dump(Coroutine::cancel($cid, $throw)) ;
        });
        echo "$name: $said", microtime(true) - $begun < 10 ? '' : ' TOO LATE', "\n";
    }
}
--EXPECT--
bool(true)
usleep: null, went on
bool(true)
usleep: thrown, went on
bool(true)
time_sleep_until: false, went on
bool(true)
time_sleep_until: thrown, went on
bool(true)
fgets: false, went on
bool(true)
fgets: thrown, went on
bool(true)
stream_get_contents: "", went on
bool(true)
stream_get_contents: thrown, went on
bool(true)
stream_select: false, went on
bool(true)
stream_select: thrown, went on
bool(true)
exec: "", went on
bool(true)
exec: thrown, went on
bool(true)
accept: false, went on
bool(true)
accept: thrown, went on
bool(true)
flock: false, went on
bool(true)
flock: thrown, went on
