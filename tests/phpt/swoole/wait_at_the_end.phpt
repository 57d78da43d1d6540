--TEST--
A script that ends with something to wait for is told to call Event::wait(); one that waits is not
--INI--
apus.swoole_compat=1
--FILE--
<?php
Swoole\Timer::after(1, fn () => print("timer\n"));
Swoole\Event::wait();
echo "waited\n";
go(fn () => print("nothing to wait for\n"));
Swoole\Timer::after(1, fn () => print("at the end\n"));
?>
--EXPECT--
timer
waited
nothing to wait for

Deprecated: swoole_event_rshutdown(): Event::wait() in shutdown function is deprecated in Unknown on line 0
at the end
