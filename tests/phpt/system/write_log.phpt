--TEST--
Apus\write_log(): lines of a program in the log; their level
--FILE--
<?php
foreach (['error', 'debug', 'warning'] as $level) {
    Apus\write_log($level, "one of $level");
}
try {
    Apus\write_log('fatal', 'text');
} catch (ValueError $error) {
    echo $error->getMessage(), "\n";
}
?>
--EXPECTF--
%s [%d] error: one of error
%s [%d] warning: one of warning
Argument #1 ($level) must be debug, trace, info, notice, warning or error
