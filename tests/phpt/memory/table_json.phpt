--TEST--
Table: loadJson() from files and streams; members, keys, progress, errors
--FILE--
<?php
use Apus\{ColumnTable, Table, TableException};

$file = __DIR__ . '/table_json.tmp';

function users(): ColumnTable
{
    $t = new ColumnTable(100000);
    $t->column('email', ColumnTable::TYPE_STRING, 100);
    $t->column('gender', ColumnTable::TYPE_DICTIONARY, 1);
    $t->column('birth_date', ColumnTable::TYPE_INT64);
    $t->column('weight', ColumnTable::TYPE_FLOAT);
    $t->create();
    return $t;
}

$rows = [];
for ($i = 1; $i <= 3000; $i++) {
    $rows[] = ['id' => $i, 'email' => "user\"$i\u{e9}\\@example.com", 'gender' => $i % 2 ? 'm' : 'f', 'birth_date' => -$i * 1000, 'weight' => $i / 4];
}
file_put_contents($file, json_encode(['about' => ['users' => 5], 'users' => $rows, 'more' => [1]]));
$t = users();
var_dump(
    $t->loadJson($file, 'users'),
    count($t),
    $t->get(1),
    $t->get(3000, 'birth_date'),
    $t->get(2, 'gender'),
    $t->get(3, 'email') === $rows[2]['email'],
);

echo "-- pretty, the outermost array, other key\n";
file_put_contents($file, json_encode(array_slice($rows, 0, 5), JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE));
$t = users();
var_dump($t->loadJson($file), count($t), $t->get(3, 'email') === $rows[2]['email']);
$named = new Table(10);
$named->column('id', Table::TYPE_UINT8);
$named->column('gender', Table::TYPE_STRING, 1);
$named->column('birth_date', Table::TYPE_INT);
$named->column('weight', Table::TYPE_FLOAT);
$named->create();
var_dump($named->loadJson($file, key: 'email'), $named->get($rows[4]['email']));

echo "-- streams\n";
$memory = fopen('php://memory', 'w+');
fwrite($memory, json_encode(['users' => $rows]));
rewind($memory);
$t = users();
var_dump($t->loadJson($memory, 'users'), count($t), $t->get(2999, 'weight'));

echo "-- progress\n";
$t = users();
rewind($memory);
$calls = [];
var_dump($t->loadJson($memory, 'users', function (int $rows, int $bytes) use (&$calls) {
    $calls[] = [$rows, $bytes];
}));
[$n, $bytes] = end($calls);
var_dump($n, $bytes > 100000, $calls === array_values(array_unique($calls, SORT_REGULAR)));
rewind($memory);
var_dump($t->loadJson($memory, 'users', fn() => false) <= 3000);
rewind($memory);
try {
    $t->loadJson($memory, 'users', fn() => throw new LogicException('enough'));
} catch (LogicException $e) {
    echo $e->getMessage(), "\n";
}

echo "-- errors\n";
$row = ['id' => 1, 'email' => 'a', 'gender' => 'm', 'birth_date' => 1, 'weight' => 1];
$one = json_encode($row);
foreach ([
    ['', 'users'],
    ['', ''],
    ['{"users": [' . $one . ', {"id": 2, "birth_date": ', 'users'],
    ['{"users": [' . $one . ', {"id": 2]}', 'users'],
    ['{"users": [' . $one . ', 5]}', 'users'],
    ['{"users": ' . $one . '}', 'users'],
    ['{"others": []}', 'users'],
    ["[$one]", 'users'],
    ["[$one] x", ''],
    ["$one\n$one\n", ''],
    ['[{"email": "x"}]', ''],
    ['[{"id": 1, "email": "x"}]', ''],
    [json_encode([$row + ['more' => 5]]), ''],
    [json_encode([['id' => 100001] + $row]), ''],
    [json_encode([['id' => 'x'] + $row]), ''],
    [json_encode([['id' => -1] + $row]), ''],
    [json_encode([['birth_date' => 'soon'] + $row]), ''],
    [json_encode([['birth_date' => 1.5] + $row]), ''],
    [json_encode([['birth_date' => null] + $row]), ''],
    [json_encode([['email' => str_repeat('x', 101)] + $row]), ''],
    [json_encode([['email' => ['x']] + $row]), ''],
    [str_replace('"birth_date":1', '"birth_date":99999999999999999999', $one), ''],
] as [$json, $member]) {
    file_put_contents($file, $json);
    try {
        var_dump(users()->loadJson($file, $member));
    } catch (TableException $e) {
        echo $e->getCode(), ' ', str_replace($file, 'FILE', $e->getMessage()), "\n";
    }
}
$closed = fopen('php://memory', 'r');
fclose($closed);
foreach ([5, __DIR__ . '/nothing.json', $closed, null] as $source) {
    try {
        var_dump($t->loadJson($source));
    } catch (TableException $e) {
        echo $e->getCode() === TableException::FILE ? '' : 'wrong code ', str_replace(__DIR__, 'DIR', $e->getMessage()), "\n";
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--CLEAN--
<?php
unlink(__DIR__ . '/table_json.tmp');
?>
--EXPECT--
int(3000)
int(3000)
array(4) {
  ["email"]=>
  string(21) "user"1é\@example.com"
  ["gender"]=>
  string(1) "m"
  ["birth_date"]=>
  int(-1000)
  ["weight"]=>
  float(0.25)
}
int(-3000000)
string(1) "f"
bool(true)
-- pretty, the outermost array, other key
int(5)
int(5)
bool(true)
int(5)
array(4) {
  ["id"]=>
  int(5)
  ["gender"]=>
  string(1) "m"
  ["birth_date"]=>
  int(-5000)
  ["weight"]=>
  float(1.25)
}
-- streams
int(3000)
int(3000)
float(749.75)
-- progress
int(3000)
int(3000)
bool(true)
bool(true)
bool(true)
enough
-- errors
509 FILE: byte 0: an object with the member "users" must come here, not the end
int(0)
509 FILE: byte 72: what starts here has no end
509 FILE: row 2, byte 80: expected `,` or `}`
509 FILE: byte 72: a row must come here, not "5"
509 FILE: byte 10: an array of rows must come here, not "{"
509 FILE: there is no member "users"
509 FILE: byte 0: an object with the member "users" must come here, not "["
509 FILE: byte 62: the end must come here, not "x"
int(2)
509 FILE: row 1, byte 1: it has no member "id", which is its key
509 FILE: row 1, byte 1: it has no member "gender"
509 FILE: row 1, byte 65: the table has no column "more"
509 FILE: row 1, byte 1: the greatest id of this table is 100000, not 100001
509 FILE: row 1, byte 1: its key must be an integer from 0 on
509 FILE: row 1, byte 1: its key must be an integer from 0 on
509 FILE: row 1, byte 1: column "birth_date" holds integers, not a text
509 FILE: row 1, byte 1: column "birth_date" holds integers, not a float
509 FILE: row 1, byte 18: the member "birth_date" is null; a column holds a number or a text
509 FILE: row 1, byte 1: column "email" takes 100 bytes, the text has 101: make the column longer, or shorten the text
509 FILE: row 1, byte 10: the member "email" is an array; a column holds a number or a text
509 FILE: row 1, byte 0: column "birth_date" holds integers, not a float
Apus\ColumnTable::loadJson(): Argument #1 ($source) must be the path of a file, or an open stream, int given
DIR/nothing.json: No such file or directory (os error 2)
Apus\ColumnTable::loadJson(): Argument #1 ($source) must be the path of a file, or an open stream, resource given
Apus\ColumnTable::loadJson(): Argument #1 ($source) must be the path of a file, or an open stream, null given
