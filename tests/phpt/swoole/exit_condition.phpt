--TEST--
Coroutine::set(): the loop goes on until exit_condition holds; display_errors switches warnings off
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

$asked = 0;
Coroutine::set(['exit_condition' => function () use (&$asked) {
    echo "asked\n";
    return ++$asked === 2;
}]);
Coroutine::set(['exit_condition' => 'no_such_function']);
Swoole\Timer::after(1, fn () => print "timer\n");
Swoole\Event::wait();
echo "done\n";

Coroutine::set(['exit_condition' => fn () => true, 'display_errors' => false]);
$socket = new Coroutine\Socket(AF_INET, SOCK_DGRAM);
var_dump($socket->setOption(SOL_SOCKET, SO_LINGER, []));
Coroutine::set(['display_errors' => true]);
var_dump($socket->setOption(SOL_SOCKET, SO_LINGER, []));

foreach (Coroutine::list() as $cid) {
    echo "none\n";
}
Coroutine\run(function () {
    go(fn () => Coroutine::sleep(0.01));
    echo implode(' ', iterator_to_array(Coroutine::list(), false)), "\n";
});
?>
--EXPECTF--

Warning: Swoole\Coroutine::set(): function 'no_such_function' is not callable in %s on line %d
timer
asked
asked
done
bool(false)

Warning: Swoole\Coroutine\Socket::setOption(): no key "l_onoff" passed in optval in %s on line %d
bool(false)
3 2
