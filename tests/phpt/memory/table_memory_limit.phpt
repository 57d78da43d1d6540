--TEST--
Table: a query that passes PHP's memory limit ends as any other code does, and the table goes on
--INI--
memory_limit=24M
--FILE--
<?php
use Apus\{ColumnTable, Table};

$t = new ColumnTable(60000);
$t->column('n', ColumnTable::TYPE_INT);
$t->column('s', ColumnTable::TYPE_STRING, 400);
$t->index('n', 'n');
$t->create();
for ($i = 0; $i < 60000; $i++) {
    $t->set($i, ['n' => $i, 's' => str_repeat('x', 300)]);
}
// More than the limit, in memory that PHP does not count.
var_dump(count($t), memory_get_peak_usage() < 8 << 20);
register_shutdown_function(function () use ($t) {
    ini_set('memory_limit', '-1');
    $t->set(5, ['n' => -5]);
    var_dump(count($t), $t->find('n', -5), strlen($t->get(59999, 's')));
});
$t->select('n');
echo "not reached\n";
?>
--EXPECTF--
int(60000)
bool(true)

Fatal error: Allowed memory size of 25165824 bytes exhausted%S (tried to allocate %d bytes) in %s on line %d
int(60000)
array(1) {
  [0]=>
  int(5)
}
int(300)
