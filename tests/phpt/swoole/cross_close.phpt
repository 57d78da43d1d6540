--TEST--
Under the names of Swoole: fclose() ends the waits of others, one join at a time, what is deferred comes before it
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

Coroutine\run(function () {
    echo "-- streams\n";
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    go(function () use ($a) {
        var_dump(!fread($a, 100));
        echo "read\n";
    });
    var_dump(fclose($a));
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    go(function () use ($a) {
        fread($a, 100);
        var_dump(fclose($a));
    });
    try {
        fclose($a);
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
    // Another function than one that closes is refused as ever.
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $reader = go(fn () => fread($a, 100));
    try {
        fread($a, 100);
    } catch (Apus\Coroutine\ConflictException) {
        echo "a conflict\n";
    }
    fwrite($b, 'x');
    Coroutine::join([$reader]);

    echo "-- joins\n";
    $sleeper = go(fn () => Coroutine::sleep(60));
    go(fn () => var_dump(Coroutine::join([$sleeper])));
    var_dump(Coroutine::join([$sleeper], 60), swoole_last_error() === SWOOLE_ERROR_WRONG_OPERATION);
    Coroutine::cancel($sleeper);
    Coroutine::sleep(0.001);
    $me = Coroutine::getCid();
    $last = go(function () use ($me) {
        Coroutine::sleep(0.001);
        Swoole\Event::defer(function () use ($me) {
            echo "deferred\n";
            Coroutine::cancel($me);
        });
    });
    var_dump(Coroutine::join([$last]), swoole_last_error() === SWOOLE_ERROR_CO_CANCELED, Coroutine::exists($last));

    echo "-- cancelled calls\n";
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $reader = go(function () use ($a) {
        swoole_clear_error();
        fread($a, 100);
        var_dump(swoole_last_error() === SWOOLE_ERROR_CO_CANCELED);
    });
    Coroutine::cancel($reader);
});
?>
--EXPECTF--
-- streams
bool(true)
read
bool(true)
bool(true)
fclose(): supplied resource is not a valid stream resource
a conflict
-- joins
bool(false)
bool(true)
bool(true)
deferred
bool(false)
bool(true)
bool(false)
-- cancelled calls
bool(true)
