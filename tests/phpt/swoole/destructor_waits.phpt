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
while an exception passes: destroyed in 4
while an exception passes: has waited
%A
Fatal error: Uncaught DomainException: thrown in %a
