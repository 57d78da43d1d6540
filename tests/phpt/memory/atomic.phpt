--TEST--
Atomic and Atomic\Long: arithmetic, comparing, limits of both widths
--FILE--
<?php
use Apus\Atomic;

$atomic = new Atomic(5);
echo json_encode([$atomic->add(3), $atomic->sub(10), $atomic->get(), $atomic->add(), $atomic->sub()]), "\n";
$atomic->set(-1);
echo json_encode([$atomic->get(), $atomic->add(2), $atomic->add(-1)]), "\n";
$atomic->set(1 << 33 | 7);
echo json_encode([$atomic->get(), $atomic->cmpset(7, 9), $atomic->cmpset(7, 8), $atomic->get()]), "\n";
echo json_encode([(new Atomic())->get(), (new Atomic(0xffffffff))->add(2)]), "\n";

$long = new Atomic\Long(PHP_INT_MAX);
echo json_encode([$long->add(1), $long->sub(1), $long->get()]), "\n";
$long->set(-5);
echo json_encode([
    $long->add(-3),
    $long->cmpset(-8, 2),
    $long->cmpset(-8, 2),
    $long->get(),
    $long->sub(),
    $long->add(),
]), "\n";

// Each is its own, also when cells are used again.
for ($round = 0; $round < 3; $round++) {
    $many = array_map(fn($n) => new Atomic($n), range(0, 999));
    echo array_sum(array_map(fn($atomic) => $atomic->add(1), $many)), ' ';
    $longs = array_map(fn($n) => new Atomic\Long(-$n), range(0, 99));
    echo array_sum(array_map(fn($long) => $long->get(), $longs)), "\n";
}
foreach ([
    fn() => $atomic->wakeup(0),
    fn() => new Atomic('x'),
    fn() => clone $atomic,
    fn() => serialize($atomic),
] as $wrong) {
    try {
        $wrong();
    } catch (Throwable $error) {
        echo get_class($error), ': ', $error->getMessage(), "\n";
    }
}
?>
--EXPECT--
[8,4294967294,4294967294,4294967295,4294967294]
[4294967295,1,0]
[7,true,false,9]
[0,1]
[-9223372036854775808,9223372036854775807,9223372036854775807]
[-8,true,false,2,1,2]
500500 -4950
500500 -4950
500500 -4950
ValueError: Apus\Atomic::wakeup(): Argument #1 ($count) must be at least 1, 0 given
TypeError: Apus\Atomic::__construct(): Argument #1 ($value) must be of type int, string given
Error: Trying to clone an uncloneable object of class Apus\Atomic
Exception: Serialization of 'Apus\Atomic' is not allowed
