--TEST--
A coroutine that a destructor begins at the very end would never run: a fatal error tells of it
--INI--
apus.swoole_compat=1
--FILE--
<?php
register_shutdown_function(fn () => go(fn () => print("of a shutdown function\n")));
$object = new class () {
    public function __destruct()
    {
        echo "destructor\n";
        go(fn () => print("never\n"));
    }
};
?>
--EXPECTF--
of a shutdown function
destructor

Fatal error: go(): can not use coroutine in __destruct after php_request_shutdown in %s on line %d
