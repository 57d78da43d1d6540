--TEST--
An uncaught exception at the end of the script is reported, and the others are ended
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;

go(function () { Coroutine::sleep(0.001); throw new LogicException("nobody catches it"); });
go(function () { try { Coroutine::sleep(10); } finally { echo "ended\n"; } });
echo "the script ends\n";
?>
--EXPECTF--
the script ends
ended

Fatal error: Uncaught LogicException: nobody catches it in %s:%d
Stack trace:
#0 [internal function]: {closure%S}()
#1 %A
