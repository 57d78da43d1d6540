--TEST--
What a coroutine throws and nobody catches is thrown on by what ran it, whatever it is: no warning and false
--INI--
apus.swoole_compat=1
--FILE--
<?php
foreach ([fn () => Co\System::writeFile('', 'text'), fn () => throw new Apus\Exception('of ours')] as $program) {
    try {
        var_dump(Co\run($program));
    } catch (Throwable $thrown) {
        echo get_class($thrown), ': ', $thrown->getMessage(), "\n";
    }
}
?>
--EXPECT--
ValueError: Filename cannot be empty
Apus\Exception: of ours
