--TEST--
Coroutine\Socket::getOption() and setOption(): numbers, pairs, text; failures tell why
--FILE--
<?php
use Apus\Coroutine\Socket;

require __DIR__ . '/pair.inc';
$socket = new Socket(Apus\AF_INET, Apus\SOCK_STREAM);
show('SO_TYPE', $socket->getOption(1, 3), $socket);
show('SO_KEEPALIVE', $socket->getOption(1, 9), $socket);
show('set', $socket->setOption(1, 9, true), $socket);
show('SO_KEEPALIVE', $socket->getOption(1, 9), $socket);
show('TCP_NODELAY', $socket->getOption(6, 1), $socket);
show('SO_LINGER', $socket->setOption(1, 13, ['l_onoff' => 1, 'l_linger' => 3]), $socket);
show('SO_LINGER', $socket->getOption(1, 13), $socket);
show('SO_SNDTIMEO', $socket->setOption(1, 21, ['sec' => 2, 'usec' => 500000]), $socket);
show('SO_SNDTIMEO', $socket->getOption(1, 21), $socket);
var_dump(is_string($socket->getOption(6, 13))); // TCP_CONGESTION
show('unknown', $socket->getOption(99, 99), $socket);
show('unknown', $socket->setOption(6, 9999, 1), $socket);
foreach ([[1, 9, []], [1, 9, 1 << 40], [1, 13, 5], [1, 13, ['l_onoff' => 1]], [1, 20, ['sec' => -1, 'usec' => 0]]] as $wrong) {
    try {
        $socket->setOption(...$wrong);
    } catch (Error $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}
try {
    $socket->fd = 3;
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
var_dump($socket->fd > 2, $socket->domain, $socket->type, $socket->protocol);
try {
    new Socket(999, 1);
} catch (Apus\Client\Exception $e) {
    echo $e->getCode(), ' ', $e->getMessage(), "\n";
}
show('bind', $socket->bind('256.1.1.1'), $socket);
show('bind', $socket->bind('8.8.8.8'), $socket);
$path = new Socket(Apus\AF_UNIX, Apus\SOCK_STREAM);
show('bind', $path->bind(str_repeat('x', 200)), $path);
?>
--EXPECT--
SO_TYPE: 1
SO_KEEPALIVE: 0
set: true
SO_KEEPALIVE: 1
TCP_NODELAY: 1
SO_LINGER: true
SO_LINGER: {"l_onoff":1,"l_linger":3}
SO_SNDTIMEO: true
SO_SNDTIMEO: {"sec":2,"usec":500000}
bool(true)
unknown: false [95 Operation not supported]
unknown: false [92 Protocol not available]
TypeError: Apus\Coroutine\Socket::setOption(): Argument #3 ($opt_value) must be of type int, array given
ValueError: Apus\Coroutine\Socket::setOption(): Argument #3 ($opt_value) must fit in 32 bits
TypeError: Apus\Coroutine\Socket::setOption(): Argument #3 ($opt_value) must be of type array for this option, int given
ValueError: Apus\Coroutine\Socket::setOption(): Argument #3 ($opt_value) must have the key "l_linger"
ValueError: Apus\Coroutine\Socket::setOption(): Argument #3 ($opt_value) must have a "sec" of 0 or more and a "usec" below 1000000
Cannot modify readonly property Apus\Coroutine\Socket::$fd
bool(true)
int(2)
int(1)
int(0)
302 a socket of domain 999, type 1, protocol 0 could not be made: Address family not supported by protocol
bind: false [22 "256.1.1.1" is no address of this socket's family: bind() takes no names]
bind: false [99 Cannot assign requested address]
bind: false [22 path must be shorter than SUN_LEN]
