--TEST--
Table: columns, set, get, del, exists, incr, decr, count, sizes; a subclass with its own signatures
--FILE--
<?php
use Apus\Table;

$t = new Table(100);
var_dump($t->size, $t->memorySize, count($t), $t->getSize(), $t->getMemorySize());
var_dump($t->column('id', Table::TYPE_INT), $t->column('f', Table::TYPE_FLOAT), $t->column('s', Table::TYPE_STRING, 8));
var_dump($t->create());
var_dump($t->size, $t->memorySize >= 0, $t->getSize(), $t->getMemorySize() >= 0);

var_dump($t->get('a'), $t->get('a', 'id'), $t->exists('a'), $t->del('a'));
var_dump($t->set('a', ['id' => 1, 'f' => 1.5, 's' => 'text']));
var_dump($t->get('a'), $t->get('a', 'id'), $t->get('a', 'f'), $t->get('a', 's'), $t->get('a', null));
var_dump($t->set('a', ['s' => 'longer 8']), $t->get('a'));
var_dump($t->set('b', []), $t->get('b'));
var_dump($t->exist('a'), $t->exists('b'), count($t), $t->count());

var_dump($t->incr('a', 'id'), $t->incr('a', 'id', 41), $t->incr('a', 'f', 1.25), $t->incr('a', 'f', 2));
var_dump($t->decr('a', 'id'), $t->decr('a', 'id', -8), $t->decr('a', 'f', 0.5));
var_dump($t->incr('new', 'id', 5), $t->decr('newer', 'f'), $t->get('newer'), count($t));

var_dump($t->del('a'), $t->del('a'), $t->delete('b'), $t->get('a'), count($t));
// Keys are bytes.
$t->set("\0\xff", ['id' => 7]);
$t->set('12', ['id' => 12]);
$t->set(str_repeat('k', 1024), ['id' => 1024]);
var_dump(
    $t->get("\0\xff", 'id'),
    $t->get(12, 'id'),
    $t->get(str_repeat('k', 1024), 'id'),
    $t->exists(''),
    $t->exists(str_repeat('k', 5000)),
);
$t->clear();
var_dump(count($t), $t->get('12'));

class Typed extends Table
{
    public array $columns = [];

    public function column(string $name, int $type, int $size = 0): bool
    {
        $this->columns[$name] = [$type, $size];
        return parent::column($name, $type, $size);
    }

    public function set(string $key, array $values): bool
    {
        return parent::set($key, array_map('strrev', $values));
    }
}
$typed = new Typed(10, 0.5);
$typed->column('s', Typed::TYPE_STRING, 3);
$typed->create();
$typed->set('k', ['s' => 'abc']);
var_dump($typed->columns, $typed->get('k'), $typed instanceof Countable, $typed instanceof Iterator);
?>
--EXPECT--
NULL
NULL
int(0)
int(100)
int(0)
bool(true)
bool(true)
bool(true)
bool(true)
int(100)
bool(true)
int(100)
bool(true)
bool(false)
bool(false)
bool(false)
bool(false)
bool(true)
array(3) {
  ["id"]=>
  int(1)
  ["f"]=>
  float(1.5)
  ["s"]=>
  string(4) "text"
}
int(1)
float(1.5)
string(4) "text"
array(3) {
  ["id"]=>
  int(1)
  ["f"]=>
  float(1.5)
  ["s"]=>
  string(4) "text"
}
bool(true)
array(3) {
  ["id"]=>
  int(1)
  ["f"]=>
  float(1.5)
  ["s"]=>
  string(8) "longer 8"
}
bool(true)
array(3) {
  ["id"]=>
  int(0)
  ["f"]=>
  float(0)
  ["s"]=>
  string(0) ""
}
bool(true)
bool(true)
int(2)
int(2)
int(2)
int(43)
float(2.75)
float(4.75)
int(42)
int(50)
float(4.25)
int(5)
float(-1)
array(3) {
  ["id"]=>
  int(0)
  ["f"]=>
  float(-1)
  ["s"]=>
  string(0) ""
}
int(4)
bool(true)
bool(false)
bool(true)
bool(false)
int(2)
int(7)
int(12)
int(1024)
bool(false)
bool(false)
int(0)
bool(false)
array(1) {
  ["s"]=>
  array(2) {
    [0]=>
    int(3)
    [1]=>
    int(3)
  }
}
array(1) {
  ["s"]=>
  string(3) "cba"
}
bool(true)
bool(true)
