--TEST--
Callbacks of internal functions that wait, interleaved: usort, array_map, array_walk, preg_replace_callback, iterators, call_user_func
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function nap() { Coroutine::sleep(0.0001 * random_int(0, 3)); }
$work = [
    'usort' => function (int $n) {
        $a = [3, 1, 2, $n];
        usort($a, function ($x, $y) { nap(); return $x <=> $y; });
        return $a;
    },
    'uasort' => function (int $n) {
        $a = ['x' => 3, 'y' => $n, 'z' => 1];
        uasort($a, function ($x, $y) { nap(); return $y <=> $x; });
        return $a;
    },
    'uksort' => function (int $n) {
        $a = ['c' => 1, 'a' => $n, 'b' => 2];
        uksort($a, function ($x, $y) { nap(); return strcmp($x, $y); });
        return $a;
    },
    'array_map' => fn(int $n) => array_map(function ($x, $y) use ($n) { nap(); return $x * $y * $n; }, [1, 2, 3], [4, 5, 6]),
    'array_filter' => fn(int $n) => array_values(
        array_filter(range(1, 6), function ($x) use ($n) { nap(); return $x % $n === 0; }),
    ),
    'array_reduce' => fn(int $n) => array_reduce([1, 2, 3], function ($c, $x) use ($n) { nap(); return $c + $x * $n; }, 0),
    'array_walk' => function (int $n) {
        $a = [1, 2];
        array_walk($a, function (&$x, $k, $by) { nap(); $x *= $by; }, $n);
        return $a;
    },
    'array_udiff' => fn(int $n) => array_values(array_udiff([1, 2, 3, 4], [$n], function ($x, $y) { nap(); return $x <=> $y; })),
    'array_uintersect' => fn(int $n) => array_values(
        array_uintersect([1, 2, 3, 4], [$n, 4], function ($x, $y) { nap(); return $x <=> $y; }),
    ),
    'preg' => fn(int $n) => preg_replace_callback('/[a-c]/', function ($m) use ($n) { nap(); return "$m[0]$n"; }, 'abcabc'),
    'nested preg' => fn(int $n) => preg_replace_callback(
        '/\d/',
        fn($m) => preg_replace_callback('/\d/', function ($k) use ($n) { nap(); return $k[0] * $n; }, $m[0]),
        '12',
    ),
    'iterator' => fn(int $n) => iterator_to_array(
        new CallbackFilterIterator(new ArrayIterator(range(1, 5)), function ($x) use ($n) { nap(); return $x > $n; }),
        false,
    ),
    'call' => fn(int $n) => call_user_func_array(function (...$a) { nap(); return array_sum($a); }, [1, $n, 3]),
    'generator' => function (int $n) {
        $g = (function () use ($n) { for ($i = 0; $i < 3; $i++) { nap(); $got = yield $i * $n; } return 9; })();
        return [...$g, $g->getReturn()];
    },
    'heap' => function (int $n) {
        $h = new class extends SplHeap { function compare($a, $b): int { nap(); return $a <=> $b; } };
        foreach ([2, $n, 5] as $x) { $h->insert($x); }
        return iterator_to_array($h, false);
    },
    'sorted nested' => function (int $n) {
        $a = [[3, 1], [2, $n]];
        usort(
            $a,
            function ($x, $y) {
                usort($x, function ($p, $q) { nap(); return $p <=> $q; });
                nap();
                sort($y);
                return $x <=> $y;
            },
        );
        return $a;
    },
];
$alone = [];
run(function () use ($work, &$alone) {
    foreach ($work as $name => $f) { foreach ([2, 3] as $n) { $alone["$name $n"] = $f($n); } }
});
$bad = 0;
$together = 0;
run(function () use ($work, $alone, &$bad, &$together) {
    for ($round = 0; $round < 10; $round++) {
        foreach ($work as $name => $f) {
            foreach ([2, 3] as $n) {
                go(function () use ($name, $f, $n, $alone, &$bad, &$together) {
                    $got = $f($n);
                    $together++;
                    if ($got !== $alone["$name $n"]) { $bad++; echo "$name $n: ", json_encode($got), "\n"; }
                });
            }
        }
    }
});
echo "$together together, $bad differ\n";
foreach ($alone as $name => $value) { echo "$name: ", json_encode($value), "\n"; }
?>
--EXPECT--
320 together, 0 differ
usort 2: [1,2,2,3]
usort 3: [1,2,3,3]
uasort 2: {"x":3,"y":2,"z":1}
uasort 3: {"x":3,"y":3,"z":1}
uksort 2: {"a":2,"b":2,"c":1}
uksort 3: {"a":3,"b":2,"c":1}
array_map 2: [8,20,36]
array_map 3: [12,30,54]
array_filter 2: [2,4,6]
array_filter 3: [3,6]
array_reduce 2: 12
array_reduce 3: 18
array_walk 2: [2,4]
array_walk 3: [3,6]
array_udiff 2: [1,3,4]
array_udiff 3: [1,2,4]
array_uintersect 2: [2,4]
array_uintersect 3: [3,4]
preg 2: "a2b2c2a2b2c2"
preg 3: "a3b3c3a3b3c3"
nested preg 2: "24"
nested preg 3: "36"
iterator 2: [3,4,5]
iterator 3: [4,5]
call 2: 6
call 3: 7
generator 2: [0,2,4,9]
generator 3: [0,3,6,9]
heap 2: [5,2,2]
heap 3: [5,3,2]
sorted nested 2: [[3,1],[2,2]]
sorted nested 3: [[3,1],[2,3]]
