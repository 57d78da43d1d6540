--TEST--
Table: forked processes share rows; counters lose nothing, rows are never torn, one getdel() wins
--EXTENSIONS--
pcntl
--FILE--
<?php
use Apus\{ColumnTable, Table};

/** @param callable(int): void $work */
function processes(int $count, callable $work): void
{
    for ($i = 0; $i < $count; $i++) {
        if (pcntl_fork() === 0) {
            $work($i);
            exit(0);
        }
    }
    while (pcntl_wait($status) > 0) {
        if ($status !== 0) {
            echo "a process ended with status $status\n";
        }
    }
}

$t = new Table(1000);
$t->column('n', Table::TYPE_INT);
$t->column('f', Table::TYPE_FLOAT);
$t->column('a', Table::TYPE_STRING, 100);
$t->column('b', Table::TYPE_STRING, 100);
$t->create();

processes(4, function () use ($t) {
    for ($i = 0; $i < 5000; $i++) {
        $t->incr('count', 'n');
        $t->incr('count', 'f', 0.5);
        $t->incr('key ' . $i % 100, 'n', 2);
    }
});
var_dump($t->get('count', 'n'), $t->get('count', 'f'), count($t));
var_dump(array_sum(array_map(fn($i) => $t->get("key $i", 'n'), range(0, 99))));

// Both texts and the number of a row always agree.
processes(4, function (int $me) use ($t) {
    mt_srand($me);
    for ($i = 0; $i < 5000; $i++) {
        if ($me < 2) {
            $n = mt_rand(0, 99);
            $text = str_repeat(chr(65 + $n % 26), $n);
            $t->set('row', ['n' => $n, 'a' => $text, 'b' => $text]);
        } else {
            $row = $t->get('row');
            if ($row && ($row['a'] !== $row['b'] || strlen($row['a']) !== $row['n'])) {
                echo "a torn row\n";
                break;
            }
        }
    }
});

$c = new ColumnTable(10000);
$c->column('n', ColumnTable::TYPE_UINT32);
$c->index('n', 'n');
$c->create();
for ($i = 0; $i < 2000; $i++) {
    $c->set($i, ['n' => $i]);
}
$won = new Table(4);
$won->column('n', Table::TYPE_INT);
$won->create();
processes(4, function (int $me) use ($c, $won) {
    for ($i = 0; $i < 2000; $i++) {
        if ($row = $c->getdel($i)) {
            $won->incr("p$me", 'n', $row['n']);
        }
        if ($i % 2) {
            $c->set(2000 + $i * 4 + $me, ['n' => $i]);
        }
    }
});
$sum = 0;
foreach ($won as $row) {
    $sum += $row['n'];
}
var_dump($sum === 1999 * 1000, count($c), $c->countRange('n'), count($c->find('n', 1999)), count($c->range('n', 0, 1999)));

// What a child did stays after it; destroy() is its own affair.
processes(1, function () use ($t) {
    $t->set('left behind', ['n' => 5]);
    $t->destroy();
});
var_dump($t->get('left behind', 'n'));
?>
--EXPECT--
int(20000)
float(10000)
int(101)
int(40000)
bool(true)
int(4000)
int(4000)
int(4)
int(4000)
int(5)
