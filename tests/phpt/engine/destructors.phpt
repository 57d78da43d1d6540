--TEST--
Destructors and the cycle collector beside suspended coroutines; a destructor waits as everything else does
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

class Waits {
    public $self;
    public function __construct(public string $n) {}
    public function __destruct() {
        echo "destructor of $this->n: ";
        try {
            Coroutine::sleep(0.001);
            echo "it has waited\n";
        } catch (Coroutine\Exception $e) {
            echo "it cannot: {$e->getMessage()}\n";
        }
    }
}
class Quiet { public $self; public static int $gone = 0; public function __destruct() { self::$gone++; } }
run(function () {
    $w = new Waits("a local");
    $w = null;
    // A destructor may start coroutines.
    $d = new class {
        function __destruct() { go(function () { echo "made by a destructor\n"; Coroutine::sleep(0.001); echo "and it waits\n"; }); echo "the destructor ends\n"; }
    };
    $d = null;
    Coroutine::sleep(0.005);
    // Cycles of a suspended coroutine are alive; those of an ended one are collected.
    $id = go(function () {
        $q = new Quiet; $q->self = $q;
        Coroutine::yield();
        echo "still there: ", get_class($q->self), "\n";
    });
    echo "collected: ", gc_collect_cycles(), ", gone: ", Quiet::$gone, "\n";
    Coroutine::resume($id);
    echo "collected: ", gc_collect_cycles(), ", gone: ", Quiet::$gone, "\n";
    // The collector runs while many are suspended in the middle of expressions.
    for ($i = 0; $i < 50; $i++) {
        go(function () use ($i) {
            $a = [new Quiet, [1, 2, Coroutine::sleep(0.001 * ($i % 5))], "x" . Coroutine::sleep(0.001)];
            $a[0]->self = $a[0];
        });
    }
    for ($i = 0; $i < 20; $i++) { gc_collect_cycles(); Coroutine::sleep(0.001); }
    gc_collect_cycles();
    echo "gone: ", Quiet::$gone, "\n";
    $w = new Waits("a cycle"); $w->self = $w; unset($w);
    gc_collect_cycles();
    // The collector of a Fiber runs destructors in a fiber of its own as of PHP 8.4.
    $f = new Fiber(function () {
        $w = new Waits("a cycle in a Fiber"); $w->self = $w; unset($w);
        $collected = gc_collect_cycles();
        echo "collected: $collected\n";
    });
    $f->start();
    // Another one collects nothing while a destructor waits, and nothing is lost.
    go(function () {
        $w = new Waits("a cycle beside others"); $w->self = $w; unset($w);
        gc_collect_cycles();
    });
    $q = new Quiet; $q->self = $q; unset($q);
    gc_collect_cycles();
    Coroutine::sleep(0.01);
    gc_collect_cycles();
    echo "gone: ", Quiet::$gone, "\n";
});
echo "end\n";
$global = new Waits("a global");
?>
--EXPECTF--
destructor of a local: it has waited
made by a destructor
the destructor ends
and it waits
collected: 0, gone: 0
still there: Quiet
collected: 1, gone: 1
gone: 51
destructor of a cycle: it has waited
destructor of a cycle in a Fiber: it has waited
collected: 1
destructor of a cycle beside others: it has waited
gone: 52
end
destructor of a global: it cannot: %s
