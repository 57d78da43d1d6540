--TEST--
Swoole\Table: a table is not destroyed while a value of it is converted
--INI--
apus.swoole_compat=1
--FILE--
<?php
class Destroys
{
    public function __construct(private Swoole\Table $table)
    {
    }

    public function __toString(): string
    {
        $this->table->destroy();
        return 'text';
    }
}

function table(): Swoole\Table
{
    $table = new Swoole\Table(8);
    $table->column('name', Swoole\Table::TYPE_STRING, 4);
    $table->column('number', Swoole\Table::TYPE_INT);
    $table->column('ratio', Swoole\Table::TYPE_FLOAT);
    $table->create();
    return $table;
}

$try = function (Closure $call): void {
    try {
        var_dump(@$call(table()));
    } catch (Throwable $thrown) {
        echo get_class($thrown), ': ', $thrown->getMessage(), "\n";
    }
};
$try(fn ($table) => $table->set('k', ['name' => new Destroys($table)]));
$try(fn ($table) => $table->add('k', ['name' => new Destroys($table)]));
$try(fn ($table) => $table->cmpset('k', ['name' => new Destroys($table)], ['name' => 'x']));
$try(fn ($table) => $table->cmpdel('k', ['name' => new Destroys($table)]));
$try(fn ($table) => $table->incr('k', 'number', new class () {}));
$try(function ($table) {
    set_error_handler(fn () => $table->destroy());
    try {
        return $table->incr('k', 'number', new class () {});
    } finally {
        restore_error_handler();
    }
});
$try(function ($table) {
    set_error_handler(fn () => $table->destroy());
    try {
        return [$table->count(8.5), $table->stats()];
    } finally {
        restore_error_handler();
    }
});

echo "-- floats are compared by their bits, and what is too long is no value of a row\n";
$table = table();
var_dump($table->set('f', ['ratio' => NAN, 'name' => 'text']));
var_dump($table->cmpset('f', ['ratio' => NAN], ['ratio' => 0.0]));
var_dump($table->cmpset('f', ['ratio' => -0.0], ['ratio' => 1]));
var_dump($table->cmpset('f', ['name' => 'texts'], ['ratio' => 1]));
var_dump($table->cmpset('f', ['ratio' => 0.0], ['ratio' => 2.5]), $table->get('f'));

echo "-- keys\n";
$long = str_repeat('k', 64);
var_dump($table->set($long, ['name' => 'x']), $table->get($long));
var_dump($table->exists(''), $table->del(''), $table->getdel(''));
var_dump($table->set(substr($long, 1), ['name' => 'x']), $table->count(COUNT_RECURSIVE));
?>
--EXPECTF--
Error: Cannot destroy Swoole\Table during value conversion
Error: Cannot destroy Swoole\Table during value conversion
Error: Cannot destroy Swoole\Table during value conversion
Error: Cannot destroy Swoole\Table during value conversion
int(1)
Error: Cannot destroy Swoole\Table during value conversion
array(2) {
  [0]=>
  int(0)
  [1]=>
  bool(false)
}
-- floats are compared by their bits, and what is too long is no value of a row
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
array(3) {
  ["name"]=>
  string(4) "text"
  ["number"]=>
  int(0)
  ["ratio"]=>
  float(2.5)
}
-- keys

Warning: Swoole\Table::set(): key length exceeds the limit of 63 bytes in %s on line %d

Warning: Swoole\Table::get(): key length exceeds the limit of 63 bytes in %s on line %d
bool(false)
bool(false)

Warning: Swoole\Table::exists(): key must not be empty in %s on line %d

Warning: Swoole\Table::del(): key must not be empty in %s on line %d

Warning: Swoole\Table::getdel(): key must not be empty in %s on line %d
bool(false)
bool(false)
bool(false)
bool(true)
int(2)
