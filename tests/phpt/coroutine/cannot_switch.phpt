--TEST--
Where PHP cannot switch a wait is refused, in a destructor there too, and resume() is left to the loop
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use Apus\Coroutine;
use function Apus\go;
use function Apus\Coroutine\run;

function attempt(string $where): void
{
    try {
        Coroutine::sleep(0.001);
        echo "$where: it has waited\n";
    } catch (Coroutine\Exception $e) {
        echo "$where: ", $e->getCode() === Coroutine\Exception::CANNOT_SWITCH ? $e->getMessage() : $e, "\n";
    }
}

class Waits
{
    public function __construct(private string $where)
    {
    }

    public function __destruct()
    {
        attempt("a destructor in $this->where");
    }
}

run(function () {
    $sleeper = go(function () {
        Coroutine::yield();
        echo "resumed\n";
    });
    pcntl_signal(SIGUSR1, function () use ($sleeper) {
        attempt('the handler of a signal');
        $object = new Waits('the handler');
        unset($object);
        var_dump(Coroutine::resume($sleeper), Coroutine::exists($sleeper));
    });
    posix_kill(getmypid(), SIGUSR1);
    pcntl_signal_dispatch();
    Coroutine::join([$sleeper]);
    $object = new Waits('a coroutine');
    unset($object);
});
?>
--EXPECT--
the handler of a signal: Coroutine::sleep() would wait where PHP cannot be suspended: in a handler of pcntl_signal(), a tick function, or at shutdown
a destructor in the handler: Coroutine::sleep() would wait where PHP cannot be suspended: in a handler of pcntl_signal(), a tick function, or at shutdown
bool(true)
bool(true)
resumed
a destructor in a coroutine: it has waited
