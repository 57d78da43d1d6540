--TEST--
Table: insert, update, getdel, cmpset, clear, stats
--FILE--
<?php
use Apus\Table;

$t = new Table(10);
$t->column('n', Table::TYPE_INT);
$t->column('s', Table::TYPE_STRING, 100);
$t->column('f', Table::TYPE_FLOAT);
$t->create();

var_dump($t->update('a', ['n' => 1]), $t->insert('a', ['n' => 1, 's' => 'one']), $t->insert('a', ['n' => 2]), $t->get('a'));
var_dump($t->update('a', ['s' => 'a longer text than seven bytes']), $t->get('a'));

var_dump($t->cmpset('a', 'n', 2, 3), $t->cmpset('a', 'n', 1, 3), $t->get('a', 'n'));
var_dump($t->cmpset('a', 's', 'one', 'two'), $t->cmpset('a', 's', 'a longer text than seven bytes', ''), $t->get('a', 's'));
var_dump($t->cmpset('a', 'f', 0, 2.5), $t->cmpset('a', 'f', 2.5, -1), $t->get('a', 'f'));
var_dump($t->cmpset("nobody", "n", 0, 1), count($t));

var_dump($t->getdel('a'), $t->getdel('a'), count($t));

for ($i = 0; $i < 10; $i++) {
    $t->set("k$i", ['n' => $i]);
}
$stats = $t->stats();
var_dump($stats['num'], $stats['insert_count'], $stats['update_count'] >= 4, $stats['delete_count'], $stats['available_slice_num'], $stats['total_slice_num']);
var_dump($stats['memory_used'] > 0, $stats['memory_used'] <= $stats['memory_reserved'], array_keys($stats));
var_dump($t->clear(), count($t), $t->insert('k1', ['n' => 11]), $t->get('k1', 'n'));
?>
--EXPECT--
bool(false)
bool(true)
bool(false)
array(3) {
  ["n"]=>
  int(1)
  ["s"]=>
  string(3) "one"
  ["f"]=>
  float(0)
}
bool(true)
array(3) {
  ["n"]=>
  int(1)
  ["s"]=>
  string(30) "a longer text than seven bytes"
  ["f"]=>
  float(0)
}
bool(false)
bool(true)
int(3)
bool(false)
bool(true)
string(0) ""
bool(true)
bool(true)
float(-1)
bool(false)
int(1)
array(3) {
  ["n"]=>
  int(3)
  ["s"]=>
  string(0) ""
  ["f"]=>
  float(-1)
}
bool(false)
int(0)
int(10)
int(11)
bool(true)
int(1)
int(0)
int(10)
bool(true)
bool(true)
array(10) {
  [0]=>
  string(3) "num"
  [1]=>
  string(14) "conflict_count"
  [2]=>
  string(18) "conflict_max_level"
  [3]=>
  string(12) "insert_count"
  [4]=>
  string(12) "update_count"
  [5]=>
  string(12) "delete_count"
  [6]=>
  string(19) "available_slice_num"
  [7]=>
  string(15) "total_slice_num"
  [8]=>
  string(15) "memory_reserved"
  [9]=>
  string(11) "memory_used"
}
NULL
int(0)
bool(true)
int(11)
