--TEST--
Swoole\Table: a table that is destroyed while a value is converted, or by a handler of warnings
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
        var_dump($this->table->destroy());
        return 'text';
    }
}

function table(): Swoole\Table
{
    $table = new Swoole\Table(8);
    $table->column('name', Swoole\Table::TYPE_STRING, 4);
    $table->create();
    return $table;
}

$try = function (Closure $call): void {
    try {
        var_dump(@$call(table()));
    } catch (Throwable $thrown) {
        echo get_class($thrown), "\n";
    }
};
$try(fn ($table) => $table->set('k', ['name' => new Destroys($table)]));
$try(fn ($table) => $table->add('k', ['name' => new Destroys($table)]));
$try(fn ($table) => $table->cmpset('k', ['name' => new Destroys($table)], ['name' => 'x']));
$try(fn ($table) => $table->cmpdel('k', ['name' => new Destroys($table)]));
$try(function ($table) {
    set_error_handler(fn () => $table->destroy());
    try {
        return $table->set('k', ['name' => 'longer than it can be']);
    } finally {
        restore_error_handler();
    }
});
?>
--EXPECT--
bool(true)
Error
bool(true)
Error
bool(true)
bool(false)
bool(true)
bool(false)
Error
