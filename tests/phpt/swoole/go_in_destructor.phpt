--TEST--
Under the names of Swoole a coroutine that a destructor begins runs at once
--INI--
apus.swoole_compat=1
--FILE--
<?php
class Begins
{
    public function __construct(private string $name, public ?self $other = null)
    {
    }

    public function __destruct()
    {
        echo "$this->name: destructor\n";
        go(function () {
            echo "$this->name: begins\n";
            Co::sleep(0.001);
            echo "$this->name: ends\n";
        });
        echo "$this->name: destroyed\n";
    }
}

$object = new Begins('counted');
unset($object);
echo "after\n";
Swoole\Event::wait();

// The collector calls the destructors of a cycle.
$object = new Begins('collected');
$object->other = $object;
unset($object);
gc_collect_cycles();
echo "after\n";
Swoole\Event::wait();

Swoole\Coroutine\run(function () {
    $object = new Begins('nested');
    unset($object);
    echo "after\n";
});
?>
--EXPECT--
counted: destructor
counted: begins
counted: destroyed
after
counted: ends
collected: destructor
collected: begins
collected: destroyed
after
collected: ends
nested: destructor
nested: begins
nested: destroyed
after
nested: ends
