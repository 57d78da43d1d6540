--TEST--
Under the names of Swoole a name that nobody tells of in time is 711 for dnsLookup(), and 10018 for getaddrinfo()
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine\System;

Swoole\Coroutine\run(function () {
    // No time at all: whatever answers is late.
    var_dump(System::dnsLookup('no-such-name.invalid', 0), swoole_last_error());
    var_dump(Swoole\Coroutine::dnsLookup('no-such-name.invalid', 0), swoole_last_error());
    var_dump(System::getaddrinfo('no-such-name.invalid', timeout: 0), swoole_last_error() === SWOOLE_ERROR_CO_TIMEDOUT);
    var_dump(System::gethostbyname('no-such-name.invalid', AF_INET, 0), swoole_last_error());
    var_dump(Apus\Coroutine\System::dnsLookup('no-such-name.invalid', 0), Apus\last_error());
});
?>
--EXPECT--
bool(false)
int(711)
bool(false)
int(711)
bool(false)
bool(true)
bool(false)
int(712)
bool(false)
int(712)
