--TEST--
Swoole\Coroutine::setTimeLimit(): a TimeoutException where the running coroutine waits, until it ends or has another limit
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

Coroutine\run(function () {
    $limited = function (string $name, float $limit, callable $then) {
        try {
            var_dump(Coroutine::setTimeLimit($limit));
            $then();
            echo "$name ends\n";
        } catch (Swoole\Coroutine\TimeoutException $over) {
            echo "$name: ", get_class($over), "\n";
        }
    };
    $limited('sleep', 0.01, fn () => usleep(10_000_000));
    $limited('channel', 0.01, fn () => (new Coroutine\Channel())->pop());
    $limited('taken back', 0.01, function () {
        Coroutine::setTimeLimit(0);
        usleep(30000);
    });
    // A coroutine that has ended leaves no limit behind, and the script does not wait for it.
    go(fn () => $limited('short', 1000, fn () => usleep(1000)));
    Coroutine::setTimeLimit(-1);
});
echo "done\n";
?>
--EXPECT--
bool(true)
sleep: Swoole\Coroutine\TimeoutException
bool(true)
channel: Swoole\Coroutine\TimeoutException
bool(true)
taken back ends
bool(true)
short ends
done
