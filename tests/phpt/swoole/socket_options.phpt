--TEST--
Swoole\Coroutine\Socket: options that are arrays, interfaces and groups, and what is said of those that cannot be
--INI--
apus.swoole_compat=1
--FILE--
<?php
$lo = 1;
$four = new Swoole\Coroutine\Socket(AF_INET, SOCK_DGRAM, SOL_UDP);
var_dump($four->setOption(IPPROTO_IP, MCAST_JOIN_GROUP, ['group' => '224.0.0.23', 'interface' => 'lo']));
var_dump($four->setOption(IPPROTO_IP, MCAST_LEAVE_GROUP, ['group' => '224.0.0.23', 'interface' => $lo]));
$source = ['group' => '232.0.0.23', 'source' => '127.0.0.1', 'interface' => 'lo'];
var_dump($four->setOption(IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, $source));
var_dump($four->setOption(IPPROTO_IP, MCAST_LEAVE_SOURCE_GROUP, $source));
foreach ([0, $lo, 'lo'] as $interface) {
    var_dump($four->setOption(IPPROTO_IP, IP_MULTICAST_IF, $interface), $four->getOption(IPPROTO_IP, IP_MULTICAST_IF));
}
var_dump($four->setOption(IPPROTO_IP, IP_MULTICAST_LOOP, false), $four->getOption(IPPROTO_IP, IP_MULTICAST_LOOP));
var_dump($four->setOption(IPPROTO_IP, IP_MULTICAST_LOOP, 256), $four->getOption(IPPROTO_IP, IP_MULTICAST_LOOP));
var_dump($four->setOption(IPPROTO_IP, IP_MULTICAST_TTL, '254'), $four->getOption(IPPROTO_IP, IP_MULTICAST_TTL));
var_dump($four->setOption(IPPROTO_IP, IP_MULTICAST_TTL, 256), $four->getOption(IPPROTO_IP, IP_MULTICAST_TTL));
var_dump($four->setOption(IPPROTO_IP, MCAST_JOIN_GROUP, []));
var_dump($four->setOption(SOL_SOCKET, SO_LINGER, ['l_onoff' => 1]));
var_dump($four->setOption(SOL_SOCKET, SO_RCVTIMEO, []));
var_dump($four->setOption(SOL_SOCKET, SO_BINDTODEVICE, 'nosuchdevice'));

$six = new Swoole\Coroutine\Socket(AF_INET6, SOCK_DGRAM, SOL_UDP);
var_dump($six->setOption(IPPROTO_IPV6, IPV6_MULTICAST_IF, 'lo'), $six->getOption(IPPROTO_IPV6, IPV6_MULTICAST_IF));
var_dump($six->setOption(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, -2));
// IPV6_PKTINFO
var_dump($six->setOption(IPPROTO_IPV6, 50, ['addr' => '::1', 'ifindex' => 0]));
var_dump($six->setOption(IPPROTO_IPV6, 50, []));

// Under its own name a wrong value is an exception.
$own = new Apus\Coroutine\Socket(AF_INET, SOCK_DGRAM, SOL_UDP);
try {
    $own->setOption(IPPROTO_IP, IP_MULTICAST_TTL, 256);
} catch (ValueError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
int(0)
bool(true)
int(1)
bool(true)
int(1)
bool(true)
int(0)
bool(true)
int(1)
bool(true)
int(254)

Warning: Swoole\Coroutine\Socket::setOption(): Expected a value between 0 and 255 in %s on line %d
bool(false)
int(254)

Warning: Swoole\Coroutine\Socket::setOption(): no key "group" passed in optval in %s on line %d
bool(false)

Warning: Swoole\Coroutine\Socket::setOption(): no key "l_linger" passed in optval in %s on line %d
bool(false)

Warning: Swoole\Coroutine\Socket::setOption(): no key "sec" passed in optval in %s on line %d
bool(false)

Warning: Swoole\Coroutine\Socket::setOption(): setsockopt(%d) failed, Error: No such device[19] in %s on line %d
bool(false)
bool(true)
int(1)

Warning: Swoole\Coroutine\Socket::setOption(): Expected a value between -1 and 255 in %s on line %d
bool(false)
bool(true)

Warning: Swoole\Coroutine\Socket::setOption(): error converting user data (path: in6_pktinfo): The key 'addr' is required in %s on line %d
bool(false)
Apus\Coroutine\Socket::setOption(): Argument #3 ($opt_value) must be a value between 0 and 255
