--TEST--
Channel::close() enters who waits at once, in the order of their coming
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach (['Swoole\Coroutine\Channel', 'Apus\Coroutine\Channel'] as $class) {
    Swoole\Coroutine\run(function () use ($class) {
        $empty = new $class(1);
        $full = new $class(1);
        $full->push(0);
        foreach (['a', 'b'] as $name) {
            go(function () use ($name, $empty) {
                var_dump($empty->pop());
                echo "$name went on\n";
            });
            go(function () use ($name, $full) {
                var_dump($full->push(1));
                echo "$name gave up\n";
            });
        }
        go(function () use ($empty) {
            $empty->pop();
            throw new LogicException('is caught by nobody');
        });
        $empty->close();
        echo "empty is closed\n";
        $full->close();
        echo "full is closed\n";
    });
}
?>
--EXPECTF--
bool(false)
a went on
bool(false)
b went on
%A
Fatal error: Uncaught LogicException: is caught by nobody in %s:%d
%A
