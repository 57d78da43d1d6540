--TEST--
A destructor waits as everything else does: that of a local, of what the context of a coroutine holds, and one inside another
--INI--
apus.swoole_compat=1
--FILE--
<?php
use Swoole\Coroutine;

class Waits
{
    public ?self $inner = null;

    public function __construct(private string $name)
    {
    }

    public function __destruct()
    {
        echo "$this->name: destroyed in ", Coroutine::getCid(), "\n";
        usleep(2000);
        $this->inner = null;
        Coroutine::sleep(0.001);
        echo "$this->name: has waited\n";
    }
}

class Quiet
{
    public static int $gone = 0;

    public ?self $inner = null;

    public function __destruct()
    {
        Coroutine::sleep(0.002);
        $this->inner = null;
        usleep(1000);
        self::$gone++;
    }
}

Coroutine\run(function () {
    go(function () {
        $local = new Waits('local');
        $local->inner = new Waits('inner');
        $local = null;
        echo "after the local\n";
    });
    echo "others go on\n";
    Coroutine::sleep(0.02);
    go(function () {
        Coroutine::defer(fn () => print('deferred, with ' . get_debug_type(Coroutine::getContext()['of the context']) . "\n"));
        Coroutine::getContext()['of the context'] = new Waits('of the context');
    });
    echo "others go on\n";
    Coroutine::sleep(0.02);
    // Two that wait at once, each with one inside that does, and a coroutine that is not in a destructor.
    $ended = new Coroutine\Channel(3);
    foreach (['first', 'second'] as $name) {
        go(function () use ($name, $ended) {
            $local = new Quiet();
            $local->inner = new Quiet();
            $local = null;
            $ended->push($name);
        });
    }
    go(function () use ($ended) {
        Coroutine::sleep(0.0005);
        $ended->push('between');
    });
    $all = [$ended->pop(), $ended->pop(), $ended->pop()];
    sort($all);
    echo implode(', ', $all), ': ', Quiet::$gone, " destroyed\n";
    $thrown = go(function () {
        try {
            $local = new Waits('while an exception passes');
            throw new DomainException('thrown');
        } finally {
            unset($local);
        }
    });
});
?>
--EXPECTF--
local: destroyed in 2
others go on
inner: destroyed in 2
inner: has waited
local: has waited
after the local
deferred, with Waits
of the context: destroyed in 3
others go on
of the context: has waited
between, first, second: 4 destroyed
while an exception passes: destroyed in 7
while an exception passes: has waited
%A
Fatal error: Uncaught DomainException: thrown in %a
