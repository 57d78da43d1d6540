--TEST--
A coroutine cannot begin in a destructor that PHP calls at its end, where nothing would run it
--FILE--
<?php
$object = new class () {
    public function __destruct()
    {
        try {
            Apus\go(fn () => print("never\n"));
        } catch (Apus\Coroutine\Exception $e) {
            echo $e->getCode() === Apus\Coroutine\Exception::CANNOT_SWITCH ? 'cannot switch: ' : '', $e->getMessage(), "\n";
        }
    }
};
?>
--EXPECT--
cannot switch: a coroutine cannot begin in a destructor that PHP calls at its end
