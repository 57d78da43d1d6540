--TEST--
exit() in a coroutine throws Swoole\ExitException
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\ExitException;

foreach ([0, 5, 'text'] as $status) {
    go(function () use ($status) {
        try {
            exit($status);
        } catch (ExitException $e) {
            echo $e->getMessage(), ' ', $e->getFlags() === SWOOLE_EXIT_IN_COROUTINE ? 'in a coroutine '
                : '', json_encode($e->getStatus()), "\n";
        }
    });
}
go(function () {
    try {
        exit;
    } catch (Swoole\Exception $e) {
        // Since PHP 8.4 exit() has a default status.
        var_dump($e->getStatus() ?? 0);
    } finally {
        echo "finally\n";
    }
});
go(function () {
    $made = 'made ';
    try {
        die($made . 'here');
    } catch (ExitException $e) {
        var_dump(
            $e->getStatus(),
            (new ReflectionClass($e))->getParentClass()->name,
            (new ReflectionClass(Swoole\Exception::class))->getParentClass()->name,
        );
    }
});
go(function () {
    exit("what nobody catches is printed\n");
});
echo "not reached\n";
?>
--EXPECTF--
swoole exit in a coroutine 0
swoole exit in a coroutine 5
swoole exit in a coroutine "text"
int(0)
finally
string(9) "made here"
string(16) "Swoole\Exception"
string(9) "Exception"
what nobody catches is printed
