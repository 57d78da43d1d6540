--TEST--
Deep recursion in a coroutine: 20,000 PHP frames, waits at the bottom, C recursion within the C stack
--INI--
memory_limit=512M
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function down(int $n) { if ($n === 0) { Coroutine::sleep(0.001); return 0; } return 1 + down($n - 1); }
class Node implements JsonSerializable {
    public $child;
    function jsonSerialize(): mixed { return ['c' => $this->child]; }
}
run(function () {
    for ($i = 0; $i < 3; $i++) {
        go(fn() => print(down(20000) . "\n"));
    }
    // Through C frames: usort in usort.
    $nest = function (int $n) use (&$nest) {
        $a = [2, 1];
        usort(
            $a,
            function ($x, $y) use ($n, $nest) {
                if ($n) { $nest($n - 1); } else { Coroutine::sleep(0.001); }
                return $x <=> $y;
            },
        );
        return $a;
    };
    go(function () use ($nest) { echo implode(",", $nest(50)), "\n"; });
    $node = null;
    for ($i = 0; $i < 100; $i++) { $n = new Node; $n->child = $node; $node = $n; }
    echo strlen(json_encode($node)), "\n";
});
?>
--EXPECT--
604
20000
20000
20000
1,2
