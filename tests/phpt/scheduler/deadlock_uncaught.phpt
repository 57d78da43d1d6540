--TEST--
A deadlock at the end of a script is a fatal error with the report, not silence
--FILE--
<?php
Apus\go(function () { Apus\Coroutine::yield(); });
echo "end\n";
?>
--EXPECTF--
end

Fatal error: Uncaught Apus\Coroutine\DeadlockException: all 1 coroutines wait for each other, none can go on (deadlock):
coroutine 1 (made by -1) waits in yield:
#0 %s(2): Apus\Coroutine::yield()
%A
