--TEST--
foreach over a statement, and what fetches like it, is refused while its connection serves another coroutine, and holds it itself
--EXTENSIONS--
pdo
pdo_sqlite
--FILE--
<?php
use Apus\Coroutine;
use Apus\Coroutine\Channel;
use function Apus\Coroutine\run;
use function Apus\go;

class Row extends PDOStatement
{
}

function rows(iterable $statement): array
{
    $rows = [];
    foreach ($statement as $row) {
        $rows[] = $row[0];
    }
    return $rows;
}
function attempt(string $what, callable $other): void
{
    try {
        $result = $other();
        echo "$what: ", json_encode($result), "\n";
    } catch (Coroutine\ConflictException) {
        echo "$what: refused\n";
    }
}

run(function () {
    $pdo = new PDO('sqlite::memory:');
    $pdo->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_NUM);
    $go = new Channel;
    $ended = new Channel(1);
    @$pdo->sqliteCreateFunction('wait', function ($value) use ($go) { $go->pop(); return $value; });
    $three = fn () => $pdo->query('select 1 union select 2 union select 3');
    $begun = $pdo->prepare('select 1 union select 2 union select 3');
    $begun->execute();
    $own = $pdo->prepare('select 4', [PDO::ATTR_STATEMENT_CLASS => [Row::class]]);
    $own->execute();
    $half = $three();
    $other = (new PDO('sqlite::memory:'))->query('select 5', PDO::FETCH_NUM);

    go(fn () => $ended->push($pdo->query('select wait(7)')->fetchColumn()));
    attempt('foreach', fn () => rows($begun));
    attempt('of a class of the program', fn () => rows($own));
    attempt('iterator_to_array()', fn () => iterator_to_array($begun));
    attempt('iterator_count()', fn () => iterator_count($begun));
    attempt('IteratorIterator', fn () => rows(new IteratorIterator($begun)));
    attempt('yield from', fn () => rows((function () use ($begun) { yield from $begun; })()));
    attempt('another connection', fn () => rows($other));
    $go->push(true);
    echo $ended->pop(), ' ', json_encode(rows($begun)), ' ', json_encode(rows($own)), "\n";

    // It has begun when another one comes.
    attempt('in its midst', function () use ($half, $pdo, $go, $ended) {
        foreach ($half as $row) {
            echo "row $row[0]\n";
            if ($row[0] === 2) {
                go(fn () => $ended->push($pdo->query('select wait(8)')->fetchColumn()));
            }
        }
    });
    $go->push(true);
    echo $ended->pop(), ' ', json_encode($half->fetchAll()), "\n";

    // It waits itself.
    $ways = ['foreach' => fn ($of) => rows($of), 'iterator_to_array()' => fn ($of) => array_column(iterator_to_array($of), 0)];
    foreach ($ways as $name => $way) {
        $slow = $pdo->query('select 9 union all select wait(10)');
        go(fn () => $ended->push($way($slow)));
        attempt("while $name waits", fn () => $three()->fetchAll(PDO::FETCH_COLUMN));
        $go->push(true);
        echo json_encode($ended->pop()), "\n";
    }
});
?>
--EXPECT--
foreach: refused
of a class of the program: refused
iterator_to_array(): refused
iterator_count(): refused
IteratorIterator: refused
yield from: refused
another connection: [5]
7 [1,2,3] [4]
row 1
row 2
in its midst: refused
8 [[3]]
while foreach waits: refused
[9,10]
while iterator_to_array() waits: refused
[9,10]
