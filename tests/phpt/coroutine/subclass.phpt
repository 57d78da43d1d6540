--TEST--
Coroutine, Scheduler, Context and the exceptions can be extended
--FILE--
<?php
use Apus\Coroutine;

class Co extends Coroutine { static function nap(): bool { return static::sleep(0.001); } }
class Sched extends Coroutine\Scheduler {
    public function __construct(private string $name) { parent::__construct(); }
    public function add(callable $callback, mixed ...$args): void { echo "$this->name adds\n"; parent::add($callback, ...$args); }
}
class Broken extends Coroutine\Scheduler { public function __construct() {} }
class Mine extends Coroutine\CanceledException {}

$s = new Sched("mine");
$s->add(function ($x) { var_dump(Co::nap(), $x, Co::getCid()); }, "arg");
var_dump($s->start());
try {
    (new Broken)->start();
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
try {
    $s->__construct("again");
} catch (Error $e) {
    echo $e->getMessage(), "\n";
}
foreach ([fn() => clone $s, fn() => serialize($s)] as $f) {
    try {
        $f();
        echo "done\n";
    } catch (Throwable $e) {
        echo get_class($e), ": ", $e->getMessage(), "\n";
    }
}
try {
    throw new Mine("m", 3);
} catch (Apus\Exception $e) {
    echo get_class($e), $e->getMessage(), $e->getCode(), "\n";
}
?>
--EXPECT--
mine adds
bool(true)
string(3) "arg"
int(1)
bool(true)
Apus\Coroutine\Scheduler was not constructed: call parent::__construct() first
Apus\Coroutine\Scheduler is already constructed
Error: Trying to clone an uncloneable object of class Sched
Exception: Serialization of 'Sched' is not allowed
Minem3
