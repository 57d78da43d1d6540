--TEST--
Table: loadCsv(): quotes, line ends, named columns, other separators, progress, errors
--FILE--
<?php
use Apus\{ColumnTable, Table, TableException};

$file = __DIR__ . '/table_csv.tmp';

function places(): Table
{
    $t = new Table(20000);
    $t->column('country', Table::TYPE_DICTIONARY, 50);
    $t->column('place', Table::TYPE_STRING, 100);
    $t->column('distance', Table::TYPE_UINT32);
    $t->column('height', Table::TYPE_FLOAT);
    $t->create();
    return $t;
}

file_put_contents($file, "id,country,place,distance,height,\r\na,Chad,\"a \"\"quoted\"\", place\r\non two lines\",5,1.5,x\r\nb,,plain,7,-0,y\nlast,Chile,,0,2e3,z");
$t = places();
var_dump($t->loadCsv($file), count($t), $t->get('a'), $t->get('b'), $t->get('last'));

echo "-- named, separator, key\n";
file_put_contents($file, "7;Peru;1\n8;Peru;2\n");
$t = places();
var_dump($t->loadCsv($file, ['distance', 'country', 'place'], separator: ';', key: 'place'), $t->get('1'), $t->get('2', 'distance'));

echo "-- a stream, many lines, progress\n";
$stream = fopen('php://temp', 'w+');
fputcsv($stream, ['id', 'place', 'distance'], escape: '');
for ($i = 0; $i < 20000; $i++) {
    fputcsv($stream, [$i, "place, number $i", $i * 3], escape: '');
}
rewind($stream);
$t = new ColumnTable(30000);
$t->column('place', ColumnTable::TYPE_STRING, 100);
$t->column('distance', ColumnTable::TYPE_UINT32);
$t->index('distance', 'distance');
$t->create();
$last = null;
var_dump($t->loadCsv($stream, progress: function (int $rows, int $bytes) use (&$last) {
    $last = [$rows, $bytes];
    return true;
}));
var_dump($last === [20000, ftell($stream)], count($t), $t->get(19999), $t->find('distance', 300));

echo "-- errors\n";
foreach ([
    '' => null,
    "country,place\nx,y\n" => null,
    "id,country\na,b\nc\n" => null,
    "id,country\na,b,c\n" => null,
    "id,distance\na,many\n" => null,
    "id,distance\na,1\nb,-1\n" => null,
    "id,place\na,\"open\n" => null,
    "id,place\na,\"x\"y\n" => null,
    "id,place\na,x\"y\n" => null,
    "id,place\n,x\n" => null,
    "id,nothing\na,b\n" => null,
    "id,place,place\na,b,c\n" => null,
    "id,distance\na,\n" => null,
    "id,country\na," . str_repeat('x', 51) . "\n" => null,
    "a,b\n" => ['id'],
    "c,d\n" => ['id', ''],
] as $csv => $columns) {
    file_put_contents($file, $csv);
    try {
        var_dump(places()->loadCsv($file, $columns));
    } catch (TableException $e) {
        echo $e->getCode(), ' ', str_replace($file, 'FILE', $e->getMessage()), "\n";
    }
}
foreach (['', '::', '"'] as $separator) {
    try {
        places()->loadCsv($file, separator: $separator);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--CLEAN--
<?php
unlink(__DIR__ . '/table_csv.tmp');
?>
--EXPECT--
int(3)
int(3)
array(4) {
  ["country"]=>
  string(4) "Chad"
  ["place"]=>
  string(31) "a "quoted", place
on two lines"
  ["distance"]=>
  int(5)
  ["height"]=>
  float(1.5)
}
array(4) {
  ["country"]=>
  string(0) ""
  ["place"]=>
  string(5) "plain"
  ["distance"]=>
  int(7)
  ["height"]=>
  float(-0)
}
array(4) {
  ["country"]=>
  string(5) "Chile"
  ["place"]=>
  string(0) ""
  ["distance"]=>
  int(0)
  ["height"]=>
  float(2000)
}
-- named, separator, key
int(2)
array(4) {
  ["country"]=>
  string(4) "Peru"
  ["place"]=>
  string(1) "1"
  ["distance"]=>
  int(7)
  ["height"]=>
  float(0)
}
int(8)
-- a stream, many lines, progress
int(20000)
bool(true)
int(20000)
array(2) {
  ["place"]=>
  string(19) "place, number 19999"
  ["distance"]=>
  int(59997)
}
array(1) {
  [0]=>
  int(100)
}
-- errors
int(0)
509 FILE: line 1: no field is named "id", which is the key
509 FILE: row 2, line 3: it has 1 fields, 2 are named
509 FILE: row 1, line 2: it has 3 fields, 2 are named
509 FILE: row 1, line 2: "distance" must be an integer (of 64 bits), not "many"
509 FILE: row 2, line 3: column "distance" holds 0 to 4294967295; -1 does not fit
509 FILE: line 2: a quote is not closed
509 FILE: line 2: something follows a closing quote
509 FILE: line 2: a quote stands in a field that does not begin with one
509 FILE: row 1, line 2: a key must not be empty
509 FILE: line 1: the table has no column "nothing"
509 FILE: line 1: "place" is there twice
509 FILE: row 1, line 2: "distance" must be an integer (of 64 bits), not ""
509 FILE: row 1, line 2: column "country" takes 50 bytes, the text has 51: make the column longer, or shorten the text
509 FILE: row 1, line 1: it has 2 fields, 1 are named
int(1)
Apus\Table::loadCsv(): Argument #4 ($separator) must be one byte, and no quote or line end
Apus\Table::loadCsv(): Argument #4 ($separator) must be one byte, and no quote or line end
Apus\Table::loadCsv(): Argument #4 ($separator) must be one byte, and no quote or line end
