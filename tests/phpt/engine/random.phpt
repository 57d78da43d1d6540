--TEST--
A random mix of everything adds up (the seed is printed: tests/random/random.php repeats it)
--FILE--
<?php
$argv = [__FILE__, random_int(1, 1 << 30), 20000];
require __DIR__ . '/../../random/random.php';
?>
--EXPECTF--
seed %d, 20000 steps
%d coroutines in %d rounds, %d stacks
ok
