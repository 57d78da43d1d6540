--TEST--
Table: save() and restore(); damaged, torn and foreign files are refused and leave the rows
--FILE--
<?php
use Apus\{ColumnTable, Table, TableException};

$file = __DIR__ . '/table_snapshot.tmp';

function rows(int $size = 1000, string $extra = 'd'): Table
{
    $t = new Table($size);
    $t->column('n', Table::TYPE_INT);
    $t->column('s', Table::TYPE_STRING, 3000);
    $t->column($extra, Table::TYPE_DICTIONARY, 20);
    $t->index('n', 'n');
    $t->create();
    return $t;
}

$t = rows();
$expected = [];
for ($i = 0; $i < 700; $i++) {
    $expected["key $i"] = ['n' => $i % 50, 's' => str_repeat("$i,", $i), 'd' => 'd' . $i % 9];
    $t->set("key $i", $expected["key $i"]);
    if ($i % 7 === 0) {
        $t->del("key $i");
        unset($expected["key $i"]);
    }
}
$bytes = $t->save($file);
var_dump($bytes === filesize($file), glob("$file?*"));

function check(Table $t, array $expected): void
{
    $rows = iterator_to_array($t);
    ksort($rows);
    ksort($expected);
    var_dump(
        $rows === $expected,
        count($t) === count($expected),
        count($t->find('n', 3)) === count(array_filter($expected, fn($row) => $row['n'] === 3)),
    );
}

$other = rows();
$other->set('gone', ['n' => 3]);
var_dump($other->restore($file) === count($expected));
check($other, $expected);
// It is a table like any other.
$other->set('more', ['n' => 3, 's' => 'x', 'd' => 'new']);
$other->del('key 1');
$changed = $expected;
unset($changed['key 1']);
$changed['more'] = ['n' => 3, 's' => 'x', 'd' => 'new'];
check($other, $changed);
check($t, $expected);
// An empty one.
$empty = rows();
$empty->save("$file.empty");
var_dump($other->restore("$file.empty"), count($other), $other->find('n', 3));
unlink("$file.empty");

echo "-- refused\n";
$good = file_get_contents($file);
$refused = function (string $what, Table|ColumnTable $t, string $path) use ($file) {
    $before = count($t);
    try {
        $t->restore($path);
        echo "$what was taken\n";
    } catch (TableException $e) {
        echo "$what: ", $e->getCode() === TableException::FILE ? '' : 'wrong code ',
            str_replace([$file, __DIR__], ['FILE', 'DIR'], $e->getMessage()), "\n";
        if (count($t) !== $before) {
            echo "rows were lost\n";
        }
    }
};
$refused('nothing', $t, "$file.none");
foreach ([
    'empty' => '',
    'text' => 'a text',
    'torn' => substr($good, 0, -1),
    'half' => substr($good, 0, intdiv($bytes, 2)),
    'longer' => "$good\0",
] as $what => $content) {
    file_put_contents("$file.bad", $content);
    $refused($what, $t, "$file.bad");
}
$accepted = 0;
for ($i = 0; $i < 200; $i++) {
    $bad = $good;
    $at = intdiv($bytes * $i, 200);
    $bad[$at] = $bad[$at] ^ "\x10";
    file_put_contents("$file.bad", $bad);
    try {
        $t->restore("$file.bad");
        $accepted++;
    } catch (TableException $e) {
    }
}
var_dump($accepted);
$refused('other size', rows(2000), $file);
$refused('other column', rows(1000, 'e'), $file);
$ids = new ColumnTable(1000);
$ids->column('n', ColumnTable::TYPE_INT);
$ids->create();
$refused('other kind', $ids, $file);
check($t, $expected);
try {
    $t->save(__DIR__ . '/nothing/here');
} catch (TableException $e) {
    echo $e->getCode() === TableException::FILE ? '' : 'wrong code ', str_replace(__DIR__, 'DIR', $e->getMessage()), "\n";
}
foreach (['save', 'restore'] as $method) {
    foreach (['', "a\0b"] as $path) {
        try {
            $t->$method($path);
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
    }
}

echo "-- ids\n";
for ($i = 0; $i < 500; $i += 3) {
    $ids->set($i, ['n' => -$i]);
}
$ids->save($file);
$ids->clear();
var_dump($ids->restore($file), count($ids), $ids->get(300), $ids->get(301));
?>
--CLEAN--
<?php
array_map('unlink', glob(__DIR__ . '/table_snapshot.tmp*'));
?>
--EXPECT--
bool(true)
array(0) {
}
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
int(0)
int(0)
array(0) {
}
-- refused
nothing: restoring FILE.none: No such file or directory (os error 2)
empty: restoring FILE.bad: the file is cut short
text: restoring FILE.bad: the file is cut short
torn: restoring FILE.bad: the file is cut short
half: restoring FILE.bad: the file is cut short
longer: restoring FILE.bad: something follows the end of the snapshot
int(0)
other size: restoring FILE: it is of another table: the file has room for 1000 rows; this table has room for 2000 rows
other column: restoring FILE: it is of another table: the file has column 3, "d", of 65535 different texts of up to 20 bytes; this table has column 3, "e", of 65535 different texts of up to 20 bytes
other kind: restoring FILE: it is of another table: the file has keys of up to 1024 bytes; this table has ids below 1001
bool(true)
bool(true)
bool(true)
saving DIR/nothing/here: No such file or directory (os error 2)
Apus\Table::save(): Argument #1 ($path) must be a path, without NUL bytes
Apus\Table::save(): Argument #1 ($path) must be a path, without NUL bytes
Apus\Table::restore(): Argument #1 ($path) must be a path, without NUL bytes
Apus\Table::restore(): Argument #1 ($path) must be a path, without NUL bytes
-- ids
int(167)
int(167)
array(1) {
  ["n"]=>
  int(-300)
}
bool(false)
