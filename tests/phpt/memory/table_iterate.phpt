--TEST--
Table: foreach, the one cursor, changes while a loop runs
--FILE--
<?php
use Apus\{ColumnTable, Table};

$t = new Table(1000);
$t->column('n', Table::TYPE_INT);
$t->column('s', Table::TYPE_STRING, 50);
$t->create();
foreach ($t as $row) {
    echo "never\n";
}
for ($i = 0; $i < 500; $i++) {
    $t->set("key $i", ['n' => $i, 's' => str_repeat('x', $i % 50)]);
}
$seen = [];
foreach ($t as $key => $row) {
    if ($key !== "key $row[n]" || strlen($row['s']) !== $row['n'] % 50 || isset($seen[$key])) {
        echo "wrong: $key\n";
    }
    $seen[$key] = true;
}
var_dump(count($seen), $t->valid(), $t->key(), $t->current());
$t->next();
var_dump($t->valid());

$t->rewind();
$first = $t->key();
$row = $t->current();
// The row is a copy: what happens to the table does not change it.
$t->del($first);
var_dump($t->valid(), $t->key() === $first, $t->current() === $row);
$t->set($first, $row);

// Removing what a loop meets, and adding.
$met = 0;
foreach ($t as $key => $row) {
    $t->del($key);
    $met++;
}
var_dump($met, count($t));
for ($i = 0; $i < 100; $i++) {
    $t->set("stays $i", ['n' => $i]);
}
$stays = [];
foreach ($t as $key => $row) {
    if (str_starts_with($key, 'stays')) {
        $stays[] = $key;
        $t->set("added $row[n]", ['n' => $row['n']]);
    }
}
var_dump(count($stays), count(array_unique($stays)), count($t));

// Loops over the same object share its cursor.
$small = new Table(10);
$small->column('n', Table::TYPE_INT);
$small->create();
foreach (['a', 'b', 'c'] as $key) {
    $small->set($key, ['n' => 1]);
}
$outer = $inner = 0;
foreach ($small as $_) {
    $outer++;
    foreach ($small as $_) {
        $inner++;
    }
}
var_dump($outer, $inner);
foreach ($small as $key => $_) {
    if ($small->count() == 3) {
        $small->clear();
    }
}
var_dump($small->valid(), count($small), iterator_to_array($small));

$c = new ColumnTable(100000);
$c->column('n', ColumnTable::TYPE_UINT32);
$c->create();
foreach ([99999, 0, 64, 63, 100000, 5] as $id) {
    $c->set($id, ['n' => $id * 2]);
}
foreach ($c as $id => $row) {
    echo "$id: $row[n]\n";
}
?>
--EXPECT--
int(500)
bool(false)
NULL
NULL
bool(false)
bool(true)
bool(true)
bool(true)
int(500)
int(0)
int(100)
int(100)
int(200)
int(1)
int(3)
bool(false)
int(0)
array(0) {
}
0: 0
5: 10
63: 126
64: 128
99999: 199998
100000: 200000
