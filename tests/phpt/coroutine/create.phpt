--TEST--
create() and go() run the callable at once until it first waits; ids are counted from 1
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

run(function () {
    echo "in ", Coroutine::getCid(), " of ", Coroutine::getPcid(), "\n";
    $a = Coroutine::create(function (int $x, string ...$rest) {
        echo "a: $x ", implode(",", $rest), " cid ", Coroutine::getCid(), " of ", Coroutine::getPcid(), "\n";
        Coroutine::sleep(0.001);
        echo "a goes on\n";
    }, 7, "p", "q");
    echo "made $a\n";
    $b = go('strtoupper', 'text');
    echo "made $b, it has ended: ", var_export(!Coroutine::exists($b), true), "\n";
    $c = go([new ArrayObject([1, 2]), 'count']);
    $d = go(fn() => go(fn() => print(Coroutine::getPcid() . " made " . Coroutine::getCid() . "\n")));
    echo "uid ", Coroutine::getuid(), "\n";
    var_dump(Coroutine::getPcid($a), Coroutine::getPcid(999));
});
echo "outside: ", Coroutine::getCid(), " ";
var_dump(Coroutine::getPcid());
?>
--EXPECT--
in 1 of -1
a: 7 p,q cid 2 of 1
made 2
made 3, it has ended: true
5 made 6
uid 1
int(1)
bool(false)
a goes on
outside: -1 bool(false)
