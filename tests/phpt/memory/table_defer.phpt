--TEST--
Table: deferIndexes() and buildIndexes(), with processes that load side by side
--EXTENSIONS--
pcntl
--FILE--
<?php
use Apus\{ColumnTable, TableException};

$t = new ColumnTable(40000);
$t->column('user', ColumnTable::TYPE_UINT16);
$t->column('at', ColumnTable::TYPE_INT32);
$t->index('user', ['user', 'at']);
$t->create();
$t->set(40000, ['user' => 7, 'at' => 1]);
$t->deferIndexes();
foreach (['find' => ['user', 7], 'range' => ['user'], 'countRange' => ['user'], 'select' => ['user']] as $method => $arguments) {
    try {
        $t->$method(...$arguments);
        echo "$method() worked\n";
    } catch (TableException $e) {
        echo $e->getCode() === TableException::STATE ? '' : 'wrong code ', $e->getMessage(), "\n";
    }
}
for ($p = 0; $p < 4; $p++) {
    if (pcntl_fork() === 0) {
        $json = fopen('php://temp', 'w+');
        $rows = [];
        for ($i = $p; $i < 20000; $i += 4) {
            $rows[] = ['id' => $i, 'user' => $i % 100, 'at' => -$i];
        }
        fwrite($json, json_encode(['visits' => $rows]));
        rewind($json);
        exit($t->loadJson($json, 'visits') === 5000 ? 0 : 1);
    }
}
while (pcntl_wait($status) > 0) {
    if ($status !== 0) {
        echo "a process ended with status $status\n";
    }
}
$t->set(40000, ['user' => 8]);
var_dump($t->buildIndexes(), count($t), $t->countRange('user'));
$expected = [];
for ($i = 19907; $i >= 0; $i -= 100) {
    $expected[] = $i;
}
var_dump($t->find('user', 7) === $expected, $t->find('user', 8, 1, 0, true), $t->range('user', [7, -507], [7, -307]));
// From here on writes keep them right.
$t->set(30000, ['user' => 7, 'at' => -400]);
$t->del(407);
var_dump($t->range('user', [7, -507], [7, -307]));
// Without a load before, too, and twice.
$t->buildIndexes();
$t->deferIndexes();
$t->deferIndexes();
$t->buildIndexes();
var_dump($t->range('user', [7, -507], [7, -307]));
?>
--EXPECT--
the indexes of the table are deferred: call buildIndexes() before asking them
the indexes of the table are deferred: call buildIndexes() before asking them
the indexes of the table are deferred: call buildIndexes() before asking them
the indexes of the table are deferred: call buildIndexes() before asking them
NULL
int(20001)
int(20001)
bool(true)
array(1) {
  [0]=>
  int(40000)
}
array(3) {
  [0]=>
  int(507)
  [1]=>
  int(407)
  [2]=>
  int(307)
}
array(3) {
  [0]=>
  int(507)
  [1]=>
  int(30000)
  [2]=>
  int(307)
}
array(3) {
  [0]=>
  int(507)
  [1]=>
  int(30000)
  [2]=>
  int(307)
}
