--TEST--
Table: descriptions, states, keys, columns and the limit of rows, each with its exception
--FILE--
<?php
use Apus\{ColumnTable, Table, TableException};

function attempt(callable $try): void
{
    static $codes;
    $codes ??= array_flip((new ReflectionClass(TableException::class))->getConstants());
    try {
        var_dump($try());
    } catch (TableException $e) {
        echo $codes[$e->getCode()], ': ', $e->getMessage(), "\n";
    } catch (Error $e) {
        echo get_class($e), ': ', $e->getMessage(), "\n";
    }
}

echo "-- descriptions\n";
attempt(fn() => new Table(0));
attempt(fn() => new Table(-5));
attempt(fn() => new Table(1 << 40));
attempt(fn() => new Table(10, -1));
attempt(fn() => new Table(10, NAN));
attempt(fn() => new Table);
attempt(fn() => new ColumnTable(-1));
attempt(fn() => new ColumnTable(4294967295));
$t = new Table(5);
attempt(fn() => $t->column('', Table::TYPE_INT));
attempt(fn() => $t->column('12', Table::TYPE_INT));
attempt(fn() => $t->column(str_repeat('n', 65), Table::TYPE_INT));
attempt(fn() => $t->column('x', 9));
attempt(fn() => $t->column('s', Table::TYPE_STRING));
attempt(fn() => $t->column('s', Table::TYPE_STRING, 1 << 26));
attempt(fn() => $t->column('s', Table::TYPE_DICTIONARY, -1));
attempt(fn() => $t->create());
attempt(fn() => $t->column('n', Table::TYPE_INT));
attempt(fn() => $t->column('n', Table::TYPE_INT));
attempt(fn() => $t->column('s', Table::TYPE_STRING, 20));
attempt(fn() => $t->index('i', 'nothing'));
attempt(fn() => $t->index('i', []));
attempt(fn() => $t->index('i', ['n', 's', 'n']));
attempt(fn() => $t->index('i', ['n', 'n']));
attempt(fn() => $t->index('i', [5]));
attempt(fn() => $t->index('', 'n'));
attempt(fn() => $t->index('i', 'n'));
attempt(fn() => $t->index('i', 's'));

echo "-- before create()\n";
foreach (['set' => ['k', []], 'insert' => ['k', []], 'update' => ['k', []], 'get' => ['k'], 'getdel' => ['k'], 'del' => ['k'], 'exists' => ['k'],
    'incr' => ['k', 'n'], 'cmpset' => ['k', 'n', 1, 2], 'clear' => [], 'stats' => [], 'find' => ['i', 1], 'range' => ['i'], 'countRange' => ['i'],
    'fetch' => [[]], 'select' => ['i'], 'rewind' => [], 'next' => [], 'save' => ['x'], 'restore' => ['x'], 'loadJson' => ['x'], 'loadCsv' => ['x'],
    'deferIndexes' => [], 'buildIndexes' => [], 'destroy' => []] as $method => $arguments) {
    try {
        $t->$method(...$arguments);
        echo "$method: no exception\n";
    } catch (TableException $e) {
        if ($e->getCode() !== TableException::STATE) {
            echo "$method: ", $e->getMessage(), "\n";
        }
    }
}
attempt(fn() => $t->get('k'));
var_dump(count($t), $t->valid(), $t->key(), $t->current());

echo "-- after create()\n";
attempt(fn() => $t->create());
attempt(fn() => $t->create());
attempt(fn() => $t->column('late', Table::TYPE_INT));
attempt(fn() => $t->index('late', 'n'));

echo "-- keys and columns\n";
attempt(fn() => $t->set('', ['n' => 1]));
attempt(fn() => $t->incr('', 'n'));
attempt(fn() => $t->set(str_repeat('k', 1025), ['n' => 1]));
attempt(fn() => $t->set('k', ['nothing' => 1]));
attempt(fn() => $t->set('k', ['n' => 1, 3 => 1]));
attempt(fn() => $t->exists('k'));
attempt(fn() => $t->get('k', 'nothing'));
attempt(fn() => $t->incr('k', 'nothing'));
attempt(fn() => $t->cmpset('k', 'nothing', 1, 2));
attempt(fn() => $t->find('nothing', 1));
attempt(fn() => $t->set('k'));
attempt(fn() => $t->set('k', null));
attempt(fn() => $t->set([], []));

echo "-- full\n";
for ($i = 0; $i < 5; $i++) {
    $t->set("k$i", ['n' => $i]);
}
attempt(fn() => $t->set('one more', ['n' => 1]));
attempt(fn() => $t->insert('one more', ['n' => 1]));
attempt(fn() => $t->incr('one more', 'n'));
attempt(fn() => $t->set('k3', ['n' => 33]));
attempt(fn() => $t->del('k0') && $t->set('one more', ['n' => 1]));
attempt(fn() => count($t));

echo "-- ids\n";
$c = new ColumnTable(9);
$c->column('n', ColumnTable::TYPE_UINT8);
$c->create();
attempt(fn() => $c->set(-1, ['n' => 1]));
attempt(fn() => $c->set(10, ['n' => 1]));
attempt(fn() => $c->incr(10, 'n'));
attempt(fn() => $c->set(9, ['n' => 1]));
attempt(fn() => $c->set(0, ['n' => 2]));
attempt(fn() => [$c->get(-1), $c->get(10), $c->exists(PHP_INT_MIN), $c->del(PHP_INT_MAX), count($c)]);
attempt(fn() => $c->set('x', ['n' => 1]));

echo "-- after destroy()\n";
attempt(fn() => $t->destroy());
attempt(fn() => $t->get('k1'));
attempt(fn() => $t->destroy());
attempt(fn() => $t->create());
attempt(fn() => [count($t), $t->valid()]);
attempt(fn() => clone $c);
try {
    serialize($c);
} catch (Exception $e) {
    echo $e->getMessage(), "\n";
}
class Forgets extends Table
{
    public function __construct()
    {
    }
}
attempt(fn() => (new Forgets)->get('k'));
attempt(fn() => $c->__construct(5));
?>
--EXPECT--
-- descriptions
ValueError: Apus\Table::__construct(): Argument #1 ($table_size) must be 1 to 1073741824 rows, 0 given
ValueError: Apus\Table::__construct(): Argument #1 ($table_size) must be 1 to 1073741824 rows, -5 given
ValueError: Apus\Table::__construct(): Argument #1 ($table_size) must be 1 to 1073741824 rows, 1099511627776 given
ValueError: Apus\Table::__construct(): Argument #2 ($conflict_proportion) must be 0 or more, -1.0 given
ValueError: Apus\Table::__construct(): Argument #2 ($conflict_proportion) must be 0 or more, NaN given
ArgumentCountError: Apus\Table::__construct() expects at least 1 argument, 0 given
ValueError: Apus\ColumnTable::__construct(): Argument #1 ($maxId) must be 0 to 4294967294, -1 given
ValueError: Apus\ColumnTable::__construct(): Argument #1 ($maxId) must be 0 to 4294967294, 4294967295 given
COLUMN: "" cannot name a column: use a word
COLUMN: "12" cannot name a column: use a word
COLUMN: column "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn": a name has 1 to 64 bytes, not 65
ValueError: Apus\Table::column(): Argument #2 ($type) must be one of the TYPE_ constants of the class, 9 given
ValueError: Apus\Table::column(): Argument #3 ($size) must be the bytes of the longest text, 1 to 67108863, for this type; 0 given
ValueError: Apus\Table::column(): Argument #3 ($size) must be the bytes of the longest text, 1 to 67108863, for this type; 67108864 given
ValueError: Apus\Table::column(): Argument #3 ($size) must be the bytes of the longest text, 1 to 67108863, for this type; -1 given
COLUMN: a table has 1 to 128 columns, not 0
bool(true)
COLUMN: the table has a column "n" already
bool(true)
COLUMN: index "i": there is no column "nothing"; describe columns before indexes
COLUMN: index "i" has 0 columns; 1 or 2 are possible
COLUMN: index "i" has 3 columns; 1 or 2 are possible
COLUMN: index "i" names a column twice
TypeError: Apus\Table::index(): Argument #2 ($columns) must hold names only: a string, or an array of strings
COLUMN: index "": a name has 1 to 64 bytes, not 0
bool(true)
COLUMN: index "i": there is one of that name already
-- before create()
STATE: the table does not exist: call create() first, after the columns are described
int(0)
bool(false)
NULL
NULL
-- after create()
bool(true)
STATE: create() was called after create(): a table keeps what it was made with
STATE: column() was called after create(): a table keeps what it was made with
STATE: index() was called after create(): a table keeps what it was made with
-- keys and columns
KEY: a key must not be empty
KEY: a key must not be empty
KEY: a key has at most 1024 bytes, this one has 1025
COLUMN: the table has no column "nothing"; it has: n, s
COLUMN: the table has no column 3; it has: n, s
bool(false)
COLUMN: the table has no column "nothing"; it has: n, s
COLUMN: the table has no column "nothing"; it has: n, s
COLUMN: the table has no column "nothing"; it has: n, s
COLUMN: the table has no index "nothing"; it has: i
ArgumentCountError: Apus\Table::set() expects exactly 2 arguments, 1 given
TypeError: Apus\Table::set(): Argument #2 ($value) must be of type array, null given
TypeError: Apus\Table::set(): Argument #1 ($key) must be of type string, array given
-- full
FULL: the table is full: it was made for 5 rows; remove some, or make it for more
FULL: the table is full: it was made for 5 rows; remove some, or make it for more
FULL: the table is full: it was made for 5 rows; remove some, or make it for more
bool(true)
bool(true)
int(5)
-- ids
KEY: ids of this table go from 0 to 9; -1 is none
KEY: ids of this table go from 0 to 9; 10 is none
KEY: ids of this table go from 0 to 9; 10 is none
bool(true)
bool(true)
array(5) {
  [0]=>
  bool(false)
  [1]=>
  bool(false)
  [2]=>
  bool(false)
  [3]=>
  bool(false)
  [4]=>
  int(2)
}
TypeError: Apus\ColumnTable::set(): Argument #1 ($key) must be of type int, string given
-- after destroy()
bool(true)
STATE: the table does not exist: destroy() was called
STATE: the table does not exist: destroy() was called
STATE: create() was called after destroy(): make another object
array(2) {
  [0]=>
  int(0)
  [1]=>
  bool(false)
}
Error: Trying to clone an uncloneable object of class Apus\ColumnTable
Serialization of 'Apus\ColumnTable' is not allowed
Error: Apus\Table was not constructed: call parent::__construct() first
Error: Apus\Table is already constructed
