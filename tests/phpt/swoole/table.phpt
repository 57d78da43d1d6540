--TEST--
Swoole\Table converts and cuts, has room to spare, and gives false
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Table;

$table = new Table(table_size: 5);
var_dump($table->getSize(), $table->size);
var_dump(
    $table->column('id', Table::TYPE_INT, 4),
    $table->column('name', Table::TYPE_STRING, 5),
    $table->column('ratio', Table::TYPE_FLOAT),
);
var_dump(
    $table->column('name', Table::TYPE_STRING, 5),
    $table->column('none', Table::TYPE_STRING),
    $table->create(),
    $table->column('late', Table::TYPE_INT),
);

echo "-- values are converted and cut, unknown columns passed over\n";
var_dump($table->set('a', ['id' => 'abc', 'name' => 1024, 'ratio' => '3.25', 'unknown' => 1, 'and']));
var_dump($table->get('a'), $table->set('a', ['id' => PHP_INT_MAX, 'name' => 'too long']), $table->get('a', 'name'));
var_dump($table->get('a', 'id') === PHP_INT_MAX, $table->get('none'), $table->get('a', 'unknown'));
var_dump(
    $table->incr('a', 'unknown'),
    $table->incr('a', 'name'),
    $table->set('', ['id' => 1]),
    $table->incr('n', 'id', 3),
    $table->decr('n', 'id'),
);

echo "-- one step: add, cmpset, cmpdel, getdel\n";
var_dump($table->add('a', ['id' => 1]), $table->add('b', ['id' => 1, 'name' => 'b', 'ratio' => 1.5]));
var_dump(
    $table->cmpset('b', ['id' => 2], ['id' => 3]),
    $table->cmpset('b', ['id' => 1, 'name' => 'b'], ['id' => 3, 'name' => 'c']),
    $table->get('b', 'name'),
);
var_dump(
    $table->cmpset('b', [], ['id' => 3]),
    $table->cmpset('b', ['no' => 1], ['id' => 3]),
    $table->cmpset('none', ['id' => 1], ['id' => 3]),
);
var_dump($table->cmpdel('b', ['id' => 3, 'ratio' => 2.5]), $table->cmpdel('b', ['id' => 3, 'ratio' => 1.5]), $table->exists('b'));
var_dump($table->getdel('n', 'id'), $table->exists('n'), $table->getdel('n'), count($table));

class Extended extends Table
{
    public function set(string $key, array $value): bool
    {
        return parent::set("x.$key", $value);
    }
}
$extended = new Extended(1024);
$extended->column('id', Table::TYPE_INT);
$extended->create();
var_dump($extended->set('k', ['id' => 5]), iterator_to_array($extended));
try {
    new Table(-1);
} catch (Swoole\Exception $e) {
    echo get_class($e), ': ', $e->getMessage(), "\n";
}
?>
--EXPECTF--
int(64)
NULL
bool(true)
bool(true)
bool(true)
[%s]	WARNING	Table::add_column(): column[name] already exists

Warning: Swoole\Table::column(): Argument #3 ($size) must be the bytes of the longest text, 1 to 67108863, for this type; 0 given in %s on line %d

Warning: Swoole\Table::column(): unable to add column after table has been created in %s on line %d
bool(false)
bool(false)
bool(true)
bool(false)
-- values are converted and cut, unknown columns passed over
bool(true)
[%s]	WARNING	table_marshal_values(): [key=a,field=name]string value is too long
array(3) {
  ["id"]=>
  int(0)
  ["name"]=>
  string(4) "1024"
  ["ratio"]=>
  float(3.25)
}
bool(true)
string(5) "too l"
bool(true)
bool(false)
bool(false)

Warning: Swoole\Table::incr(): column[unknown] does not exist in %s on line %d

Warning: Swoole\Table::incr(): can't execute 'incr' on a string type column in %s on line %d

Warning: Swoole\Table::set(): key must not be empty in %s on line %d
bool(false)
bool(false)
bool(false)
int(3)
int(2)
-- one step: add, cmpset, cmpdel, getdel
bool(false)
bool(true)
bool(false)
bool(true)
string(1) "c"

Warning: Swoole\Table::cmpset(): expected values must not be empty in %s on line %d

Warning: Swoole\Table::cmpset(): column[no] does not exist in %s on line %d
bool(false)
bool(false)
bool(false)
bool(false)
bool(true)
bool(false)
int(2)
bool(false)
bool(false)
int(1)
bool(true)
array(1) {
  ["x.k"]=>
  array(1) {
    ["id"]=>
    int(5)
  }
}
Swoole\Exception: Swoole\Table::__construct(): Argument #1 ($table_size) must be 1 to 1073741824 rows, -1 given
